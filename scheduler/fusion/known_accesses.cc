#include "scheduler/fusion/known_accesses.h"

namespace lathe {

NodeAccess KnownAccesses::Of(const LoopNode& node) {
  Wiring wiring(loops_);
  wiring.Add(node);
  // Generators are computed where they are read.
  for (size_t k = 0; k < wiring.roots().size(); ++k) {
    const LoopNode* producer = loops_.Find(wiring.roots()[k]);
    const bool generates = producer != nullptr && IsGenerator(loops_, producer->value);
    wiring.Add(uint64_t{generates});
    if (generates) wiring.Add(*producer);
  }
  const size_t number = wiring.Class(classes_);
  if (number == known_.size()) {
    Known known{AccessOf(loops_, node), {}};
    for (const Read& read : known.access.reads) known.roots.push_back(wiring.Number(read.root));
    known_.push_back(std::move(known));
    return known_.back().access;
  }
  const Known& known = known_[number];
  NodeAccess access = known.access;
  for (size_t k = 0; k < access.reads.size(); ++k) {
    access.reads[k].root = wiring.roots()[known.roots[k]];
  }
  return access;
}

}  // namespace lathe
