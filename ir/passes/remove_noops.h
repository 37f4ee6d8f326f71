#ifndef LATHE_IR_PASSES_REMOVE_NOOPS_H_
#define LATHE_IR_PASSES_REMOVE_NOOPS_H_

// Removes views that show their input as it is (alias, detach, expand to the same sizes, full
// slices), and copies of the same dtype, device and layout that neither reach an output nor are
// viewed. Needs a functional graph.
//
//   %d = aten.detach(%x)   %y = aten.relu(%d)   ->   %y = aten.relu(%x)

#include "ir/passes/pass.h"

namespace lathe {

Pass RemoveNoopsPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_REMOVE_NOOPS_H_
