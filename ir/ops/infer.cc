// InferTypes of registry.h.

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/graph/hash.h"
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

// The types of operators that decompose themselves to know them, by what they were asked with: the
// layers of a model ask the same again and again.
class KnownTypes {
 public:
  const std::vector<ValueType>* Find(const Node& node) const {
    const auto found = by_hash_.find(HashOf(node));
    if (found == by_hash_.end()) return nullptr;
    for (const Entry& entry : found->second) {
      if (IsSame(entry, node)) return &entry.types;
    }
    return nullptr;
  }

  void Add(const Node& node, const std::vector<ValueType>& types) {
    by_hash_[HashOf(node)].push_back({node.row, WithoutValues(node), OperandTypes(node), types});
  }

 private:
  struct Entry {
    const OpRow* row;
    std::vector<Argument> arguments;  // values left out
    std::vector<ValueType> operands;  // the types of the values, in order
    std::vector<ValueType> types;
  };

  static size_t HashOf(const Node& node) {
    size_t hash = absl::HashOf(node.row);
    for (const Argument& argument : node.arguments) {
      if (argument.is_value()) {
        hash = lathe::HashOf(argument.value()->type, hash);
      } else if (!argument.is_list()) {
        hash = lathe::HashOf(argument, hash);
      }
    }
    return hash;
  }

  // The arguments without what differs between nodes that ask the same: their values.
  static Argument WithoutValues(const Argument& argument) {
    if (argument.is_value()) return Argument::Of(static_cast<Value*>(nullptr));
    if (!argument.is_list()) return argument;
    std::vector<Argument> items;
    for (const Argument& item : argument.list()) items.push_back(WithoutValues(item));
    return Argument::List(std::move(items));
  }
  static std::vector<Argument> WithoutValues(const Node& node) {
    std::vector<Argument> arguments;
    for (const Argument& argument : node.arguments) arguments.push_back(WithoutValues(argument));
    return arguments;
  }
  static std::vector<ValueType> OperandTypes(const Node& node) {
    std::vector<ValueType> types;
    for (const Argument& argument : node.arguments) {
      argument.ForEachValue([&](const Value* v) { types.push_back(v->type); });
    }
    return types;
  }

  static bool IsSame(const Entry& entry, const Node& node) {
    return entry.row == node.row && entry.arguments == WithoutValues(node) &&
           entry.operands == OperandTypes(node);
  }

  absl::flat_hash_map<size_t, std::vector<Entry>> by_hash_;
};

absl::StatusOr<std::vector<ValueType>> AskedTypes(const Node& node, const std::string& name,
                                                  ShapeEnv& shapes, KnownTypes& known_types) {
  if (node.row->infers_by_decomposition) {
    if (const std::vector<ValueType>* known = known_types.Find(node)) return *known;
  }
  const size_t known_symbols = shapes.symbols().size();
  const OpArgs args(node.row->parsed, node.arguments);
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                         node.row->infer({args, shapes, {name, node.origin.source}}));
  // Each node that makes symbols makes its own.
  if (node.row->infers_by_decomposition && shapes.symbols().size() == known_symbols) {
    known_types.Add(node, types);
  }
  return types;
}

// Whether a type changed.
absl::StatusOr<bool> InferNode(Node* node, ShapeEnv& shapes, KnownTypes& known_types) {
  size_t known = shapes.symbols().size();
  std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
  if (!node->row->infer) return Unimplemented(node->op, ": has no rule for its result types");
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                         AskedTypes(*node, name, shapes, known_types));
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
  bool changed = false;
  for (size_t k = 0; k < types.size(); ++k) {
    if (!replacements.empty()) Replace(types[k], replacements, shapes.context());
    if (node->results[k]->type == types[k]) continue;
    node->results[k]->type = std::move(types[k]);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> InferGraph(Graph& graph, ShapeEnv& shapes, KnownTypes& known_types) {
  bool changed = false;
  for (Node* node = graph.first(); node != nullptr; node = node->next) {
    for (const Argument& a : node->arguments) {
      if (a.kind() != Argument::Kind::kGraph) continue;
      LATHE_ASSIGN_OR_RETURN(const bool inside, InferGraph(*a.graph(), shapes, known_types));
      changed |= inside;
    }
    if (node->row == nullptr) continue;
    const absl::StatusOr<bool> here = InferNode(node, shapes, known_types);
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
  KnownTypes known_types;
  return InferGraph(graph, shapes, known_types);
}

}  // namespace lathe
