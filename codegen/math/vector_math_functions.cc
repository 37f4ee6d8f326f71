#include "codegen/math/vector_math_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/math/vector_math_functions.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target, once a target.
#include "codegen/math/vector_math.h"

#define LATHE_MATH_UNARY(F)                                                                      \
  F(Exp)                                                                                         \
  F(Exp2)                                                                                        \
  F(Expm1)                                                                                       \
  F(Log)                                                                                         \
  F(Log2) F(Log10) F(Log1p) F(Sin) F(Cos) F(Tan) F(Asin) F(Acos) F(Atan) F(Sinh) F(Cosh) F(Tanh) \
      F(Asinh) F(Acosh) F(Atanh) F(Sigmoid) F(Erf) F(Erfc) F(Rsqrt) F(Reciprocal)
#define LATHE_MATH_BINARY(F) \
  F(Atan2) F(Pow) F(Hypot) F(Fmod) F(Remainder) F(FloorDivide) F(TruncDivide) F(NextAfter)

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace HWY_NAMESPACE {

#define LATHE_DEFINE_UNARY(Name)                            \
  template <typename T>                                     \
  void Run##Name(const T* x, const T*, T* out, size_t n) {  \
    const hn::ScalableTag<T> d;                             \
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {          \
      hn::StoreU(Name(d, hn::LoadU(d, x + i)), d, out + i); \
    }                                                       \
  }
#define LATHE_DEFINE_BINARY(Name)                                                \
  template <typename T>                                                          \
  void Run##Name(const T* x, const T* y, T* out, size_t n) {                     \
    const hn::ScalableTag<T> d;                                                  \
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {                               \
      hn::StoreU(Name(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, out + i); \
    }                                                                            \
  }
LATHE_MATH_UNARY(LATHE_DEFINE_UNARY)
LATHE_MATH_BINARY(LATHE_DEFINE_BINARY)

template <typename T>
std::vector<MathFunction<T>> Functions() {
#define LATHE_LIST(Name) {#Name, &Run##Name<T>},
  return {LATHE_MATH_UNARY(LATHE_LIST) LATHE_MATH_BINARY(LATHE_LIST)};
#undef LATHE_LIST
}
std::vector<MathFunction<float>> FunctionsF32() { return Functions<float>(); }
std::vector<MathFunction<double>> FunctionsF64() { return Functions<double>(); }

}  // namespace HWY_NAMESPACE
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe {
HWY_EXPORT(FunctionsF32);
HWY_EXPORT(FunctionsF64);
std::vector<MathFunction<float>> MathFunctionsF32() { return HWY_DYNAMIC_DISPATCH(FunctionsF32)(); }
std::vector<MathFunction<double>> MathFunctionsF64() {
  return HWY_DYNAMIC_DISPATCH(FunctionsF64)();
}
}  // namespace lathe
#endif
