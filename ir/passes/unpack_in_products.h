#ifndef LATHE_IR_PASSES_UNPACK_IN_PRODUCTS_H_
#define LATHE_IR_PASSES_UNPACK_IN_PRODUCTS_H_

// A product of few rows with a matrix that is unpacked from sub-byte integers becomes a sum of
// products, so that one kernel reads the packed weights: the matrix is never written out.
//
//   %w = aten._to_copy(%packed, dtype=f32)   // u4[n, k]
//   %t = aten.t(%w)
//   %y = aten.mm(%x, %t)                     // f32[1, k]
//   ->  %y = sum over k of unsqueeze(%x, 1) * unsqueeze(%w, 0)

#include "ir/passes/pass.h"

namespace lathe {

Pass UnpackInProductsPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_UNPACK_IN_PRODUCTS_H_
