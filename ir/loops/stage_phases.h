#ifndef LATHE_IR_LOOPS_STAGE_PHASES_H_
#define LATHE_IR_LOOPS_STAGE_PHASES_H_

#include <cstdint>
#include <vector>

#include "ir/loops/kernel_spec.h"

namespace lathe {

// When an operation of a stage with reduce axes runs. In a stage without them, everything that is
// not kUniform is kElement and there is no difference.
enum class OpPhase : uint8_t {
  kUniform,  // the same for all indexes of the reduce axes: constants, locals, arithmetic on them
  kElement,  // for every element, Reduce operations included (they accumulate)
  kReduced,  // after the reduction, once for every position of the parallel axes
};

// True for a local whose axes include a reduce axis: it is stored and loaded element by element.
bool KeepsEveryElement(const KernelSpec& spec, const SpecLocal& local);

// A sum of products (kernel_spec.h).
inline bool IsDot(const LoopOp& op) {
  return op.kind == OpKind::kReduce && op.reduce == ReduceKind::kSum && op.operands.size() == 2;
}
// argmax and argmin: their second operand is a position.
inline bool IsArgument(ReduceKind kind) {
  return kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
}

// The phase of each operation. In a stage with reduce axes, StoreLocal and LoadLocal are kElement
// for a local that keeps every element; any other StoreLocal is kReduced, any other LoadLocal
// kUniform. A Reduce is kElement; what uses its result is kReduced.
std::vector<OpPhase> StagePhases(const KernelSpec& spec, const SpecStage& stage);

// The stage's reduce axes and parallel axes (indexes into KernelSpec::axes), outer to inner.
std::vector<int> ReduceAxes(const KernelSpec& spec, const SpecStage& stage);
std::vector<int> ParallelAxes(const KernelSpec& spec, const SpecStage& stage);

// Whether the last two reduce axes count as one when they reduce: the order that kernel_spec.h
// states for rows cut into groups.
bool InnerReducesInLine(const KernelSpec& spec, const SpecStage& stage);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_STAGE_PHASES_H_
