#ifndef LATHE_DTYPES_DTYPE_H_
#define LATHE_DTYPES_DTYPE_H_

// Element types: every dtype of PyTorch, sub-byte integers included.
//
//   BitWidth(DType::kU3) == 3;  Name(DType::kBF16) == "bf16";  ParseDType("i64") == DType::kI64

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace lathe {

enum class DType : uint8_t {
#define LATHE_DTYPE(Name, text, bits, kind) k##Name,
#include "dtypes/dtype_list.inc"
};

enum class DTypeKind : uint8_t { kBool, kUnsigned, kSigned, kFloat, kComplex };

inline constexpr int kDTypeCount = 0
#define LATHE_DTYPE(Name, text, bits, kind) +1
#include "dtypes/dtype_list.inc"
    ;

// Every dtype, in the order of the enum.
const std::array<DType, kDTypeCount>& AllDTypes();

absl::string_view Name(DType dtype);                      // "f32"
std::optional<DType> ParseDType(absl::string_view text);  // nullopt for an unknown name
DTypeKind Kind(DType dtype);

// Bits of one element: 1..7 for sub-byte types, 8 for bool.
int BitWidth(DType dtype);

inline bool IsBool(DType d) { return Kind(d) == DTypeKind::kBool; }
inline bool IsFloat(DType d) { return Kind(d) == DTypeKind::kFloat; }
inline bool IsComplex(DType d) { return Kind(d) == DTypeKind::kComplex; }
inline bool IsUnsigned(DType d) { return Kind(d) == DTypeKind::kUnsigned; }
inline bool IsSigned(DType d) { return Kind(d) == DTypeKind::kSigned; }
// Integers without bool.
inline bool IsInteger(DType d) { return IsUnsigned(d) || IsSigned(d); }
inline bool IsIntegral(DType d) { return IsInteger(d) || IsBool(d); }
inline bool IsSubByte(DType d) { return IsInteger(d) && BitWidth(d) < 8; }
// Named and stored, but never computed with: c32 and f4e2m1fn_x2.
bool IsStorageOnly(DType dtype);

// The float type of a complex type's parts, the complex type of such parts (f16 -> c32).
DType ComplexPart(DType complex_dtype);
std::optional<DType> ComplexOf(DType float_dtype);

// Bytes of `count` elements stored densely, rounded up: ceil(count * BitWidth / 8).
// Returns nullopt when that overflows int64 or count is negative.
std::optional<int64_t> ByteSize(DType dtype, int64_t count);

// The type in which ATen's CPU kernels compute on a dtype ("opmath"): f32 for f16, bf16 and f8;
// itself otherwise.
DType ComputeType(DType dtype);

}  // namespace lathe

#endif  // LATHE_DTYPES_DTYPE_H_
