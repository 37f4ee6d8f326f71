#ifndef LATHE_IR_PASSES_FOLD_CONSTANTS_H_
#define LATHE_IR_PASSES_FOLD_CONSTANTS_H_

// Computes pure nodes whose inputs are all constants or creations of at most 1 KiB, with the row's
// evaluate. A result with one value throughout becomes aten.full, which later inlines; others a
// `constant`. Nothing random is folded.
//
//   %a = aten.full([2], 3.0)   %b = aten.exp(%a)   ->   %b = aten.full([2], 20.085537)

#include "ir/passes/pass.h"

namespace lathe {

Pass FoldConstantsPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_FOLD_CONSTANTS_H_
