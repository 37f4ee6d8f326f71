#include "dtypes/dtype.h"

#include "dtypes/base/check.h"

namespace lathe {
namespace {

constexpr absl::string_view kNames[] = {
#define LATHE_DTYPE(Name, text, bits, kind) text,
#include "dtypes/dtype_list.inc"
};

}  // namespace

const std::array<DType, kDTypeCount>& AllDTypes() {
  static constexpr std::array<DType, kDTypeCount> kAll = {
#define LATHE_DTYPE(Name, text, bits, kind) DType::k##Name,
#include "dtypes/dtype_list.inc"
  };
  return kAll;
}

absl::string_view Name(DType dtype) { return kNames[static_cast<size_t>(dtype)]; }

std::optional<DType> ParseDType(absl::string_view text) {
  for (DType dtype : AllDTypes()) {
    if (Name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

DType ComplexPart(DType complex_dtype) {
  switch (complex_dtype) {
    case DType::kC32:
      return DType::kF16;
    case DType::kC64:
      return DType::kF32;
    case DType::kC128:
      return DType::kF64;
    default:
      LATHE_UNREACHABLE();
  }
}

std::optional<DType> ComplexOf(DType float_dtype) {
  switch (float_dtype) {
    case DType::kF16:
      return DType::kC32;
    case DType::kF32:
      return DType::kC64;
    case DType::kF64:
      return DType::kC128;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> ByteSize(DType dtype, int64_t count) {
  if (count < 0) return std::nullopt;
  const int64_t bits = BitWidth(dtype);
  int64_t whole = 0, size = 0;
  // Eight elements fill `bits` bytes, so nothing near count * bits is formed.
  if (__builtin_mul_overflow(count / 8, bits, &whole)) return std::nullopt;
  if (__builtin_add_overflow(whole, (count % 8 * bits + 7) / 8, &size)) return std::nullopt;
  return size;
}

DType ComputeType(DType dtype) {
  if (dtype == DType::kF16 || dtype == DType::kBF16 || IsF8(dtype)) return DType::kF32;
  if (dtype == DType::kC32) return DType::kC64;
  return dtype;
}

}  // namespace lathe
