// InferTypes of registry.h.

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
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

// What a wrong program asks for, never a real one: more bytes than 64 bits count.
absl::Status CheckRepresentable(const ValueType& type) {
  if (!type.is_tensor()) return absl::OkStatus();
  const TensorType& t = type.tensor();
  double bytes = BitWidth(t.dtype) / 8.0;
  bool overflows = t.offset.IsOverflow();
  for (int d = 0; d < t.rank(); ++d) {
    bytes *= static_cast<double>(t.sizes[d].AsInt().value_or(1));
    overflows |= t.sizes[d].IsOverflow() || t.strides[d].IsOverflow();
  }
  if (!overflows && bytes < 0x1p62) return absl::OkStatus();
  return OutOfRange("a result is larger than 64 bits can count: ", ToString(t));
}

absl::Status InferNode(Node* node, ShapeEnv& shapes) {
  size_t known = shapes.symbols().size();
  std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
  OpArgs args(node->row->parsed, node->arguments);
  if (!node->row->infer) return Unimplemented(node->op, ": has no rule for its result types");
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                         node->row->infer({args, shapes, {name, node->origin.source}}));
  for (const ValueType& type : types) LATHE_RETURN_IF_ERROR(CheckRepresentable(type));
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
  absl::Span<const Expr> made = absl::MakeConstSpan(shapes.symbols()).subspan(known);
  Replacements replacements;
  for (size_t k = 0; k < types.size(); ++k) {
    MatchSymbols(types[k], node->results[k]->type, made, replacements);
  }
  for (size_t k = 0; k < types.size(); ++k) {
    if (!replacements.empty()) Replace(types[k], replacements, shapes.context());
    node->results[k]->type = std::move(types[k]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferTypes(Graph& graph, ShapeEnv& shapes) {
  for (Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) {
        LATHE_RETURN_IF_ERROR(InferTypes(*a.graph(), shapes));
      }
    }
    if (node->row == nullptr) continue;
    absl::Status status = InferNode(node, shapes);
    if (!status.ok()) {
      std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
      return AtNode(std::move(status), name, node->origin.source);
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe
