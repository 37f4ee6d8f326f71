#ifndef LATHE_IR_LOOPS_MAKE_DOTS_H_
#define LATHE_IR_LOOPS_MAKE_DOTS_H_

#include "ir/loops/kernel_spec.h"

namespace lathe {

// Sums of products along rows of packed integers become dots: one operation an element less where
// arithmetic, not memory, is what such a row costs. Other sums keep two roundings, as eager has.
//
//   %3 = mul %1, %2; %4 = reduce sum %3  ->  %3 = reduce sum %1, %2
void MakeDots(KernelSpec& spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_MAKE_DOTS_H_
