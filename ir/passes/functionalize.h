#ifndef LATHE_IR_PASSES_FUNCTIONALIZE_H_
#define LATHE_IR_PASSES_FUNCTIONALIZE_H_

// Replaces in-place operators by functional ones, so that every value is what it was when made.
//
//   %t = aten.t(%x)                        %t = aten.t(%x)
//   %m = aten.mul_.Tensor(%t, %y)    ->    %m = aten.mul.Tensor(%t, %y)
//   %z = aten.relu(%x)                     %x_1 = aten.t(%m)              // the base, updated
//   return %z, %t                          %z = aten.relu(%x_1)
//                                          %t_1 = aten.t(%x_1)            // the view, replayed
//                                          return %z, %t_1 aliases %x, mutates %x = %x_1
//
// A write through a view updates the tensor it views (OpRow::view_inverse); other views of that
// tensor are replayed where they are next used. Inputs that were written become trailing mutation
// outputs; user outputs that share storage with an input or an earlier output say so.
//
// Needs composites decomposed. Refuses by name: writes to elements that overlap (expanded tensors),
// writes without a functional form, writes to the inputs of sub-graphs.

#include "ir/passes/pass.h"

namespace lathe {

Pass FunctionalizePass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_FUNCTIONALIZE_H_
