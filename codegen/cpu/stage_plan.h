#ifndef LATHE_CODEGEN_CPU_STAGE_PLAN_H_
#define LATHE_CODEGEN_CPU_STAGE_PLAN_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/stage_phases.h"

namespace lathe::cpu {

// How the loops of a stage become vectors.
enum class StageShape {
  kOnce,     // no axes: the body once
  kMap,      // nothing is reduced: along the last axis
  kColumns,  // the last axis is parallel, a reduce axis before it: tiles of kLanes columns
  kRows,     // the last axis reduces: kLanes lanes
};

struct StagePlan {
  StageShape shape = StageShape::kOnce;
  int vector_axis = -1;  // index into KernelSpec::axes
  int lanes = 4;         // of every vector of the stage, whatever its dtype
  std::vector<OpPhase> phases;
  // Operations that differ from lane to lane, or may not leave the vector loop; the others are
  // computed before it.
  std::vector<bool> varies;
  // Comparisons of index expressions that 32-bit lanes can do.
  std::vector<bool> narrow;
  // Operations whose values are never needed: operands of narrow comparisons alone.
  std::vector<bool> unused;
  absl::flat_hash_set<Expr> varying_symbols;  // checked indices that differ between lanes
  int weight = 0;                             // operations in the loop, vector math counted as many
};

StagePlan PlanStage(const KernelSpec& spec, const SpecStage& stage, int vector_bytes);

// Vector math of codegen/math, by its name there; "" for everything else.
absl::string_view VectorMathName(OpKind kind, DType operand);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_STAGE_PLAN_H_
