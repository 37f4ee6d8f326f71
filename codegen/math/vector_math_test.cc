// Vector math against libm in the next wider type, over all exponents; and the same bits on every
// Highway target.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/math/vector_math_functions.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace lathe {
namespace {

template <typename W>
struct Reference {
  std::string name;
  double bound_f32, bound_f64;  // ULP
  W (*unary)(W);
  W (*binary)(W, W);
};

template <typename W>
W Sigmoid(W x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <typename W>
W PythonRemainder(W x, W y) {
  const W r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// Bounds as vector_math.h states them.
template <typename W>
std::vector<Reference<W>> References() {
  return {
#define LATHE_REFERENCE(Name, f, b32, b64) {#Name, b32, b64, [](W x) -> W { return f; }, nullptr},
#define LATHE_REFERENCE2(Name, f, b32, b64) \
  {#Name, b32, b64, nullptr, [](W x, W y) -> W { return f; }},
      LATHE_REFERENCE(Exp, std::exp(x), 1.25, 1.25)        //
      LATHE_REFERENCE(Exp2, std::exp2(x), 1, 1)            //
      LATHE_REFERENCE(Expm1, std::expm1(x), 1.25, 1.25)    //
      LATHE_REFERENCE(Log, std::log(x), 1, 1)              //
      LATHE_REFERENCE(Log2, std::log2(x), 1, 1)            //
      LATHE_REFERENCE(Log10, std::log10(x), 1, 1)          //
      LATHE_REFERENCE(Log1p, std::log1p(x), 1.25, 1.25)    //
      LATHE_REFERENCE(Sin, std::sin(x), 1, 1)              //
      LATHE_REFERENCE(Cos, std::cos(x), 1, 1)              //
      LATHE_REFERENCE(Tan, std::tan(x), 1, 1)              //
      LATHE_REFERENCE(Asin, std::asin(x), 1.5, 1.5)        //
      LATHE_REFERENCE(Acos, std::acos(x), 1.5, 1.5)        //
      LATHE_REFERENCE(Atan, std::atan(x), 1, 1)            //
      LATHE_REFERENCE(Sinh, std::sinh(x), 2, 2)            //
      LATHE_REFERENCE(Cosh, std::cosh(x), 2, 2)            //
      LATHE_REFERENCE(Tanh, std::tanh(x), 2, 2)            //
      LATHE_REFERENCE(Asinh, std::asinh(x), 2.5, 2.5)      //
      LATHE_REFERENCE(Acosh, std::acosh(x), 2.5, 2.5)      //
      LATHE_REFERENCE(Atanh, std::atanh(x), 2.5, 2.5)      //
      LATHE_REFERENCE(Sigmoid, Sigmoid<W>(x), 2.5, 2.5)    //
      LATHE_REFERENCE(Erf, std::erf(x), 1.5, 1.5)          //
      LATHE_REFERENCE(Erfc, std::erfc(x), 4, 4)            //
      LATHE_REFERENCE(Rsqrt, 1 / std::sqrt(x), 1.5, 1.5)   //
      LATHE_REFERENCE(Reciprocal, 1 / x, 0.5, 0.5)         //
      LATHE_REFERENCE2(Atan2, std::atan2(x, y), 1.5, 1.5)  //
      LATHE_REFERENCE2(Pow, std::pow(x, y), 1, 1)          //
      LATHE_REFERENCE2(Hypot, std::hypot(x, y), 1, 1)      //
  };
}

// Exact in the type itself.
template <typename T>
T Exact(const std::string& name, T x, T y, bool* known) {
  *known = true;
  if (name == "Fmod") return std::fmod(x, y);
  if (name == "Remainder") return PythonRemainder(x, y);
  if (name == "TruncDivide") return std::trunc(x / y);
  if (name == "NextAfter") return std::nextafter(x, y);
  if (name == "FloorDivide") {
    if (y == 0) return x / y;
    const T mod = std::fmod(x, y);
    T div = (x - mod) / y;
    if (mod != 0 && (y < 0) != (mod < 0)) div -= 1;
    if (div == 0) return std::copysign(T(0), x / y);
    T floor = std::floor(div);
    return div - floor > T(0.5) ? floor + 1 : floor;
  }
  *known = false;
  return 0;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
T FromBits(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
template <typename T>
BitsOf<T> ToBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

// Special values, then random mantissas over all exponents and denser over the ordinary ones.
template <typename T>
std::vector<T> Inputs(uint64_t seed, size_t count) {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      1,
                      2,
                      T(0.5),
                      T(1.5),
                      3,
                      10,
                      T(0.25),
                      T(0.75),
                      T(1e-3),
                      100,
                      1000,
                      4,
                      5,
                      7,
                      88,
                      L::infinity(),
                      L::quiet_NaN(),
                      L::min(),
                      L::max(),
                      L::denorm_min(),
                      T(3.14159265358979),
                      T(1.57079632679489661923),
                      T(0.69314718055994531),
                      127,
                      128,
                      129,
                      1023,
                      1024};
  v.resize(32, T(16));
  for (int i = 0; i < 32; ++i) v.push_back(-v[i]);
  std::mt19937_64 random(seed);
  while (v.size() < count) {
    T x = FromBits<T>(static_cast<BitsOf<T>>(random()));
    if (random() % 2) {
      const int wanted = static_cast<int>(random() % 24) - 16;
      x = std::copysign(std::ldexp(T(1) + T(random() % 8388593) / T(8388593), wanted), x);
    }
    v.push_back(x);
  }
  v.resize(count & ~size_t{15});
  return v;
}

// Second operands: every special value meets every other in the first 64 * 64.
template <typename T>
void PairUp(std::vector<T>& x, std::vector<T>& y) {
  const std::vector<T> sx(x.begin(), x.begin() + 64), sy(y.begin(), y.begin() + 64);
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 64; ++k) {
      x[64 * i + k] = sx[i];
      y[64 * i + k] = sy[k];
    }
  }
}

template <typename T, typename W>
double UlpError(T got, W expected) {
  const T rounded = static_cast<T>(expected);
  if (std::isnan(rounded) || std::isnan(got)) {
    return std::isnan(rounded) && std::isnan(got) ? 0 : HUGE_VAL;
  }
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // One of the two is the largest finite number.
    const T largest = std::numeric_limits<T>::max();
    return std::abs(got) >= largest && std::abs(rounded) >= largest ? 1 : HUGE_VAL;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(expected, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const W ulp = std::ldexp(W(1), exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(static_cast<W>(got) - expected) / ulp);
}

template <typename T>
std::vector<MathFunction<T>> AllFunctions() {
  if constexpr (sizeof(T) == 4) {
    return MathFunctionsF32();
  } else {
    return MathFunctionsF64();
  }
}

template <typename T, typename W>
void CheckFunction(const MathFunction<T>& f, const std::vector<T>& x, const std::vector<T>& y,
                   const std::vector<T>& out) {
  for (const Reference<W>& r : References<W>()) {
    if (r.name != f.name) continue;
    const double bound = sizeof(T) == 4 ? r.bound_f32 : r.bound_f64;
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const W expected = r.unary ? r.unary(x[i]) : r.binary(x[i], y[i]);
      const double error = UlpError<T, W>(out[i], expected);
      if (error > worst) worst = error, at = i;
    }
    std::printf("%-12s %s  %.3f ULP at %.9g\n", f.name.c_str(), sizeof(T) == 4 ? "f32" : "f64",
                worst, double(x[at]));
    EXPECT_LE(worst, bound) << f.name << " at x=" << x[at] << " y=" << y[at] << " gives "
                            << out[at];
    return;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    bool known;
    const T expected = Exact<T>(f.name, x[i], y[i], &known);
    ASSERT_TRUE(known) << f.name;
    if (std::isnan(expected) && std::isnan(out[i])) continue;
    ASSERT_EQ(ToBits(expected), ToBits(out[i]))
        << f.name << " x=" << x[i] << " y=" << y[i] << ": " << out[i] << " for " << expected;
  }
}

// Checks every function on every target; returns how many functions there were.
template <typename T, typename W>
size_t Sweep(size_t count) {
  std::vector<T> x = Inputs<T>(1, count), y = Inputs<T>(2, count);
  std::vector<std::vector<T>> first;
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  for (size_t t = 0; t < targets.size(); ++t) {
    hwy::SetSupportedTargetsForTest(targets[t]);
    const std::vector<MathFunction<T>> functions = AllFunctions<T>();
    for (size_t k = 0; k < functions.size(); ++k) {
      std::vector<T> a = x, b = y, out(x.size());
      if (functions[k].name != "Exp") PairUp(a, b);
      functions[k].run(a.data(), b.data(), out.data(), a.size());
      if (t == 0) {
        CheckFunction<T, W>(functions[k], a, b, out);
        first.push_back(out);
        continue;
      }
      for (size_t i = 0; i < out.size(); ++i) {
        if (std::isnan(out[i]) && std::isnan(first[k][i])) continue;
        if (ToBits(out[i]) == ToBits(first[k][i])) continue;
        ADD_FAILURE() << functions[k].name << " on " << hwy::TargetName(targets[t])
                      << " at x=" << a[i] << " y=" << b[i] << ": " << out[i] << " for "
                      << first[k][i];
        break;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  return first.size();
}

// Those with a bound and the five that are exact.
TEST(VectorMath, F32WithinBounds) {
  EXPECT_EQ((Sweep<float, double>(400000)), References<double>().size() + 5);
}
TEST(VectorMath, F64WithinBounds) {
  EXPECT_EQ((Sweep<double, long double>(200000)), References<long double>().size() + 5);
}

}  // namespace
}  // namespace lathe
