#ifndef LATHE_RUNTIME_ABI_PLAN_FIELDS_H_
#define LATHE_RUNTIME_ABI_PLAN_FIELDS_H_

// Every struct of a Plan as the list of its fields, once, for the writer and the reader of bytes.
// The order is the format: a change needs another Plan::kVersion.

#include "runtime/abi/plan.h"

namespace lathe::plan_internal {

template <typename A>
void Fields(A& a, SizeInstruction& v) {
  a(v.op, v.dst, v.a, v.b, v.c, v.immediate);
}
template <typename A>
void Fields(A& a, PlanInput& v) {
  a(v.name, v.is_weight, v.is_scalar, v.scalar, v.dtype, v.rank, v.size_registers,
    v.stride_registers, v.offset_register, v.expected_sizes, v.needs_contiguous, v.memory_order,
    v.expected_offset, v.is_mutated, v.tensor);
}
template <typename A>
void Fields(A& a, EvalStep& v) {
  a(v.program.code);
}
template <typename A>
void Fields(A& a, ReserveStep::Piece& v) {
  a(v.storage, v.size_bytes, v.first_step, v.last_step, v.node, v.source);
}
template <typename A>
void Fields(A& a, ReserveStep& v) {
  a(v.pieces);
}
template <typename A>
void Fields(A& a, AllocateStep& v) {
  a(v.storage, v.size_bytes, v.node, v.source);
}
template <typename A>
void Fields(A& a, ViewStep& v) {
  a(v.tensor, v.storage, v.base, v.dtype, v.sizes, v.strides, v.offset);
}
template <typename A>
void Fields(A& a, LaunchStep& v) {
  a(v.kernel, v.buffers, v.scalars, v.extent, v.offsets, v.node, v.source);
}
template <typename A>
void Fields(A& a, ExternStep& v) {
  a(v.id, v.attributes, v.inputs, v.outputs, v.allocates, v.integers, v.epilogues, v.operands,
    v.operand_dtype, v.node, v.source);
}
template <typename A>
void Fields(A& a, BindSizeStep& v) {
  a(v.tensor, v.dimension, v.target);
}
template <typename A>
void Fields(A& a, BindItemStep& v) {
  a(v.tensor, v.target);
}
template <typename A>
void Fields(A& a, AssertStep& v) {
  a(v.condition, v.message, v.names, v.values, v.node, v.source);
}
template <typename A>
void Fields(A& a, CopyStep& v) {
  a(v.destination, v.source);
}
template <typename A>
void Fields(A& a, CondStep& v) {
  a(v.predicate, v.branches, v.inputs, v.scalar_inputs, v.outputs, v.node, v.source);
}
template <typename A>
void Fields(A& a, WhileStep& v) {
  a(v.condition, v.body, v.carried, v.additional, v.scalar_inputs, v.outputs);
}
template <typename A>
void Fields(A& a, CollectiveStartStep& v) {
  a(v.op, v.reduce, v.group, v.inputs, v.outputs, v.handle);
}
template <typename A>
void Fields(A& a, CollectiveWaitStep& v) {
  a(v.handle);
}
template <typename A>
void Fields(A& a, OpaqueStep& v) {
  a(v.callback, v.inputs, v.integers, v.outputs, v.node, v.source);
}
template <typename A>
void Fields(A& a, ReturnStep::Output& v) {
  a(v.tensor, v.scalar, v.kind);
}
template <typename A>
void Fields(A& a, ReturnStep& v) {
  a(v.outputs);
}
template <typename A>
void Fields(A& a, PlanKernelError& v) {
  a(v.node, v.source, v.message);
}
template <typename A>
void Fields(A& a, PlanKernel& v) {
  a(v.name, v.grain, v.errors);
}
template <typename A>
void Fields(A& a, Plan& v) {
  a(v.inputs, v.register_count, v.storage_count, v.tensor_count, v.steps, v.kernels, v.callbacks,
    v.subplans);
}

}  // namespace lathe::plan_internal

#endif  // LATHE_RUNTIME_ABI_PLAN_FIELDS_H_
