#ifndef LATHE_IR_PASSES_DECOMPOSE_H_
#define LATHE_IR_PASSES_DECOMPOSE_H_

// Replaces operators by what their rows' decompositions write, until nothing is left to replace.
//
//   %y = aten.silu(%x)   ->   %s = aten.sigmoid(%x)   %y = aten.mul.Tensor(%x, %s)

#include "ir/passes/pass.h"

namespace lathe {

// Rows marked composite (ATen's CompositeImplicit ops): before functionalization, since their
// decompositions keep views.
Pass DecomposeCompositesPass();

// Rows that decompose and have no lowering. Needs a functional graph.
Pass DecomposePass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_DECOMPOSE_H_
