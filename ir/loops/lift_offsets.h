#ifndef LATHE_IR_LOOPS_LIFT_OFFSETS_H_
#define LATHE_IR_LOOPS_LIFT_OFFSETS_H_

#include <cstdint>
#include <vector>

#include "ir/loops/kernel_spec.h"

namespace lathe {

// Takes from every access of a buffer what is the same number in all of them, and returns it, in
// elements, by buffer: the launch adds it. So kernels that differ only in which part of a buffer
// they touch, as the steps of an unrolled loop do, are one kernel.
//
//   b0[216 + 72*i0 + i1], b0[240 + 72*i0 + i1]  ->  b0[72*i0 + i1], b0[24 + 72*i0 + i1] and 216
std::vector<int64_t> LiftOffsets(KernelSpec& spec);

// "k_" and 16 digits: the name of a spec whose offsets are lifted. Equal code has equal names.
std::string NameOfSpec(const KernelSpec& spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_LIFT_OFFSETS_H_
