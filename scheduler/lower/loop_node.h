#ifndef LATHE_SCHEDULER_LOWER_LOOP_NODE_H_
#define LATHE_SCHEDULER_LOWER_LOOP_NODE_H_

// The graph seen as loops: for every tensor value, how one element of it comes about.

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/graph/graph.h"
#include "ir/ops/lowering.h"
#include "scheduler/schedule.h"
#include "symbolic/shape_env.h"

namespace lathe {

// A value computed by loops over `domain`: its own sizes, or kept sizes then reduced sizes.
struct LoopNode {
  enum class Kind : uint8_t { kPointwise, kReduction };
  Kind kind = Kind::kPointwise;
  Value* value = nullptr;
  Node* node = nullptr;
  std::shared_ptr<const Lowered> lowered;
  std::vector<Expr> domain;
  int kept_rank = 0;  // of a reduction: how many of `domain` are kept
  const PointwiseLoops& pointwise() const { return std::get<PointwiseLoops>(*lowered); }
  const ReductionLoops& reduction() const { return std::get<ReductionLoops>(*lowered); }
};

struct LoopGraph {
  Graph* graph = nullptr;
  ShapeEnv* shapes = nullptr;
  std::vector<LoopNode> nodes;                   // in graph order
  absl::flat_hash_map<const Value*, int> index;  // value -> nodes
  absl::flat_hash_map<const Value*, std::shared_ptr<const Lowered>> views;
  ViewRoots roots;
  // By Node::id, of the nodes of `nodes` and `views`: equal numbers are calls alike
  // (ir/graph/call_classes.h) whose results have the same types too.
  std::vector<int> class_of;
  // Nodes without loops, by node: an extern, a scatter, evaluate alone, control.
  absl::flat_hash_map<const Node*, ScheduledStep> steps;
  // ScatterLoops of scatter steps.
  absl::flat_hash_map<const Node*, std::shared_ptr<const Lowered>> scatters;

  // The node's value as a kernel goes on with it: rounded to its dtype as eager rounds the result
  // of every operator. With `keeps_wide`, wider values stay wide between fused operators, apart
  // from those that convert: whose operands have another dtype.
  bool keeps_wide = false;
  OpsValue Rounded(OpsHandler& ops, OpsValue value, const LoopNode& node) const;

  const LoopNode* Find(const Value* value) const {
    auto it = index.find(value);
    return it == index.end() ? nullptr : &nodes[it->second];
  }
};

// Runs every node's lowering. Nodes without one become opaque steps (rows with `evaluate`), or fail
// with Unimplemented naming the op.
absl::StatusOr<LoopGraph> LowerGraph(Graph& graph, ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_LOWER_LOOP_NODE_H_
