#ifndef LATHE_IR_PASSES_CHECK_ITEMS_H_
#define LATHE_IR_PASSES_CHECK_ITEMS_H_

// A program may state a number that it reads out of a tensor as something it knows already: a
// constant, a size of an input, an expression over them. Such a statement becomes an assertion;
// otherwise nothing would need the number, and it would never be read.
//
//   %item = aten.item(%n) : int(s0 + 1)
//   ->  %item = aten.item(%n) : int(u0)
//       aten._assert_scalar(u0 == s0 + 1, "%item must be s0 + 1")

#include "ir/passes/pass.h"

namespace lathe {

Pass CheckItemsPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_CHECK_ITEMS_H_
