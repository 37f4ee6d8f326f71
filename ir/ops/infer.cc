// InferTypes of registry.h.

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/known_types.h"
#include "ir/ops/registry.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Replacements = absl::flat_hash_map<Expr, Expr>;

// Where `fresh` has one of the symbols in `made` by itself, the old expression of that place.
void MatchSymbols(const ValueType& fresh, const ValueType& old, absl::Span<const Expr> made,
                  Replacements& replacements) {
  auto match = [&](const Expr& a, const Expr& b) {
    for (const Expr& symbol : made) {
      if (a == symbol) replacements.emplace(a, b);
    }
  };
  if (fresh.is_scalar() && old.is_scalar()) match(fresh.scalar().value, old.scalar().value);
  if (!fresh.is_tensor() || !old.is_tensor()) return;
  if (fresh.tensor().rank() != old.tensor().rank()) return;
  for (int d = 0; d < fresh.tensor().rank(); ++d) {
    match(fresh.tensor().sizes[d], old.tensor().sizes[d]);
  }
}

void Replace(ValueType& type, const Replacements& replacements, ExprContext& context) {
  auto replace = [&](Expr& e) { e = symbolic::Substitute(e, replacements, context); };
  if (type.is_scalar()) {
    ScalarType scalar = type.scalar();
    replace(scalar.value);
    type = scalar;
  }
  if (!type.is_tensor()) return;
  for (Expr& e : type.tensor().sizes) replace(e);
  for (Expr& e : type.tensor().strides) replace(e);
  replace(type.tensor().offset);
}

bool HasUnbacked(const Expr& e) {
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (symbol.symbol_kind() != symbolic::SymbolKind::kBacked) return true;
  }
  return false;
}

// Sizes that the program states as numbers and rules give as expressions: whoever wrote it knew
// more of the symbols. What was known becomes a precondition: of k[:1] : f32[1] with k: f32[s0],
// where rules say min(s0, 1), that s0 is not 0. Whether anything was.
absl::StatusOr<bool> AdoptStatedSizes(const Node& node, absl::Span<const ValueType> types,
                                      const symbolic::Asker& asker, ShapeEnv& shapes) {
  bool adopted = false;
  for (size_t k = 0; k < types.size(); ++k) {
    const ValueType& stated = node.results[k]->type;
    if (!stated.is_tensor() || !types[k].is_tensor()) continue;
    const std::vector<Expr>&numbers = stated.tensor().sizes, &sizes = types[k].tensor().sizes;
    for (size_t d = 0; d < sizes.size() && numbers.size() == sizes.size(); ++d) {
      if (!numbers[d].is_const() || sizes[d].is_const() || HasUnbacked(sizes[d])) continue;
      const Expr condition = shapes.Simplify(symbolic::Eq(sizes[d], numbers[d]));
      if (condition.AsBool().has_value() || shapes.IsKnownFalse(condition)) continue;
      LATHE_RETURN_IF_ERROR(shapes.AddFact(condition, asker));
      node.graph->preconditions().push_back(condition);
      adopted = true;
    }
  }
  return adopted;
}

// Whether a type changed.
absl::StatusOr<bool> InferNode(Node* node, const Graph& root, ShapeEnv& shapes,
                               KnownTypes& known_types) {
  size_t known = shapes.symbols().size();
  std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
  if (!node->row->infer) return Unimplemented(node->op, ": has no rule for its result types");
  const symbolic::Asker asker = {name, node->origin.source};
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                         known_types.Infer(*node->row, node->arguments, asker));
  if (types.size() != node->results.size()) {
    return InvalidArgument(node->op, ": has ", types.size(), " results, the graph takes ",
                           node->results.size());
  }
  for (size_t k = 0; k < types.size(); ++k) {
    const ValueType& declared = node->results[k]->type;
    if ((declared.is_tensor() && types[k].is_list()) ||
        (declared.is_list() && types[k].is_tensor())) {
      return InvalidArgument(node->op, ": result ", k, " is declared as ", ToString(declared),
                             ", the operator gives ", ToString(types[k]));
    }
  }
  if (node->graph == &root) {
    LATHE_ASSIGN_OR_RETURN(const bool adopted, AdoptStatedSizes(*node, types, asker, shapes));
    if (adopted) {
      LATHE_ASSIGN_OR_RETURN(types, known_types.Infer(*node->row, node->arguments, asker));
    }
  }
  absl::Span<const Expr> made = absl::MakeConstSpan(shapes.symbols()).subspan(known);
  Replacements replacements;
  for (size_t k = 0; k < types.size(); ++k) {
    MatchSymbols(types[k], node->results[k]->type, made, replacements);
  }
  bool changed = false;
  for (size_t k = 0; k < types.size(); ++k) {
    if (!replacements.empty()) Replace(types[k], replacements, shapes.context());
    if (node->results[k]->type == types[k]) continue;
    node->results[k]->type = std::move(types[k]);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> InferGraph(Graph& graph, const Graph& root, ShapeEnv& shapes,
                                KnownTypes& known_types) {
  bool changed = false;
  for (Node* node = graph.first(); node != nullptr; node = node->next) {
    for (const Argument& a : node->arguments) {
      if (a.kind() != Argument::Kind::kGraph) continue;
      LATHE_ASSIGN_OR_RETURN(const bool inside, InferGraph(*a.graph(), root, shapes, known_types));
      changed |= inside;
    }
    if (node->row == nullptr) continue;
    const absl::StatusOr<bool> here = InferNode(node, root, shapes, known_types);
    if (!here.ok()) {
      std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
      return AtNode(here.status(), name, node->origin.source);
    }
    changed |= *here;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> InferTypes(Graph& graph, ShapeEnv& shapes) {
  KnownTypes known_types(shapes);
  return InferGraph(graph, graph, shapes, known_types);
}

}  // namespace lathe
