#ifndef LATHE_IR_REFERENCE_EVALUATOR_H_
#define LATHE_IR_REFERENCE_EVALUATOR_H_

// The slow, obvious meaning of a program: node by node on host tensors, each by its row's
// `evaluate`. Views are real aliases, in-place ops write through them, sizes are numbers.
//
//   absl::StatusOr<ReferenceResult> r = EvaluateReference(program, {Tensor::FromSpan<float>(...)});

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/graph/program.h"
#include "ir/ops/op_row.h"

namespace lathe {

struct ReferenceResult {
  // What the program gives its caller: user outputs and gradients, in order.
  std::vector<HostValue> outputs;
  // All outputs of the graph, mutations and tokens included.
  std::vector<HostValue> graph_outputs;
  // The values of the program's symbols.
  absl::flat_hash_map<Expr, int64_t> symbols;
};

// Called after every node of the main graph with its results.
using NodeObserver = std::function<absl::Status(const Node&, absl::Span<const HostValue> results)>;

// Runs program.main, whose nodes are resolved (ResolveGraph). `user_inputs` go to the kUser inputs
// in order; weights come from program.weights. Inputs and buffers that the program mutates are
// changed in place; pass clones to keep them. InvalidArgument for inputs that do not fit,
// FailedPrecondition for a precondition that does not hold; an error of a node carries its place.
absl::StatusOr<ReferenceResult> EvaluateReference(const Program& program,
                                                  std::vector<HostValue> user_inputs,
                                                  const NodeObserver& observer = {});

// One graph on all its inputs, symbols in `symbols` known beforehand.
absl::StatusOr<std::vector<HostValue>> EvaluateGraph(
    const Graph& graph, std::vector<HostValue> inputs,
    absl::flat_hash_map<Expr, int64_t> symbols = {});

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_EVALUATOR_H_
