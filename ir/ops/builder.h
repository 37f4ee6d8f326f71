#ifndef LATHE_IR_OPS_BUILDER_H_
#define LATHE_IR_OPS_BUILDER_H_

// Writes calls into a graph: resolves the op, binds arguments, infers types.
//
//   Builder b(graph, registry, shapes);
//   Value* y = b.Call("aten.mul.Tensor", {x, b.Call("aten.sigmoid", {x})});
//
// The first error is kept and returned by status(); later calls on poisoned values do nothing and
// give nullptr.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"
#include "ir/ops/registry.h"

namespace lathe {

class KnownTypes;  // known_types.h

// An argument written in C++: values, numbers, lists and names convert.
struct CallArgument {
  Argument argument;
  bool poisoned = false;
  CallArgument(Value* v) : argument(v ? Argument::Of(v) : Argument()), poisoned(v == nullptr) {}
  CallArgument(Argument a) : argument(std::move(a)) {}
  CallArgument(const Expr& e) : argument(Argument::Int(e)) {}
  CallArgument(int v) : argument(Argument::Int(v)) {}
  CallArgument(int64_t v) : argument(Argument::Int(v)) {}
  CallArgument(bool v) : argument(Argument::Bool(v)) {}
  CallArgument(double v) : argument(Argument::Float(v)) {}
  CallArgument(const Scalar& v) : argument(Argument::Number(v)) {}
  CallArgument(DType v) : argument(Argument::Of(v)) {}
  CallArgument(const char* v) : argument(Argument::String(v)) {}
  CallArgument(const std::vector<Expr>& v) : argument(Argument::Ints(v)) {}
  CallArgument(const std::vector<Value*>& v);
};

class Builder {
 public:
  Builder(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes)
      : graph_(graph), registry_(registry), shapes_(shapes) {}

  Graph& graph() { return graph_; }
  const OpRegistry& registry() const { return registry_; }
  ShapeEnv& shapes() { return shapes_; }

  // New nodes go before `node` (nullptr: at the end) and carry `origin`.
  void SetInsertionPoint(Node* node) { before_ = node; }
  void SetOrigin(Origin origin) { origin_ = std::move(origin); }
  // Calls of these operators become the nodes of their decompositions at once.
  using RowSet = bool (*)(const OpRow& row);
  void InlineDecompositions(RowSet of) { inlined_ = of; }
  // Types are asked of `types`, which outlives the builder and may serve others.
  void TakeTypesFrom(KnownTypes* types) { types_ = types; }

  // Positional arguments, then named ones. The first result; nullptr after an error.
  Value* Call(absl::string_view op, std::vector<CallArgument> arguments,
              std::vector<std::pair<std::string, CallArgument>> named = {});
  // All results.
  std::vector<Value*> CallMany(absl::string_view op, std::vector<CallArgument> arguments,
                               std::vector<std::pair<std::string, CallArgument>> named = {});
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const absl::Status& status() const { return status_; }

 private:
  // The values of the row's decomposition; nullopt when one of them is no value.
  std::optional<std::vector<Value*>> Inline(const OpRow& row, const std::vector<Argument>& bound);

  Graph& graph_;
  const OpRegistry& registry_;
  ShapeEnv& shapes_;
  Node* before_ = nullptr;
  Origin origin_;
  RowSet inlined_ = nullptr;
  KnownTypes* types_ = nullptr;
  int depth_ = 0;  // of decompositions being inlined
  absl::Status status_;
};

}  // namespace lathe

#endif  // LATHE_IR_OPS_BUILDER_H_
