#include "ir/passes/adopt_symbols.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Replacements = absl::flat_hash_map<Expr, Expr>;

void Match(const ValueType& fresh, const ValueType& old, absl::Span<const Expr> made,
           Replacements& replacements) {
  auto match = [&](const Expr& a, const Expr& b) {
    if (a != b && std::find(made.begin(), made.end(), a) != made.end()) replacements.emplace(a, b);
  };
  if (fresh.is_scalar() && old.is_scalar()) match(fresh.scalar().value, old.scalar().value);
  if (!fresh.is_tensor() || !old.is_tensor()) return;
  if (fresh.tensor().rank() != old.tensor().rank()) return;
  for (int d = 0; d < fresh.tensor().rank(); ++d) {
    match(fresh.tensor().sizes[d], old.tensor().sizes[d]);
  }
}

struct Replacer {
  const Replacements& replacements;
  ExprContext& context;

  void Apply(Expr& e) const { e = symbolic::Substitute(e, replacements, context); }
  void Apply(ValueType& type) const {
    if (type.is_scalar()) {
      ScalarType scalar = type.scalar();
      Apply(scalar.value);
      type = scalar;
    }
    if (!type.is_tensor()) return;
    for (Expr& e : type.tensor().sizes) Apply(e);
    for (Expr& e : type.tensor().strides) Apply(e);
    Apply(type.tensor().offset);
  }
  Argument Apply(const Argument& argument) const {
    if (argument.kind() == Argument::Kind::kInt) {
      Expr e = argument.expr();
      Apply(e);
      return Argument::Int(e);
    }
    if (!argument.is_list()) return argument;
    std::vector<Argument> items;
    for (const Argument& item : argument.list()) items.push_back(Apply(item));
    return Argument::List(std::move(items));
  }
};

}  // namespace

void AdoptSymbols(Node* first, const Node* replaced, const std::vector<Argument>& results,
                  absl::Span<const Expr> made, ExprContext& context) {
  if (made.empty()) return;
  Replacements replacements;
  for (size_t k = 0; k < replaced->results.size(); ++k) {
    if (!results[k].is_value()) continue;
    Match(results[k].value()->type, replaced->results[k]->type, made, replacements);
  }
  if (replacements.empty()) return;
  const Replacer replacer{replacements, context};
  for (Node* node = first; node != replaced; node = node->next) {
    for (Value* result : node->results) replacer.Apply(result->type);
    for (size_t i = 0; i < node->arguments.size(); ++i) {
      Argument changed = replacer.Apply(node->arguments[i]);
      if (!(changed == node->arguments[i])) {
        node->graph->SetArgument(node, static_cast<int>(i), std::move(changed));
      }
    }
  }
}

}  // namespace lathe
