#ifndef LATHE_IR_OPS_HOST_CALL_H_
#define LATHE_IR_OPS_HOST_CALL_H_

// Runs nodes on host values, one after the other: what the reference evaluator, decompositions and
// derived rows share.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph/graph.h"
#include "ir/ops/op_row.h"

namespace lathe {

// What is known at one point of a run.
struct HostEnvironment {
  absl::flat_hash_map<const Value*, HostValue> values;
  absl::flat_hash_map<Expr, int64_t> symbols;
};

// The type of a host value: a tensor's own sizes and strides, constants throughout.
ValueType TypeOf(const HostValue& value);

// An argument's run-time value: values and symbolic numbers replaced. FailedPrecondition for a
// value or symbol that has none yet. Literals (strings, dtypes...) give none.
absl::StatusOr<HostValue> ReadArgument(const Argument& argument,
                                       const HostEnvironment& environment);
absl::StatusOr<HostArgs> ReadArguments(const Node& node, const HostEnvironment& environment);

// Host arguments as bound graph arguments: each tensor becomes an input of `graph`, with its value
// noted in `environment` (may be nullptr).
absl::StatusOr<std::vector<Argument>> ToGraphArguments(const Schema& schema, const HostArgs& args,
                                                       Graph& graph, HostEnvironment* environment);

// Evaluates one resolved node, sets its results, and binds symbols that its result types introduce.
absl::Status RunNode(const Node& node, HostEnvironment& environment, const GraphRunner& run_graph);

// Binds the symbols that `type` introduces to what `value` has; a mismatch of a known size is
// FailedPrecondition naming both.
absl::Status BindSymbols(const ValueType& type, const HostValue& value,
                         HostEnvironment& environment);

}  // namespace lathe

#endif  // LATHE_IR_OPS_HOST_CALL_H_
