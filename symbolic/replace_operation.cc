#include "symbolic/replace_operation.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {

Expr ReplaceOperation(ExprContext* context, const Expr& root, const Expr& from, const Expr& to) {
  absl::flat_hash_map<Expr, Expr> done = {{from, to}};
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || done.contains(e); };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    std::vector<Expr> operands;
    bool changed = false;
    for (const Expr& o : e.operands()) {
      const auto it = done.find(o);
      operands.push_back(it == done.end() ? o : it->second);
      changed |= operands.back() != o;
    }
    done.emplace(e, changed ? context->Make(e.kind(), operands) : e);
  });
  const auto it = done.find(root);
  return it == done.end() ? root : it->second;
}

}  // namespace lathe::symbolic
