#ifndef LATHE_SCHEDULER_FUSION_ACCESS_H_
#define LATHE_SCHEDULER_FUSION_ACCESS_H_

// What a loop node reads, and what computing it again would cost.

#include <vector>

#include "scheduler/lower/loop_node.h"

namespace lathe {

// One read of a value's buffer. `root` is never a view.
struct Read {
  Value* root = nullptr;
  Expr position;  // element of the root's buffer, over the node's domain symbols
  // How many leading dimensions of the reader's domain enumerate the root's elements in order:
  // the whole domain for an elementwise read, its kept part for a reduced value, -1 for others.
  int prefix = -1;
  bool covers_domain = false;  // every axis of the domain takes part in the position
  bool is_masked = false;
};

struct NodeCost {
  int operations = 0;  // arithmetic, after inlining what is always inlined
  int loads = 0;
  bool heavy = false;  // transcendental or division: not worth doing twice
  bool indirect = false;
  bool unpacks = false;  // reads sub-byte elements: worth more unpacked anew than stored
};

struct NodeAccess {
  std::vector<Read> reads;  // distinct (root, position)
  NodeCost cost;
};

// Index symbols "$d0", "$d1"... that stand for the axes of a node's domain.
std::vector<Expr> DomainSymbols(ExprContext& context, size_t rank);

// Position of a logical index of `value` (a view or not) in its root's buffer, by strides.
Expr PositionInRoot(const LoopGraph& loops, Value* value, Index index);

// The Reduce operation of a reduction node at an index of its domain.
OpsValue RecordReduce(OpsHandler& ops, TensorReader& reader, const LoopNode& node, Index domain);

// Records the node's body once. Producers that read nothing (fills, ranges) are computed in place.
NodeAccess AccessOf(const LoopGraph& loops, const LoopNode& node);

// True for a producer that reads nothing and is cheap: always computed where it is used.
bool IsGenerator(const LoopGraph& loops, const Value* value);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_FUSION_ACCESS_H_
