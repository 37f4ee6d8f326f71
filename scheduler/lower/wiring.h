#ifndef LATHE_SCHEDULER_LOWER_WIRING_H_
#define LATHE_SCHEDULER_LOWER_WIRING_H_

// What loop nodes are up to the names of their values: their calls (ir/graph/call_classes.h) and
// how operands are wired to one another. Nodes and groups of equal wiring are read, fused and
// compiled alike, so the layers of a model are worked out once.
//
//   Wiring wiring(loops);
//   wiring.Add(node);                       // roots: what it reads, in order of first sight
//   if (int number = wiring.Class(classes); number is known) take what was found, with its roots
//   replaced by these
//
// Roots are values that are no views; a view is its calls down to the root.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/graph/call_classes.h"
#include "scheduler/lower/loop_node.h"

namespace lathe {

class Wiring {
 public:
  explicit Wiring(const LoopGraph& loops) : loops_(loops) {}

  void Add(uint64_t word) { words_.Add(word); }
  void Add(const Expr& e) { words_.Add(e); }
  void Add(const std::vector<Expr>& list) {
    Add(list.size());
    for (const Expr& e : list) Add(e);
  }
  // The node's call, and its operands' views and roots.
  void Add(const LoopNode& node);
  // The root's number; it gets the next one if it has none.
  int Number(Value* root);

  const std::vector<Value*>& roots() const { return roots_; }
  int Class(WordClasses& classes) const { return classes.Of(words_); }

 private:
  const LoopGraph& loops_;
  CallWords words_;
  std::vector<Value*> roots_;
  absl::flat_hash_map<Value*, int> number_of_;
};

}  // namespace lathe

#endif  // LATHE_SCHEDULER_LOWER_WIRING_H_
