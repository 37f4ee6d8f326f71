#ifndef LATHE_CODEGEN_PLAN_SIZE_ASSUMPTIONS_H_
#define LATHE_CODEGEN_PLAN_SIZE_ASSUMPTIONS_H_

// What the type rules of a graph's operators take for granted about sizes (s0 == s1 for the sum of
// f32[s0] and f32[s1]): eager refuses a call that breaks it, so the plan asserts it.

#include <vector>

#include "ir/graph/graph.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct SizeAssumption {
  const Node* node = nullptr;
  Expr condition;
};

// In the order of nodes, each condition once. Sub-graphs are not looked into.
std::vector<SizeAssumption> SizeAssumptions(const Graph& graph, ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_SIZE_ASSUMPTIONS_H_
