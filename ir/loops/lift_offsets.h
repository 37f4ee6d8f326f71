#ifndef LATHE_IR_LOOPS_LIFT_OFFSETS_H_
#define LATHE_IR_LOOPS_LIFT_OFFSETS_H_

#include <cstdint>
#include <vector>

#include "ir/loops/kernel_spec.h"

namespace lathe {

// What every access of a buffer adds to its index, in elements, by buffer.
std::vector<int64_t> OffsetsOf(const KernelSpec& spec);

// Takes the offsets from the accesses and returns them: the launch adds them. So kernels that
// differ only in which part of a buffer they touch, as the steps of an unrolled loop do, are one
// kernel.
//
//   b0[216 + 72*i0 + i1], b0[240 + 72*i0 + i1]  ->  b0[72*i0 + i1], b0[24 + 72*i0 + i1] and 216
std::vector<int64_t> LiftOffsets(KernelSpec& spec);

// "k_" and 16 digits of the hash of the spec with its offsets lifted: what is one kernel has one
// name.
std::string NameOfSpec(KernelSpec spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_LIFT_OFFSETS_H_
