#include "codegen/tile/checked_kernels.h"

#include <limits>
#include <type_traits>

namespace lathe::tile {
namespace {

template <typename T>
T Trunc(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == T{-1}) return static_cast<T>(U{0} - static_cast<U>(a));
  }
  return static_cast<T>(a / b);
}
template <typename T>
T TruncRemainder(T a, T b) {
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <typename T>
T Floor(T a, T b) {
  const T q = Trunc(a, b);
  if (std::is_signed_v<T> && (a < 0) != (b < 0) && TruncRemainder(a, b) != 0) {
    return static_cast<T>(q - 1);
  }
  return q;
}
template <typename T>
T Modulo(T a, T b) {
  const T r = TruncRemainder(a, b);
  return std::is_signed_v<T> && r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}

template <typename T, T (*kOp)(T, T)>
bool Divide(void* dst, const void* a, const void* b, const uint8_t* mask, int64_t n,
            uint32_t scalars) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const int64_t sx = (scalars & 1) == 0, sy = (scalars & 2) == 0, sm = (scalars & 4) == 0;
  for (int64_t i = 0; i < n; ++i) {
    const T p = x[i * sx], q = y[i * sy];
    if (mask != nullptr && mask[i * sm] == 0) {
      d[i] = 0;
      continue;
    }
    if (q == 0) return false;
    d[i] = kOp(p, q);
  }
  return true;
}

template <typename T>
DivisionFunction FindFor(OpKind kind) {
  switch (kind) {
    case OpKind::kFloorDiv:
      return Divide<T, Floor<T>>;
    case OpKind::kTruncDiv:
      return Divide<T, Trunc<T>>;
    case OpKind::kRemainder:
      return Divide<T, Modulo<T>>;
    case OpKind::kFmod:
      return Divide<T, TruncRemainder<T>>;
    default:
      return nullptr;
  }
}

int64_t Power(int64_t base, int64_t exponent) {
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

// Divisions by one positive number, the common case, take its quotient in double precision where
// that is exact up to one.
template <int64_t (*kOp)(int64_t, int64_t), bool kNeedsDivisor>
void IndexLoop(int64_t* dst, const int64_t* a, const int64_t* b, int64_t n, uint32_t scalars) {
  const int64_t sa = (scalars & 1) == 0, sb = (scalars & 2) == 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t p = a[i * sa], q = b[i * sb];
    dst[i] = kNeedsDivisor && q == 0 ? 0 : kOp(p, q);
  }
}

// x // d and x % d for d > 0 and |x| < 2^51: the rounded quotient is off by one at most.
template <bool kMod>
void FloorByConstant(int64_t* dst, const int64_t* a, const int64_t* b, int64_t n,
                     uint32_t scalars) {
  constexpr int64_t kLimit = int64_t{1} << 51;
  const int64_t divisor = *b;
  if ((scalars & 3) != 2 || divisor <= 0 || divisor >= kLimit) {
    return IndexLoop < kMod ? Modulo<int64_t> : Floor<int64_t>, true > (dst, a, b, n, scalars);
  }
  int64_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest |= a[i] ^ (a[i] >> 63);
  if (largest >= kLimit) {
    return IndexLoop < kMod ? Modulo<int64_t> : Floor<int64_t>, true > (dst, a, b, n, scalars);
  }
  // 1.5 * 2^52 puts an integer into the low bits of a double.
  constexpr double kMagic = 6755399441055744.0;
  constexpr int64_t kMagicBits = 0x4338000000000000;
  const double inverse = 1.0 / static_cast<double>(divisor);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t x = a[i];
    const double value = __builtin_bit_cast(double, x + kMagicBits) - kMagic;
    int64_t q = __builtin_bit_cast(int64_t, value * inverse + kMagic) - kMagicBits;
    int64_t r = x - q * divisor;
    const int64_t below = r >> 63;  // -1 where the quotient is one too large
    q += below;
    r += below & divisor;
    dst[i] = kMod ? r : q;
  }
}

}  // namespace

DivisionFunction FindDivision(OpKind kind, DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return FindFor<uint8_t>(kind);
    case DType::kU16:
      return FindFor<uint16_t>(kind);
    case DType::kU32:
      return FindFor<uint32_t>(kind);
    case DType::kU64:
      return FindFor<uint64_t>(kind);
    case DType::kI8:
      return FindFor<int8_t>(kind);
    case DType::kI16:
      return FindFor<int16_t>(kind);
    case DType::kI32:
      return FindFor<int32_t>(kind);
    case DType::kI64:
      return FindFor<int64_t>(kind);
    default:
      return nullptr;
  }
}

IndexFunction FindIndexFunction(IndexOp op) {
  switch (op) {
    case IndexOp::kFloorDiv:
      return FloorByConstant<false>;
    case IndexOp::kMod:
      return FloorByConstant<true>;
    case IndexOp::kTruncDiv:
      return IndexLoop<Trunc<int64_t>, true>;
    case IndexOp::kTruncMod:
      return IndexLoop<TruncRemainder<int64_t>, true>;
    case IndexOp::kPow:
      return IndexLoop<Power, false>;
  }
  return nullptr;
}

bool CheckIndices(int64_t* dst, const int64_t* a, const uint8_t* mask, int64_t n, int64_t size,
                  uint32_t scalars, int64_t* bad) {
  const int64_t sa = (scalars & 1) == 0, sm = (scalars & 4) == 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t index = a[i * sa];
    if (mask != nullptr && mask[i * sm] == 0) {
      dst[i] = 0;
      continue;
    }
    if (index < -size || index >= size) {
      *bad = index;
      return false;
    }
    dst[i] = index < 0 ? index + size : index;
  }
  return true;
}

bool CheckConditions(const uint8_t* condition, const uint8_t* mask, int64_t n, uint32_t scalars) {
  const int64_t sc = (scalars & 1) == 0, sm = (scalars & 4) == 0;
  for (int64_t i = 0; i < n; ++i) {
    if (condition[i * sc] == 0 && (mask == nullptr || mask[i * sm] != 0)) return false;
  }
  return true;
}

}  // namespace lathe::tile
