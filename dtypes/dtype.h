#ifndef LATHE_DTYPES_DTYPE_H_
#define LATHE_DTYPES_DTYPE_H_

// Element types: every dtype of PyTorch, sub-byte integers included.
//
//   BitWidth(DType::kU3) == 3;  Name(DType::kBF16) == "bf16";  ParseDType("i64") == DType::kI64

#include <array>
#include <cstddef>
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

namespace dtype_internal {
inline constexpr DTypeKind kKinds[] = {
#define LATHE_DTYPE(Name, text, bits, kind) DTypeKind::kind,
#include "dtypes/dtype_list.inc"
};
inline constexpr uint8_t kBitWidths[] = {
#define LATHE_DTYPE(Name, text, bits, kind) bits,
#include "dtypes/dtype_list.inc"
};
}  // namespace dtype_internal

absl::string_view Name(DType dtype);                      // "f32"
std::optional<DType> ParseDType(absl::string_view text);  // nullopt for an unknown name
constexpr DTypeKind Kind(DType dtype) { return dtype_internal::kKinds[static_cast<size_t>(dtype)]; }

// Bits of one element: 1..7 for sub-byte types, 8 for bool.
constexpr int BitWidth(DType dtype) {
  return dtype_internal::kBitWidths[static_cast<size_t>(dtype)];
}

constexpr bool IsBool(DType d) { return Kind(d) == DTypeKind::kBool; }
constexpr bool IsFloat(DType d) { return Kind(d) == DTypeKind::kFloat; }
constexpr bool IsComplex(DType d) { return Kind(d) == DTypeKind::kComplex; }
constexpr bool IsUnsigned(DType d) { return Kind(d) == DTypeKind::kUnsigned; }
constexpr bool IsSigned(DType d) { return Kind(d) == DTypeKind::kSigned; }
// Integers without bool.
constexpr bool IsInteger(DType d) { return IsUnsigned(d) || IsSigned(d); }
constexpr bool IsIntegral(DType d) { return IsInteger(d) || IsBool(d); }
constexpr bool IsSubByte(DType d) { return IsInteger(d) && BitWidth(d) < 8; }
// Named and stored, but never computed with: c32 and f4e2m1fn_x2.
constexpr bool IsStorageOnly(DType d) { return d == DType::kC32 || d == DType::kF4E2M1FNx2; }
// One of the five f8 kinds.
constexpr bool IsF8(DType d) { return d >= DType::kF8E4M3FN && d <= DType::kF8E8M0FNU; }

// The float type of a complex type's parts, the complex type of such parts (f16 -> c32; nullopt
// for bf16 and f8, which have none).
DType ComplexPart(DType complex_dtype);
std::optional<DType> ComplexOf(DType float_dtype);

// Bytes of `count` elements stored densely, rounded up: ceil(count * BitWidth / 8).
// Returns nullopt when that overflows int64 or count is negative.
std::optional<int64_t> ByteSize(DType dtype, int64_t count);

// The type in which ATen's CPU kernels compute on a dtype ("opmath"): f32 for f16, bf16 and f8,
// c64 for c32; itself otherwise.
DType ComputeType(DType dtype);

}  // namespace lathe

#endif  // LATHE_DTYPES_DTYPE_H_
