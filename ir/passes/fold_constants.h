#ifndef LATHE_IR_PASSES_FOLD_CONSTANTS_H_
#define LATHE_IR_PASSES_FOLD_CONSTANTS_H_

// Computes pure nodes of at most 1 KiB whose inputs are all constants or creations, and of at most
// 64 KiB that depend on weights which the program never changes (a batch norm's scale and shift),
// with the row's evaluate. A result with one value throughout becomes aten.full, which later
// inlines; others a `constant`. Views of weights stay views. A creation that a precompiled function
// reads becomes a constant, since it cannot be computed where it is read. Nothing random is folded.
//
//   %a = aten.full([2], 3.0)   %b = aten.exp(%a)   ->   %b = aten.full([2], 20.085537)

#include "ir/passes/pass.h"

namespace lathe {

Pass FoldConstantsPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_FOLD_CONSTANTS_H_
