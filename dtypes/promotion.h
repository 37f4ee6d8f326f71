#ifndef LATHE_DTYPES_PROMOTION_H_
#define LATHE_DTYPES_PROMOTION_H_

// PyTorch's type promotion, exactly (third_party/vectors/promotion.json).
//
//   using Rank = PromotionOperand::Rank;
//   ResultType({{DType::kI32}, {DType::kF32, Rank::kZeroDim}})  -> f32
//   PromoteTypes(DType::kU16, DType::kI32)                      -> InvalidArgument, as in PyTorch
//   PromoteTypes(DType::kU16, DType::kI32, PromotionRules::kExtended)  -> i32

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"

namespace lathe {

enum class PromotionRules : uint8_t {
  kPyTorch,
  // PyTorch's answer where it has one. Otherwise integers (sub-byte ones and bool included) give
  // the narrowest integer type that holds every value of both, and an integer with a float or
  // complex gives the latter. A lattice on the integers: commutative, associative, monotone. u64
  // with a signed type has no such type and stays an error, and so does f8 with another float.
  kExtended,
};

// One operand of a promotion: tensors with a dimension outrank 0-dim tensors, which outrank Python
// scalars, unless the lower one is of a higher category (bool < int < float < complex).
// A Python float or complex counts as f32 or c64, whatever its dtype says.
struct PromotionOperand {
  enum class Rank : uint8_t { kDimensioned, kZeroDim, kPythonScalar };
  DType dtype;
  Rank rank = Rank::kDimensioned;
};

// torch.promote_types on two dtypes. InvalidArgument where PyTorch raises (u16 with i32...): the
// message names both types and two ways out.
absl::StatusOr<DType> PromoteTypes(DType a, DType b,
                                   PromotionRules rules = PromotionRules::kPyTorch);

// torch.result_type over all operands. Requires at least one operand.
absl::StatusOr<DType> ResultType(absl::Span<const PromotionOperand> operands,
                                 PromotionRules rules = PromotionRules::kPyTorch);

// Promotion of an op that makes floats of integers (sin, exp): integral -> f32.
DType ToFloatType(DType dtype);

// True division: ResultType, then ToFloatType.
absl::StatusOr<DType> TrueDivType(absl::Span<const PromotionOperand> operands,
                                  PromotionRules rules = PromotionRules::kPyTorch);

// sum, prod, cumsum, cumprod without a dtype: integral -> i64.
DType SumType(DType dtype);

// mean, var, std, norm without a dtype: floats and complex keep theirs, InvalidArgument for
// integral ones.
absl::StatusOr<DType> MeanType(DType dtype);

// and, or, xor: ResultType, which must be integral.
absl::StatusOr<DType> BitwiseType(absl::Span<const PromotionOperand> operands,
                                  PromotionRules rules = PromotionRules::kPyTorch);

// The type in which lt, le, gt, ge (kOrder) or eq, ne (kEquality) compare; their result is bool.
// Complex numbers have no order: InvalidArgument.
enum class Comparison : uint8_t { kOrder, kEquality };
absl::StatusOr<DType> ComparisonType(Comparison comparison,
                                     absl::Span<const PromotionOperand> operands,
                                     PromotionRules rules = PromotionRules::kPyTorch);

}  // namespace lathe

#endif  // LATHE_DTYPES_PROMOTION_H_
