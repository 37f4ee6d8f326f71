#ifndef LATHE_CODEGEN_PLAN_EMIT_PLAN_H_
#define LATHE_CODEGEN_PLAN_EMIT_PLAN_H_

// From a scheduled graph to a Plan, the specs of its kernels and what it calls back.

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "ir/graph/program.h"
#include "ir/loops/kernel_spec.h"
#include "runtime/abi/plan.h"
#include "scheduler/schedule.h"
#include "scheduler/schedule_graph.h"

namespace lathe {

// A node that the Plan runs by its row's `evaluate`.
struct PlanCallback {
  std::string name;  // Plan::callbacks
  Node* node = nullptr;
  std::vector<Expr> integers;  // the step's integers, in order
  std::string reason;
};

struct EmittedPlan {
  Plan plan;
  std::vector<KernelSpec> kernels;          // by Plan::kernels
  std::vector<PlanCallback> callbacks;      // by Plan::callbacks
  std::map<std::string, Tensor> constants;  // literal tensors, bound like weights
  std::vector<Schedule> schedules;          // main, then those of sub-graphs, for reading
};

absl::StatusOr<EmittedPlan> EmitPlan(const Program& program, const ScheduleOptions& options = {});

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_EMIT_PLAN_H_
