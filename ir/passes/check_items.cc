#include "ir/passes/check_items.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_row.h"
#include "ir/passes/graph_edit.h"
#include "symbolic/evaluate.h"
#include "symbolic/shape_env.h"

namespace lathe {
namespace {

class CheckItems {
 public:
  CheckItems(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes)
      : graph_(graph), registry_(registry), shapes_(shapes) {}

  absl::StatusOr<bool> Run() {
    for (const Value* input : graph_.inputs()) Bind(input->type);
    bool changed = false;
    for (Node *node = graph_.first(), *next; node != nullptr; node = next) {
      next = node->next;
      LATHE_ASSIGN_OR_RETURN(const bool checked, CheckNode(node));
      changed |= checked;
      for (const Value* result : node->results) Bind(result->type);
      LATHE_RETURN_IF_ERROR(AssertWhatIsKnown(next));
    }
    return changed;
  }

 private:
  struct Statement {
    Expr condition;
    std::string message;
    Origin origin;
  };

  void Bind(const ValueType& type) {
    if (type.is_scalar() && type.scalar().value.is_symbol()) bound_.insert(type.scalar().value);
    if (!type.is_tensor()) return;
    for (const Expr& size : type.tensor().sizes) {
      if (size.is_symbol()) bound_.insert(size);
    }
  }

  // A symbol that nothing above shows is what the node reads.
  bool IsNew(const Expr& e) const {
    return e.is_symbol() && e.symbol_kind() == symbolic::SymbolKind::kUnbacked &&
           !bound_.contains(e);
  }

  absl::StatusOr<bool> CheckNode(Node* node) {
    if (node->row == nullptr || node->row->infer == nullptr || node->results.size() != 1 ||
        !node->results[0]->type.is_scalar() || node->arguments.empty() ||
        !node->arguments[0].is_value() || !node->arguments[0].value()->type.is_tensor()) {
      return false;
    }
    Value* item = node->results[0];
    const Expr stated = item->type.scalar().value;
    if (IsNew(stated)) return false;
    const std::string name = absl::StrCat("%", item->name);
    const OpArgs args(node->row->parsed, node->arguments);
    LATHE_ASSIGN_OR_RETURN(const std::vector<ValueType> types,
                           node->row->infer({args, shapes_, {name, node->origin.source}}));
    if (types.size() != 1 || !types[0].is_scalar()) return false;
    const Expr read = types[0].scalar().value;
    if (!IsNew(read)) return false;  // a size of the tensor, not what it holds
    item->type = types[0];
    statements_.push_back(
        {Eq(read, stated),
         absl::StrCat("the number ", name, " must be ", symbolic::ToString(stated)), node->origin});
    return true;
  }

  // A statement may mention numbers that are read later: it waits for them.
  absl::Status AssertWhatIsKnown(Node* before) {
    std::vector<Statement> waiting;
    for (Statement& statement : statements_) {
      if (!IsKnown(statement.condition)) {
        waiting.push_back(std::move(statement));
        continue;
      }
      Node* assertion = graph_.Insert(
          before, "aten._assert_scalar",
          {Argument::Int(statement.condition), Argument::String(std::move(statement.message))}, {});
      assertion->origin = std::move(statement.origin);
      LATHE_RETURN_IF_ERROR(ResolveNode(assertion, registry_));
    }
    statements_ = std::move(waiting);
    return absl::OkStatus();
  }

  bool IsKnown(const Expr& e) const {
    const std::vector<Expr> symbols = symbolic::FreeSymbols(e);
    return std::none_of(symbols.begin(), symbols.end(), [&](const Expr& s) { return IsNew(s); });
  }

  Graph& graph_;
  const OpRegistry& registry_;
  ShapeEnv& shapes_;
  absl::flat_hash_set<Expr> bound_;
  std::vector<Statement> statements_;
};

absl::StatusOr<bool> Run(Program& program, const OpRegistry& registry) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    LATHE_ASSIGN_OR_RETURN(const bool checked, CheckItems(*graph, registry, *program.shapes).Run());
    changed |= checked;
  }
  return changed;
}

}  // namespace

Pass CheckItemsPass() {
  return {"check_items", "asserts what the program states of numbers that it reads", Run};
}

}  // namespace lathe
