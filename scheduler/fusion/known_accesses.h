#ifndef LATHE_SCHEDULER_FUSION_KNOWN_ACCESSES_H_
#define LATHE_SCHEDULER_FUSION_KNOWN_ACCESSES_H_

// AccessOf (access.h), once for nodes of one wiring.

#include <vector>

#include "scheduler/fusion/access.h"
#include "scheduler/lower/wiring.h"

namespace lathe {

class KnownAccesses {
 public:
  explicit KnownAccesses(const LoopGraph& loops) : loops_(loops) {}
  NodeAccess Of(const LoopNode& node);

 private:
  struct Known {
    NodeAccess access;
    std::vector<int> roots;  // of its reads, as numbers of the wiring
  };
  const LoopGraph& loops_;
  WordClasses classes_;
  std::vector<Known> known_;  // by class
};

}  // namespace lathe

#endif  // LATHE_SCHEDULER_FUSION_KNOWN_ACCESSES_H_
