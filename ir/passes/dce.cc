#include "ir/passes/dce.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/ops/unused_draw.h"
#include "ir/passes/graph_edit.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Symbols = std::vector<Expr>;

void CollectUnbacked(const Expr& e, Symbols& symbols) {
  if (e.is_const()) return;
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) symbols.push_back(symbol);
  }
}

void CollectUnbacked(const ValueType& type, Symbols& symbols) {
  if (type.is_tensor()) {
    for (const Expr& e : type.tensor().sizes) CollectUnbacked(e, symbols);
    for (const Expr& e : type.tensor().strides) CollectUnbacked(e, symbols);
    CollectUnbacked(type.tensor().offset, symbols);
  } else if (type.is_scalar()) {
    CollectUnbacked(type.scalar().value, symbols);
  } else if (type.is_list()) {
    for (const ValueType& element : type.list().elements) CollectUnbacked(element, symbols);
  }
}

void CollectUnbacked(const Argument& argument, Symbols& symbols) {
  if (argument.kind() == Argument::Kind::kInt) CollectUnbacked(argument.expr(), symbols);
  if (!argument.is_list()) return;
  for (const Argument& item : argument.list()) CollectUnbacked(item, symbols);
}

class DeadCode {
 public:
  DeadCode(Graph& graph, bool has_unbacked) : graph_(graph), has_unbacked_(has_unbacked) {}

  bool Run() {
    if (has_unbacked_) FindBinders();
    for (const Argument& output : graph_.outputs()) Need(output);
    bool changed = false;
    Node* previous = nullptr;
    for (Node* node = graph_.last(); node != nullptr; node = previous) {
      previous = node->previous;
      if (IsLive(*node)) {
        NeedAll(*node);
      } else {
        graph_.Erase(node);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // The first node whose result shows a symbol binds it.
  void FindBinders() {
    absl::flat_hash_set<Expr> bound;
    Symbols symbols;
    for (const Value* input : graph_.inputs()) CollectUnbacked(input->type, symbols);
    bound.insert(symbols.begin(), symbols.end());
    for (const Node* node = graph_.first(); node != nullptr; node = node->next) {
      symbols.clear();
      for (const Value* result : node->results) CollectUnbacked(result->type, symbols);
      for (const Expr& symbol : symbols) {
        if (bound.insert(symbol).second) binds_[node].push_back(symbol);
      }
    }
  }

  bool IsLive(const Node& node) const {
    for (const Value* result : node.results) {
      if (result->is_used()) return true;
    }
    if (IsUnusedDraw(node)) return false;
    if (node.row == nullptr || node.row->effect != Effect::kPure) return true;
    auto binds = binds_.find(&node);
    if (binds == binds_.end()) return false;
    return std::any_of(binds->second.begin(), binds->second.end(),
                       [this](const Expr& symbol) { return needed_.contains(symbol); });
  }

  void NeedAll(const Node& node) {
    if (!has_unbacked_) return;
    for (const Argument& argument : node.arguments) Need(argument);
    Symbols symbols;
    for (const Value* result : node.results) CollectUnbacked(result->type, symbols);
    needed_.insert(symbols.begin(), symbols.end());
  }
  void Need(const Argument& argument) {
    Symbols symbols;
    CollectUnbacked(argument, symbols);
    needed_.insert(symbols.begin(), symbols.end());
  }

  Graph& graph_;
  const bool has_unbacked_;
  absl::flat_hash_map<const Node*, Symbols> binds_;
  absl::flat_hash_set<Expr> needed_;
};

bool HasUnbacked(const ShapeEnv& shapes) {
  const std::vector<Expr>& symbols = shapes.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [](const Expr& symbol) {
    return symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked;
  });
}

}  // namespace

Pass DcePass() {
  return {"dce", "erases nodes whose results nobody uses",
          [](Program& program, const OpRegistry&) -> absl::StatusOr<bool> {
            bool changed = false;
            const bool has_unbacked = HasUnbacked(*program.shapes);
            for (Graph* graph : AllGraphs(program)) {
              changed |= DeadCode(*graph, has_unbacked).Run();
            }
            return changed;
          }};
}

}  // namespace lathe
