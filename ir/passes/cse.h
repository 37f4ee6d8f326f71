#ifndef LATHE_IR_PASSES_CSE_H_
#define LATHE_IR_PASSES_CSE_H_

// Merges pure nodes that compute the same: operator, arguments, tags and result types equal. Two
// values behind outputs are never merged, since they must not share storage.
//
//   %a = aten.sin(%x)   %b = aten.sin(%x)   %c = aten.add.Tensor(%a, %b)
//   ->   %a = aten.sin(%x)   %c = aten.add.Tensor(%a, %a)

#include "ir/passes/pass.h"

namespace lathe {

Pass CsePass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_CSE_H_
