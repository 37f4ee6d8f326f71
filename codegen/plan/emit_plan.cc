#include "codegen/plan/emit_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/plan/plan_emitter.h"
#include "dtypes/base/status.h"
#include "ir/loops/lift_offsets.h"

namespace lathe {

int32_t PlanTables::KernelIndex(const KernelSpec& spec) {
  // Equal code with other error rows is another entry: the rows name the user's lines.
  std::string key = spec.name;
  for (const ErrorRow& row : spec.errors) absl::StrAppend(&key, "|", row.node, "|", row.message);
  auto [it, added] = kernel_of.emplace(key, static_cast<int32_t>(out.kernels.size()));
  if (added) {
    PlanKernel kernel;
    kernel.name = spec.name;
    kernel.grain = spec.grain;
    for (const ErrorRow& row : spec.errors) {
      kernel.errors.push_back({row.node, row.source, row.message});
    }
    out.plan.kernels.push_back(std::move(kernel));
    out.kernels.push_back(spec);
    LiftOffsets(out.kernels.back());
  }
  return it->second;
}

absl::StatusOr<Plan> PlanEmitter::Run(const std::vector<Expr>& outer_symbols) {
  for (const Expr& symbol : outer_symbols) registers_.Bind(symbol, registers_.New());
  assumptions_ = SizeAssumptions(graph_, shapes_);
  LATHE_ASSIGN_OR_RETURN(schedule_, ScheduleGraph(graph_, shapes_, *tables_.options));
  FindRoots();
  in_place_ = FindInPlace(graph_, schedule_, roots_, shapes_);
  const size_t fused = schedule_.decisions.size();
  for (const auto& [result, target] : in_place_) {
    schedule_.decisions.push_back(
        absl::StrCat("in place: %", result->name, " is written to %", target->name));
  }
  std::sort(schedule_.decisions.begin() + fused, schedule_.decisions.end());
  StartSegment();
  LATHE_RETURN_IF_ERROR(EmitInputs());
  described_.insert(outer_names_.begin(), outer_names_.end());
  LATHE_RETURN_IF_ERROR(EmitAssumptions());
  if (checks_divisors_) StartSegment();
  LATHE_RETURN_IF_ERROR(EmitLiterals());
  for (const ScheduledStep& step : schedule_.steps) {
    LATHE_RETURN_IF_ERROR(EmitStep(step));
  }
  LATHE_RETURN_IF_ERROR(EmitMutations());
  LATHE_RETURN_IF_ERROR(EmitReturn());
  SetLifetimes();
  plan_.register_count = registers_.count();
  tables_.out.schedules.push_back(std::move(schedule_));
  return std::move(plan_);
}

absl::StatusOr<EmittedPlan> EmitPlan(const Program& program, const ScheduleOptions& options) {
  PlanTables tables;
  tables.options = &options;
  PlanEmitter emitter(*program.main, *program.shapes, tables);
  LATHE_ASSIGN_OR_RETURN(Plan plan, emitter.Run({}));
  plan.kernels = std::move(tables.out.plan.kernels);
  plan.callbacks = std::move(tables.out.plan.callbacks);
  plan.subplans = std::move(tables.out.plan.subplans);
  tables.out.plan = std::move(plan);
  return std::move(tables.out);
}

}  // namespace lathe
