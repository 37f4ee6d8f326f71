#ifndef LATHE_DTYPES_PROMOTION_H_
#define LATHE_DTYPES_PROMOTION_H_

// PyTorch's type promotion, exactly (third_party/vectors/promotion.json).
//
//   ResultType({.dtype = DType::kI32, .rank = 1}, {.dtype = DType::kF32, .rank = 0})  -> f32

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"

namespace lathe {

// One operand of a promotion: tensors with a dimension outrank 0-dim tensors, which outrank Python
// scalars, unless the lower one is of a higher category (bool < int < float < complex).
struct PromotionOperand {
  enum class Rank : uint8_t { kDimensioned, kZeroDim, kPythonScalar };
  DType dtype;
  Rank rank = Rank::kDimensioned;
};

// torch.promote_types on two dtypes. InvalidArgument where PyTorch raises (u16 with i32...): the
// message names both types and two ways out.
absl::StatusOr<DType> PromoteTypes(DType a, DType b);

// torch.result_type over all operands. Requires at least one operand.
absl::StatusOr<DType> ResultType(absl::Span<const PromotionOperand> operands);

// Promotion of an op that makes floats of integers (true division, sin, mean): integral -> f32.
DType ToFloatType(DType dtype);

}  // namespace lathe

#endif  // LATHE_DTYPES_PROMOTION_H_
