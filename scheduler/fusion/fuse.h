#ifndef LATHE_SCHEDULER_FUSION_FUSE_H_
#define LATHE_SCHEDULER_FUSION_FUSE_H_

// Which loops share a kernel.
//
// A group enumerates `outer` (rows) and `inner` (within a row); without reductions all of its
// domain is outer. Members are full (one element for every index), reductions (full in, one value a
// row out) or rows (one value a row). Groups and other steps run in the order of their numbers, and
// a node joins a group only when everything it reads has a number no larger: so no cycle can arise,
// and the search is linear in the number of reads.

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "scheduler/fusion/access.h"
#include "scheduler/lower/loop_node.h"

namespace lathe {

enum class MemberLevel : uint8_t { kFull, kReduction, kRow };

struct FusionGroup {
  int order = 0;
  std::vector<Expr> outer, inner;
  bool has_reduction = false;
  std::vector<int> members;  // indexes into LoopGraph::nodes, in graph order
};

struct Fusion {
  std::vector<FusionGroup> groups;
  std::vector<int> group_of;                         // by node
  std::vector<MemberLevel> level_of;                 // by node
  std::vector<NodeAccess> access_of;                 // by node
  absl::flat_hash_map<const Node*, int> step_order;  // of steps that are not groups
  absl::flat_hash_map<const Value*, int> order_of;   // of any value's producer; inputs: 0
  std::vector<std::string> decisions;
};

Fusion FuseLoops(const LoopGraph& loops);

// True when computing `value` again where it is read costs less than a buffer: cheap producers, and
// producers that are used once at every element of the reader.
bool MayInline(const LoopGraph& loops, const Fusion& fusion, const Value* value,
               bool reader_covers_domain);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_FUSION_FUSE_H_
