// Exact arithmetic of f32 and f64.

#include <cmath>
#include <cstring>
#include <type_traits>

#include "codegen/tile/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/float_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/math/vector_math.h"
#include "codegen/tile/element_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace math = lathe::HWY_NAMESPACE;
namespace {  // names are used again in other files

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <class T>
constexpr BitsOf<T> kSignBit = BitsOf<T>{1} << (8 * sizeof(T) - 1);
template <class T>
inline BitsOf<T> ToBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
template <class T>
inline T FromBits(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

#define LATHE_ELEMENT_UNARY(Name, R, expression) \
  struct Name {                                  \
    template <class T>                           \
    static R Apply(T x) {                        \
      return expression;                         \
    }                                            \
  };
#define LATHE_ELEMENT_BINARY(Name, R, expression) \
  struct Name {                                   \
    template <class T>                            \
    static R Apply(T a, T b) {                    \
      return expression;                          \
    }                                             \
  };
LATHE_ELEMENT_UNARY(Neg, T, -x)
LATHE_ELEMENT_UNARY(Abs, T, FromBits<T>(ToBits(x) & ~kSignBit<T>))
LATHE_ELEMENT_UNARY(Sign, T, static_cast<T>((T(0) < x) - (x < T(0))))
LATHE_ELEMENT_UNARY(IsZero, uint8_t, x == T(0))
LATHE_ELEMENT_UNARY(IsNan, uint8_t, x != x)
LATHE_ELEMENT_UNARY(IsInf, uint8_t, (ToBits(x) << 1) == (ToBits(T(HUGE_VALF)) << 1))
LATHE_ELEMENT_UNARY(SignBit, uint8_t, ToBits(x) >> (8 * sizeof(T) - 1))
LATHE_ELEMENT_UNARY(Reciprocal, T, T(1) / x)
LATHE_ELEMENT_BINARY(Add, T, a + b)
LATHE_ELEMENT_BINARY(Sub, T, a - b)
LATHE_ELEMENT_BINARY(Mul, T, a* b)
LATHE_ELEMENT_BINARY(Div, T, a / b)
LATHE_ELEMENT_BINARY(Minimum, T, ((a < b) | (a != a)) ? a : b)
LATHE_ELEMENT_BINARY(Maximum, T, ((a > b) | (a != a)) ? a : b)
LATHE_ELEMENT_BINARY(Fmin, T, ((a < b) | (b != b)) ? a : b)
LATHE_ELEMENT_BINARY(Fmax, T, ((a > b) | (b != b)) ? a : b)
LATHE_ELEMENT_BINARY(CopySign, T,
                     FromBits<T>((ToBits(a) & ~kSignBit<T>) | (ToBits(b) & kSignBit<T>)))
LATHE_ELEMENT_BINARY(Eq, uint8_t, a == b)
LATHE_ELEMENT_BINARY(Ne, uint8_t, a != b)
LATHE_ELEMENT_BINARY(Lt, uint8_t, a < b)
LATHE_ELEMENT_BINARY(Le, uint8_t, a <= b)

#define LATHE_VECTOR(Name, expression) \
  struct Name {                        \
    template <class D, class V>        \
    static V Apply(D, V x) {           \
      return expression;               \
    }                                  \
  };
LATHE_VECTOR(Sqrt, hn::Sqrt(x))
LATHE_VECTOR(Rsqrt, hn::Div(hn::Set(D(), hn::TFromD<D>(1)), hn::Sqrt(x)))
#if HWY_TARGET == HWY_SCALAR  // Highway's loses the sign of zeros
LATHE_VECTOR(Floor, hn::Set(D(), static_cast<hn::TFromD<D>>(__builtin_floor(x.raw))))
LATHE_VECTOR(Ceil, hn::Set(D(), static_cast<hn::TFromD<D>>(__builtin_ceil(x.raw))))
#else
LATHE_VECTOR(Floor, hn::Floor(x))
LATHE_VECTOR(Ceil, hn::Ceil(x))
#endif
LATHE_VECTOR(Trunc, hn::Trunc(x))
LATHE_VECTOR(Round, hn::Round(x))
struct Fma {
  template <class D, class V>
  static V Apply(D d, V a, V b, V c) {
    return math::Fma(d, a, b, c);
  }
};

template <class T>
void AddFor(KernelTable& table, DType dtype) {
  table.at(OpKind::kNeg, dtype) = UnaryLoop<T, T, Neg>;
  table.at(OpKind::kAbs, dtype) = UnaryLoop<T, T, Abs>;
  table.at(OpKind::kSign, dtype) = UnaryLoop<T, T, Sign>;
  table.at(OpKind::kLogicalNot, dtype) = UnaryLoop<T, uint8_t, IsZero>;
  table.at(OpKind::kIsNan, dtype) = UnaryLoop<T, uint8_t, IsNan>;
  table.at(OpKind::kIsInf, dtype) = UnaryLoop<T, uint8_t, IsInf>;
  table.at(OpKind::kSignBit, dtype) = UnaryLoop<T, uint8_t, SignBit>;
  table.at(OpKind::kReciprocal, dtype) = UnaryLoop<T, T, Reciprocal>;
  table.at(OpKind::kAdd, dtype) = BinaryLoop<T, T, Add>;
  table.at(OpKind::kSub, dtype) = BinaryLoop<T, T, Sub>;
  table.at(OpKind::kMul, dtype) = BinaryLoop<T, T, Mul>;
  table.at(OpKind::kDiv, dtype) = BinaryLoop<T, T, Div>;
  table.at(OpKind::kMinimum, dtype) = BinaryLoop<T, T, Minimum>;
  table.at(OpKind::kMaximum, dtype) = BinaryLoop<T, T, Maximum>;
  table.at(OpKind::kFmin, dtype) = BinaryLoop<T, T, Fmin>;
  table.at(OpKind::kFmax, dtype) = BinaryLoop<T, T, Fmax>;
  table.at(OpKind::kCopySign, dtype) = BinaryLoop<T, T, CopySign>;
  table.at(OpKind::kEq, dtype) = BinaryLoop<T, uint8_t, Eq>;
  table.at(OpKind::kNe, dtype) = BinaryLoop<T, uint8_t, Ne>;
  table.at(OpKind::kLt, dtype) = BinaryLoop<T, uint8_t, Lt>;
  table.at(OpKind::kLe, dtype) = BinaryLoop<T, uint8_t, Le>;
  table.at(OpKind::kGt, dtype) = Exchanged<BinaryLoop<T, uint8_t, Lt>>;
  table.at(OpKind::kGe, dtype) = Exchanged<BinaryLoop<T, uint8_t, Le>>;
  table.at(OpKind::kSqrt, dtype) = VectorUnary<T, Sqrt>;
  table.at(OpKind::kRsqrt, dtype) = VectorUnary<T, Rsqrt>;
  table.at(OpKind::kFloor, dtype) = VectorUnary<T, Floor>;
  table.at(OpKind::kCeil, dtype) = VectorUnary<T, Ceil>;
  table.at(OpKind::kTrunc, dtype) = VectorUnary<T, Trunc>;
  table.at(OpKind::kRound, dtype) = VectorUnary<T, Round>;
  table.at(OpKind::kFma, dtype) = VectorTernary<T, Fma>;
  table.at(OpKind::kWhere, dtype) = WhereLoop<BitsOf<T>>;
}

}  // namespace

void AddFloats(KernelTable& table) {
  AddFor<float>(table, DType::kF32);
  AddFor<double>(table, DType::kF64);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddFloats);
void AddFloatKernels(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddFloats)(table); }
}  // namespace lathe::tile
#endif
