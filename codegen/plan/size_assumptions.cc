#include "codegen/plan/size_assumptions.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ir/graph/call_classes.h"
#include "ir/ops/op_args.h"
#include "ir/ops/op_row.h"
#include "symbolic/assumed.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Symbols = absl::flat_hash_set<Expr>;

void AddSymbols(const Expr& e, Symbols& symbols) {
  if (e.is_const()) return;
  for (const Expr& symbol : symbolic::FreeSymbols(e)) symbols.insert(symbol);
}

void AddSymbols(const ValueType& type, Symbols& symbols) {
  if (type.is_scalar()) AddSymbols(type.scalar().value, symbols);
  if (!type.is_tensor()) return;
  for (const Expr& size : type.tensor().sizes) AddSymbols(size, symbols);
}

void AddSymbols(const Argument& argument, Symbols& symbols) {
  if (argument.kind() == Argument::Kind::kInt) AddSymbols(argument.expr(), symbols);
  if (!argument.is_list()) return;
  for (const Argument& item : argument.list()) AddSymbols(item, symbols);
}

// Only a node with symbols among what it takes can assume anything. One whose results bring symbols
// of their own would bring other ones if asked again.
bool CanBeAsked(const Node& node) {
  if (node.row == nullptr || !node.row->infer) return false;
  Symbols taken, given;
  for (const Argument& argument : node.arguments) {
    if (argument.kind() == Argument::Kind::kGraph) return false;
    argument.ForEachValue([&](Value* v) { AddSymbols(v->type, taken); });
    AddSymbols(argument, taken);
  }
  if (taken.empty()) return false;
  for (const Value* result : node.results) AddSymbols(result->type, given);
  return std::all_of(given.begin(), given.end(), [&](const Expr& symbol) {
    return symbol.symbol_kind() != symbolic::SymbolKind::kUnbacked || taken.contains(symbol);
  });
}

}  // namespace

std::vector<SizeAssumption> SizeAssumptions(const Graph& graph, ShapeEnv& shapes) {
  std::vector<SizeAssumption> result;
  absl::flat_hash_set<Expr> seen;
  CallClasses classes;
  for (const Node* node = graph.first(); node != nullptr; node = node->next) {
    // A call like an earlier one assumes the same.
    const int known = classes.size();
    const std::optional<int> number = classes.Of(node->row, node->arguments);
    if (number.has_value() && *number < known) continue;
    if (!CanBeAsked(*node)) continue;
    const std::vector<Expr> assumed = symbolic::AssumptionsOf([&] {
      const OpArgs args(node->row->parsed, node->arguments);
      // Its answer is known already: only what it asks on the way counts.
      (void)node->row->infer({args, shapes, {node->op, node->origin.source}}).ok();
    });
    for (const Expr& condition : assumed) {
      if (seen.insert(condition).second) result.push_back({node, condition});
    }
  }
  return result;
}

}  // namespace lathe
