#ifndef LATHE_SCHEDULER_SCHEDULE_GRAPH_H_
#define LATHE_SCHEDULER_SCHEDULE_GRAPH_H_

#include "absl/status/statusor.h"
#include "ir/graph/graph.h"
#include "scheduler/schedule.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct ScheduleOptions {
  bool fuse_epilogues = true;  // run kernels on an extern's rows while they are in cache
  // f16 and bf16 values stay f32 between the operators of one kernel: faster, closer to the exact
  // answer, and not what eager gives.
  bool keep_wide = false;
};

// Schedules a functional, decomposed graph: loops, fusion, kernels, the order of steps. Sub-graphs
// of control nodes are scheduled when the plan is made.
absl::StatusOr<Schedule> ScheduleGraph(Graph& graph, ShapeEnv& shapes,
                                       const ScheduleOptions& options = {});

}  // namespace lathe

#endif  // LATHE_SCHEDULER_SCHEDULE_GRAPH_H_
