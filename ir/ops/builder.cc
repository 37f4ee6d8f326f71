#include "ir/ops/builder.h"

#include "dtypes/base/status.h"
#include "ir/ops/known_types.h"

namespace lathe {

CallArgument::CallArgument(const std::vector<Value*>& v) {
  std::vector<Argument> items;
  for (Value* value : v) items.push_back(value ? Argument::Of(value) : Argument());
  argument = Argument::List(std::move(items));
}

namespace {

// The arguments of the overload that takes numbers where tensors were expected; `row` becomes that
// overload's. ResolveNode knows how, so a node is made for it to resolve.
absl::StatusOr<std::vector<Argument>> BindOverload(Graph& graph, const OpRegistry& registry,
                                                   absl::string_view op,
                                                   std::vector<Argument> given,
                                                   const std::vector<std::string>& names,
                                                   const OpRow** row) {
  Node* node = graph.Append(std::string(op), std::move(given), {});
  node->names = names;
  absl::Status status = ResolveNode(node, registry);
  if (status.ok()) *row = node->row;
  std::vector<Argument> arguments(node->arguments.begin(), node->arguments.end());
  graph.Erase(node);
  if (!status.ok()) return status;
  return arguments;
}

}  // namespace

Value* Builder::Call(absl::string_view op, std::vector<CallArgument> arguments,
                     std::vector<std::pair<std::string, CallArgument>> named) {
  std::vector<Value*> results = CallMany(op, std::move(arguments), std::move(named));
  return results.empty() ? nullptr : results[0];
}

std::vector<Value*> Builder::CallMany(absl::string_view op, std::vector<CallArgument> arguments,
                                      std::vector<std::pair<std::string, CallArgument>> named) {
  if (!status_.ok()) return {};
  std::vector<Argument> given;
  std::vector<std::string> names;
  auto take = [&](CallArgument& a, std::string name) {
    if (a.poisoned) Fail(Internal(op, ": an argument is absent"));
    given.push_back(std::move(a.argument));
    names.push_back(std::move(name));
  };
  for (CallArgument& a : arguments) take(a, "");
  for (auto& [name, a] : named) take(a, name);
  const OpRow* row = registry_.Find(op);
  if (row == nullptr) Fail(Unimplemented("unknown operator '", op, "'"));
  if (!status_.ok()) return {};

  absl::StatusOr<std::vector<Argument>> bound = BindArguments(row->parsed, given, names);
  if (!bound.ok()) bound = BindOverload(graph_, registry_, op, std::move(given), names, &row);
  if (!bound.ok()) {
    Fail(bound.status());
    return {};
  }
  if (inlined_ != nullptr && row->decompose && inlined_(*row)) {
    if (std::optional<std::vector<Value*>> values = Inline(*row, *bound)) return *values;
    if (!status_.ok()) return {};
  }
  if (!row->infer) {
    Fail(Unimplemented(op, ": has no rule for its result types"));
    return {};
  }
  const symbolic::Asker asker = {row->parsed.name, origin_.source};
  absl::StatusOr<std::vector<ValueType>> types =
      types_ != nullptr ? types_->Infer(*row, *bound, asker)
                        : row->infer({OpArgs(row->parsed, *bound), shapes_, asker});
  if (!types.ok()) {
    Fail(AtNode(types.status(), row->parsed.name, origin_.source));
    return {};
  }
  Node* node = graph_.Insert(before_, row->parsed.name, *std::move(bound), *std::move(types));
  node->row = row;
  node->origin = origin_;
  return node->results;
}

std::optional<std::vector<Value*>> Builder::Inline(const OpRow& row,
                                                   const std::vector<Argument>& bound) {
  // Decompositions of decompositions: a row that reaches itself would never end.
  constexpr int kDepthLimit = 64;
  if (depth_ == kDepthLimit) Fail(Internal(row.parsed.name, ": its decomposition never ends"));
  if (!status_.ok()) return std::nullopt;
  ++depth_;
  absl::StatusOr<std::vector<Argument>> results = row.decompose(*this, OpArgs(row.parsed, bound));
  --depth_;
  if (!results.ok()) Fail(AtNode(results.status(), row.parsed.name, origin_.source));
  if (!status_.ok()) return std::nullopt;
  std::vector<Value*> values;
  for (const Argument& result : *results) {
    if (!result.is_value() || result.value() == nullptr) return std::nullopt;
    values.push_back(result.value());
  }
  return values;
}

}  // namespace lathe
