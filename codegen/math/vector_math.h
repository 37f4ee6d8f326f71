// Vector math for both CPU tiers: one text, compiled inside Highway's foreach_target by the tile
// tier and against the native tier's own small header, so that both compute the same bits.
//
// CONTRACT: all that this file uses from its surroundings. A header that defines these, with
// Highway's meaning, can stand in for hwy/highway.h; it then defines LATHE_MINI_HIGHWAY.
//   Macros      HWY_NAMESPACE, HWY_BEFORE_NAMESPACE(), HWY_AFTER_NAMESPACE(),
//               HWY_NATIVE_FMA (1: MulAdd and friends round once; 0: they are not called)
//   C types     int32_t, uint32_t, int64_t, uint64_t, size_t
//   In namespace hwy::HWY_NAMESPACE, for tags D of f32, f64, i32, i64, u32, u64:
//   Types       Vec<D>, TFromD<D>, RebindToSigned<D>, RebindToUnsigned<D>
//   Shape       Lanes(d), MaxLanes(d)                (constexpr or not; MaxLanes sizes an array)
//   Memory      Set(d, x), Zero(d), LoadU(d, p), StoreU(v, d, p)
//   Arithmetic  Add, Sub  (floats and integers);  Mul, Div, Sqrt, Neg, Abs  (floats)
//               MulAdd(a, b, c) = a*b+c, MulSub = a*b-c, NegMulAdd = c-a*b
//               Min, Max  (floats, never given NaN here)
//   Rounding    Round (half to even), Floor, Ceil, Trunc  (floats)
//   Bits        And, Or, Xor, AndNot(a, b) = ~a & b, BitCast(d, v), CopySign(magnitude, sign)
//               ShiftLeft<n>, ShiftRight<n>  (i32, i64: arithmetic for 32 bits; u32, u64)
//   Masks       Eq, Ne, Lt, Le, Gt, Ge  (f32, f64, i32, i64);  IsNaN
//               And, Or, Not, AndNot of masks; RebindMask(d, m) between dtypes of one size
//               IfThenElse(m, a, b), IfThenElseZero(m, a), IfThenZeroElse(m, b)
//               AllFalse(d, m), AllTrue(d, m)
//   Builtins of g++ and clang: __builtin_{fma,fmaf,fmod,fmodf,nextafter,nextafterf}, which become
//   calls of libm; unsigned __int128.
//
// ERRORS, both f32 and f64, largest seen rounded up, in units in the last place (ULP) of the exact
// result; NaN, infinities, -0.0 and denormals come out as C's libm has them:
//   1      exp2 log log2 log10 sin cos tan atan pow hypot (all arguments, large ones included)
//   1.25   exp expm1 log1p          1.5   asin acos atan2 erf rsqrt
//   2      sinh cosh tanh           2.5   asinh acosh atanh sigmoid          4   erfc
//   exact  fmod remainder floor_divide trunc_divide nextafter reciprocal
// Nothing here depends on the vector's width, and a fused multiply-add is emulated where there is
// none, so the bits are the same on every target.

#if defined(LATHE_CODEGEN_MATH_VECTOR_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_CODEGEN_MATH_VECTOR_MATH_H_
#undef LATHE_CODEGEN_MATH_VECTOR_MATH_H_
#else
#define LATHE_CODEGEN_MATH_VECTOR_MATH_H_
#endif

#ifndef LATHE_MINI_HIGHWAY
#include "hwy/highway.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#ifndef LATHE_MATH_INLINE
#define LATHE_MATH_INLINE inline __attribute__((always_inline))
#endif

template <class V>
struct Pair {  // an unevaluated sum
  V hi, low;
};

// ---- Constants. Polynomials are minimax fits (Remez) of fit_coefficients.py, lowest power first;
// the number beside each is the error it leaves in its function, rounding of coefficients included.
template <class T>
struct MathTable;

template <>
struct MathTable<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr float kBias = 127.0f;
  static constexpr float kMagic = 12582912.0f;   // 1.5 * 2^kMantissaBits
  static constexpr float kInteger = 8388608.0f;  // 2^kMantissaBits, and its bits
  static constexpr uint32_t kIntegerBits = 0x4b000000;
  static constexpr uint32_t kOneBits = 0x3f800000;
  static constexpr uint32_t kSqrtHalfBits = 0x3f3504f3;
  static constexpr uint32_t kMantissaMask = 0x7fffff;
  static constexpr float kMinNormal = 0x1p-126f;
  static constexpr float kDenormalLift = 0x1p24f;
  static constexpr float kInfinity = __builtin_inff();
  static constexpr float kNaN = __builtin_nanf("");
  static constexpr float kTiny = 0x1p-30f;
  static constexpr float kInvLn2Hi = 1.44269502f;
  static constexpr float kInvLn2Low = 1.92596303e-08f;
  static constexpr float kLn2Hi = 0.693147182f;
  static constexpr float kLn2Low = -1.90465421e-09f;
  static constexpr float kInvLn10Hi = 0.434294492f;
  static constexpr float kInvLn10Low = -1.010305e-08f;
  static constexpr float kLog10Of2Hi = 0.30103001f;
  static constexpr float kLog10Of2Low = -1.43209888e-08f;
  static constexpr float kTwoThirdsHi = 0.666666687f;
  static constexpr float kTwoThirdsLow = -1.98682155e-08f;
  static constexpr float kHalfPi1 = 1.57079637f;
  static constexpr float kHalfPi2 = -4.37113883e-08f;
  static constexpr float kHalfPi3 = -1.71512451e-15f;
  static constexpr float kTwoOverPi = 0.636619747f;
  static constexpr float kThreeQuarterPi = 2.3561945f;
  static constexpr float kThreeQuarterPiLow = -5.96244032e-09f;
  // Arguments are clamped to these: beyond them the result is constant.
  static constexpr float kExpLow = -104.0f;
  static constexpr float kExpHigh = 89.0f;
  static constexpr float kExpUsual = 86.0f;  // no denormal, no overflow
  static constexpr float kExp2Low = -151.0f;
  static constexpr float kExp2High = 129.0f;
  static constexpr float kExpm1Low = -18.0f;
  static constexpr float kTanhHigh = 10.0f;
  static constexpr float kSinhHigh = 89.5f;
  static constexpr float kAsinhBig = 0x1p14f;
  static constexpr float kTrigBig = 0x1p17f;
  static constexpr float kErfHigh = 4.0f;
  static constexpr float kErfcHigh = 11.0f;
  static constexpr float kErfcCenter = 2.0f;
  static constexpr float kAtan2Big = 0x1p124f;
  static constexpr float kAtan2Small = 0x1p-60f;
  static constexpr float kAtan2Lift = 0x1p40f;
  static constexpr float kHypotBig = 0x1p60f;
  static constexpr float kHypotSmall = 0x1p-50f;
  static constexpr float kHypotUp = 0x1p100f;
  static constexpr float kHypotDown = 0x1p-100f;
  static float ScalarFma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static float ScalarFmod(float a, float b) { return __builtin_fmodf(a, b); }
  static float ScalarNextAfter(float a, float b) { return __builtin_nextafterf(a, b); }
  static constexpr float kExp[5] = {0.5f, 0.166665152f, 0.0416665822f, 0.00836939365f,
                                    0.00139213563f};  // 2^-28.1
  static constexpr float kExp2[7] = {0.693147182f,   0.240226507f,   0.0555041097f,
                                     0.00961803645f, 0.00133334287f, 0.000154673646f,
                                     1.53153105e-05f};  // 2^-29.0
  static constexpr float kLog[4] = {0.666666627f, 0.400009722f, 0.284987211f,
                                    0.2428087f};  // 2^-35.1
  static constexpr float kLogTail[4] = {0.399999976f, 0.285719723f, 0.221796244f,
                                        0.195592999f};                                 // 2^-42.9
  static constexpr float kSin[3] = {-0.166666538f, 0.00833210163f, -0.000195067012f};  // 2^-27.8
  static constexpr float kCos[3] = {0.0416666456f, -0.00138873013f, 2.44305975e-05f};  // 2^-33.1
  static constexpr float kAsin[5] = {0.166667536f, 0.0749524832f, 0.0454767272f, 0.0241477843f,
                                     0.0422203764f};  // 2^-27.5
  static constexpr float kAtan[5] = {-0.333333164f, 0.199985325f, -0.142444924f, 0.10600023f,
                                     -0.0609233715f};  // 2^-30.1
  static constexpr float kErf[7] = {0.128379166f,   -0.37612626f,   0.112836003f,
                                    -0.0268544443f, 0.00518953474f, -0.000802083581f,
                                    7.88909965e-05f};  // 2^-26.0
  static constexpr float kErfc[12] = {
      1.27697837f,     -0.0927638188f,   -0.166030511f,   0.164050877f,
      -0.0542181209f,  -0.00802956801f,  0.00871156156f,  0.001249447f,
      -0.00142856361f, -0.000399957673f, 0.000177482332f, 8.32509395e-05f};  // 2^-26.3
};

template <>
struct MathTable<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr double kBias = 1023.0;
  static constexpr double kMagic = 6755399441055744.0;    // 1.5 * 2^kMantissaBits
  static constexpr double kInteger = 4503599627370496.0;  // 2^kMantissaBits, and its bits
  static constexpr uint64_t kIntegerBits = 0x4330000000000000;
  static constexpr uint64_t kOneBits = 0x3ff0000000000000;
  static constexpr uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  static constexpr uint64_t kMantissaMask = 0xfffffffffffff;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kDenormalLift = 0x1p53;
  static constexpr double kInfinity = __builtin_inf();
  static constexpr double kNaN = __builtin_nan("");
  static constexpr double kTiny = 0x1p-60;
  static constexpr double kInvLn2Hi = 1.4426950408889634;
  static constexpr double kInvLn2Low = 2.0355273740931033e-17;
  static constexpr double kLn2Hi = 0.69314718055994529;
  static constexpr double kLn2Low = 2.3190468138462996e-17;
  static constexpr double kInvLn10Hi = 0.43429448190325182;
  static constexpr double kInvLn10Low = 1.0983196502167651e-17;
  static constexpr double kLog10Of2Hi = 0.3010299956639812;
  static constexpr double kLog10Of2Low = -2.8037281277851704e-18;
  static constexpr double kTwoThirdsHi = 0.66666666666666663;
  static constexpr double kTwoThirdsLow = 3.7007434154171883e-17;
  static constexpr double kHalfPi1 = 1.5707963267948966;
  static constexpr double kHalfPi2 = 6.123233995736766e-17;
  static constexpr double kHalfPi3 = -1.4973849048591698e-33;
  static constexpr double kTwoOverPi = 0.63661977236758138;
  static constexpr double kThreeQuarterPi = 2.3561944901923448;
  static constexpr double kThreeQuarterPiLow = 9.1848509936051484e-17;
  // Arguments are clamped to these: beyond them the result is constant.
  static constexpr double kExpLow = -746.0;
  static constexpr double kExpHigh = 710.0;
  static constexpr double kExpUsual = 707.0;
  static constexpr double kExp2Low = -1076.0;
  static constexpr double kExp2High = 1025.0;
  static constexpr double kExpm1Low = -38.0;
  static constexpr double kTanhHigh = 20.0;
  static constexpr double kSinhHigh = 710.5;
  static constexpr double kAsinhBig = 0x1p28;
  static constexpr double kTrigBig = 0x1p20;
  static constexpr double kErfHigh = 6.0;
  static constexpr double kErfcHigh = 28.0;
  static constexpr double kErfcCenter = 4.0;
  static constexpr double kAtan2Big = 0x1p1020;
  static constexpr double kAtan2Small = 0x1p-900;
  static constexpr double kAtan2Lift = 0x1p100;
  static constexpr double kHypotBig = 0x1p500;
  static constexpr double kHypotSmall = 0x1p-400;
  static constexpr double kHypotUp = 0x1p600;
  static constexpr double kHypotDown = 0x1p-600;
  static double ScalarFma(double a, double b, double c) { return __builtin_fma(a, b, c); }
  static double ScalarFmod(double a, double b) { return __builtin_fmod(a, b); }
  static double ScalarNextAfter(double a, double b) { return __builtin_nextafter(a, b); }
  static constexpr double kExp[11] = {0.5,
                                      0.16666666666666685,
                                      0.041666666666666671,
                                      0.0083333333333163433,
                                      0.001388888888888419,
                                      0.00019841269898053106,
                                      2.4801587323547139e-05,
                                      2.7557233229080763e-06,
                                      2.7557276540968765e-07,
                                      2.5112595558533748e-08,
                                      2.0913378507349711e-09};  // 2^-61.2
  static constexpr double kExp2[13] = {
      0.69314718055994529,    0.24022650695910072,    0.055504108664824164,
      0.009618129107628496,   0.0013333558145603552,  0.00015403530393340447,
      1.5252734930900222e-05, 1.3215486833577584e-06, 1.0177337753146571e-07,
      7.0548880613174554e-09, 4.6840278871892778e-10, 2.5742066057021088e-11,
      -2.7865380760876178e-11};  // 2^-57.9
  static constexpr double kLog[7] = {0.66666666666667351, 0.39999999999409336, 0.28571428743695376,
                                     0.22222198427561682, 0.18183572449054222, 0.15313829360238695,
                                     0.14798289822016203};  // 2^-59.5
  static constexpr double kLogTail[8] = {0.3999999999999998,  0.28571428571443852,
                                         0.22222222217785548, 0.18181818844658254,
                                         0.15384558375350293, 0.13336266779867351,
                                         0.11675730594223643, 0.11982196834780746};  // 2^-72.2
  static constexpr double kSin[7] = {-0.16666666666666666,    0.0083333333333330435,
                                     -0.00019841269840967002, 2.7557319077616562e-06,
                                     -2.5052072193445389e-08, 1.6054512557551559e-10,
                                     -7.4012413549267039e-13};  // 2^-62.7
  static constexpr double kCos[7] = {0.041666666666666664,   -0.0013888888888888386,
                                     2.4801587301179083e-05, -2.7557319060474246e-07,
                                     2.0876722144609915e-09, -1.1466901693640125e-11,
                                     4.5956708077315784e-14};  // 2^-68.2
  static constexpr double kAsin[12] = {
      0.16666666666665375,  0.075000000003449377,  0.044642856821871219,
      0.030381959399539044, 0.022371751844844915,  0.017359796999419717,
      0.013884337308853722, 0.012175027720653946,  0.0065031531088796009,
      0.0195953405105081,   -0.016328251185179259, 0.031982749691154208};  // 2^-55.9
  static constexpr double kAtan[12] = {
      -0.33333333333333326,  0.19999999999997095,   -0.14285714285316328,
      0.11111111083737368,   -0.090909079854010283, 0.076922791865485521,
      -0.066661744027069342, 0.058765130309607949,  -0.052151544696893586,
      0.04490435740985587,   -0.033171479954668293, 0.014889765224222636};  // 2^-63.6
  static constexpr double kErf[12] = {
      0.12837916709551256,     -0.37612638903183548,    0.11283791670945253,
      -0.026866170643276219,   0.0052239776074234677,   -0.00085483259896967576,
      0.00012055295320494294,  -1.4924744663335489e-05, 1.6447517677871873e-06,
      -1.6209175911748696e-07, 1.3722976265924504e-08,  -7.8011888740977512e-10};  // 2^-54.8
  static constexpr double kErfc[22] = {
      1.2329951186255526,     -0.13962111684056297,    0.015379652102603187,
      0.068097054254737721,   -0.10103906603543071,    0.093732834997085818,
      -0.066330365830275212,  0.037167515552411386,    -0.016197733865843989,
      0.0050319698950749524,  -0.00075777447956336971, -0.00019925652023538136,
      0.00015062627081139659, -2.4398873303397793e-05, -1.1233341719778773e-05,
      5.7068913320009672e-06, 3.1148587875800441e-07,  -8.1842838047233819e-07,
      5.7830773321111945e-08, 1.0140466980969358e-07,  -9.1993981159307654e-09,
      -8.7694414817047343e-09};  // 2^-53.6
};

// ---- Arithmetic that rounds as stated on every target.

template <class D>
LATHE_MATH_INLINE hn::Vec<D> Constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

template <class T, class D, class V>
LATHE_MATH_INLINE V MapLanes(D d, V a, V b, T (*f)(T, T)) {
  T x[hn::MaxLanes(D())], y[hn::MaxLanes(D())];
  hn::StoreU(a, d, x);
  hn::StoreU(b, d, y);
  for (size_t i = 0; i < hn::Lanes(d); ++i) x[i] = f(x[i], y[i]);
  return hn::LoadU(d, x);
}

// a * b + c, rounded once.
template <class D, class V>
LATHE_MATH_INLINE V Fma(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  using T = hn::TFromD<D>;
  T x[hn::MaxLanes(D())], y[hn::MaxLanes(D())], z[hn::MaxLanes(D())];
  hn::StoreU(a, d, x);
  hn::StoreU(b, d, y);
  hn::StoreU(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) x[i] = MathTable<T>::ScalarFma(x[i], y[i], z[i]);
  return hn::LoadU(d, x);
#endif
}
// a * b - c and c - a * b.
template <class D, class V>
LATHE_MATH_INLINE V FmaSub(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, c);
#else
  return Fma(d, a, b, hn::Neg(c));
#endif
}
template <class D, class V>
LATHE_MATH_INLINE V FmaNeg(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::NegMulAdd(a, b, c);
#else
  return Fma(d, hn::Neg(a), b, c);
#endif
}

// c[0] + c[1] x + ... by Horner's rule.
template <int kFrom = 0, class D, class V, class T, int kCount>
LATHE_MATH_INLINE V Polynomial(D d, V x, const T (&c)[kCount]) {
  if constexpr (kFrom + 1 == kCount) {
    return hn::Set(d, c[kFrom]);
  } else {
    return Fma(d, Polynomial<kFrom + 1>(d, x, c), x, hn::Set(d, c[kFrom]));
  }
}

// The exact sum and product of two numbers (Dekker; Knuth). |a| >= |b| or a == 0 for FastTwoSum.
template <class V>
LATHE_MATH_INLINE Pair<V> FastTwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  return {s, hn::Sub(b, hn::Sub(s, a))};
}
template <class V>
LATHE_MATH_INLINE Pair<V> TwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  const V t = hn::Sub(s, a);
  return {s, hn::Add(hn::Sub(a, hn::Sub(s, t)), hn::Sub(b, t))};
}
template <class D, class V>
LATHE_MATH_INLINE Pair<V> TwoProduct(D d, V a, V b) {
  const V p = hn::Mul(a, b);
  return {p, FmaSub(d, a, b, p)};
}

template <class D, class V>
LATHE_MATH_INLINE V ClampKeepNaN(D d, V x, double low, double high) {
  const V l = Constant(d, low), h = Constant(d, high);
  x = hn::IfThenElse(hn::Lt(x, l), l, x);
  return hn::IfThenElse(hn::Gt(x, h), h, x);
}

// The nearest integer for |x| < 2^22 (f32), 2^51 (f64), half to even.
template <class D, class V>
LATHE_MATH_INLINE V RoundSmall(D d, V x) {
  const V magic = hn::Set(d, MathTable<hn::TFromD<D>>::kMagic);
  return hn::Sub(hn::Add(x, magic), magic);
}

// 2^n for an integer n in the range of normal exponents.
template <class D, class V>
LATHE_MATH_INLINE V PowerOfTwo(D d, V n) {
  using M = MathTable<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  const V biased = hn::Add(n, hn::Set(d, M::kMagic + M::kBias));
  return hn::BitCast(d, hn::ShiftLeft<M::kMantissaBits>(hn::BitCast(du, biased)));
}

// v * 2^n rounded once, also when the result is denormal or overflows; |n| below twice the bias.
template <class D, class V>
LATHE_MATH_INLINE V Scale(D d, V v, V n) {
  const V half = RoundSmall(d, hn::Mul(n, Constant(d, 0.5)));
  return hn::Mul(hn::Mul(v, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
}

// `small` where |x| is so small that an odd function with slope 1 is x itself: it keeps -0.0 and
// denormals exact.
template <class D, class V>
LATHE_MATH_INLINE V KeepTiny(D d, V x, V result) {
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, MathTable<hn::TFromD<D>>::kTiny)), x, result);
}

// ---- Exponentials.

template <class V>
struct ExpParts {  // 2^n * (1 + p + p_low)
  V n, p, p_low;
};

// e^(x + low), x within the clamps of the callers: x = n ln2 + r, p = r + r^2 Q(r). The first
// product and difference are exact.
template <class D, class V>
LATHE_MATH_INLINE ExpParts<V> SplitExp(D d, V x, V low) {
  using M = MathTable<hn::TFromD<D>>;
  const V n = RoundSmall(d, hn::Mul(x, hn::Set(d, M::kInvLn2Hi)));
  const V t = FmaNeg(d, n, hn::Set(d, M::kLn2Hi), x);
  const Pair<V> r = FastTwoSum(t, FmaNeg(d, n, hn::Set(d, M::kLn2Low), low));
  const V rest = Fma(d, hn::Mul(r.hi, r.hi), Polynomial(d, r.hi, M::kExp), r.low);
  const Pair<V> p = FastTwoSum(r.hi, rest);
  return {n, p.hi, p.low};
}

template <class D, class V>
LATHE_MATH_INLINE V Exp(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const bool usual = hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, M::kExpUsual)));
  if (!usual) x = ClampKeepNaN(d, x, M::kExpLow, M::kExpHigh);
  const V n = RoundSmall(d, hn::Mul(x, hn::Set(d, M::kInvLn2Hi)));
  const V r = FmaNeg(d, n, hn::Set(d, M::kLn2Low), FmaNeg(d, n, hn::Set(d, M::kLn2Hi), x));
  const V p = hn::Add(Constant(d, 1), Fma(d, hn::Mul(r, r), Polynomial(d, r, M::kExp), r));
  return usual ? hn::Mul(p, PowerOfTwo(d, n)) : Scale(d, p, n);
}

template <class D, class V>
LATHE_MATH_INLINE V Exp2(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  x = ClampKeepNaN(d, x, M::kExp2Low, M::kExp2High);
  const V n = RoundSmall(d, x);
  const V r = hn::Sub(x, n);
  return Scale(d, Fma(d, r, Polynomial(d, r, M::kExp2), one), n);
}

template <class D, class V>
LATHE_MATH_INLINE V Expm1(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V half = Constant(d, 0.5);
  const ExpParts<V> e = SplitExp(d, ClampKeepNaN(d, x, M::kExpm1Low, M::kExpHigh), hn::Zero(d));
  const V scale = PowerOfTwo(d, hn::Sub(e.n, Constant(d, 1)));  // 2^128 would be infinite
  const V r = Fma(d, scale, e.p_low, Fma(d, scale, e.p, hn::Sub(scale, half)));
  return KeepTiny(d, x, hn::Add(r, r));
}

template <class D, class V>
LATHE_MATH_INLINE V Sigmoid(D d, V x) {
  const V one = Constant(d, 1);
  const V e = Exp(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

// n / m by one division and a step of correction.
template <class D, class V>
LATHE_MATH_INLINE Pair<V> DividePairs(D d, Pair<V> n, Pair<V> m) {
  const V inverse = hn::Div(Constant(d, 1), m.hi);
  const V q = hn::Mul(n.hi, inverse);
  const V rest = hn::Add(FmaNeg(d, q, m.hi, n.hi), FmaNeg(d, q, m.low, n.low));
  return {q, hn::Mul(rest, inverse)};
}

// (e^2a - 1) / (e^2a + 1) with e^2a = s (1 + p).
template <class D, class V>
LATHE_MATH_INLINE V Tanh(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  const V a = ClampKeepNaN(d, hn::Abs(x), 0, M::kTanhHigh);
  const ExpParts<V> e = SplitExp(d, hn::Add(a, a), hn::Zero(d));
  const V s = PowerOfTwo(d, e.n);
  const V sp = hn::Mul(s, e.p);
  Pair<V> n = TwoSum(hn::Sub(s, one), sp), m = TwoSum(hn::Add(s, one), sp);
  n.low = Fma(d, s, e.p_low, n.low);
  const Pair<V> q = DividePairs(d, n, m);
  return KeepTiny(d, x, hn::CopySign(hn::Add(q.hi, q.low), x));
}

// sinh and cosh of |x| as A(1+p) -+ B/(1+p) with A = 2^(n-1), B = 2^(-n-1), here halved once more
// so that A stays finite.
template <bool kSinh, class D, class V>
LATHE_MATH_INLINE V SinhCosh(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1), two = Constant(d, 2);
  const ExpParts<V> e = SplitExp(d, ClampKeepNaN(d, hn::Abs(x), 0, M::kSinhHigh), hn::Zero(d));
  const V sixty = Constant(d, 60);
  const V n_small = hn::IfThenElse(hn::Gt(e.n, sixty), sixty, e.n);
  const V a = PowerOfTwo(d, hn::Sub(e.n, two));
  const V b = PowerOfTwo(d, hn::Neg(hn::Add(n_small, two)));
  const V bp = hn::Mul(b, hn::Div(e.p, hn::Add(one, e.p)));
  V r;
  if constexpr (kSinh) {
    const V low = Fma(d, e.p_low, hn::Add(a, b), bp);
    r = hn::Add(hn::Sub(a, b), Fma(d, a, e.p, low));
  } else {
    r = hn::Add(hn::Add(a, b), FmaSub(d, a, e.p, bp));
  }
  r = hn::Add(r, r);
  return kSinh ? KeepTiny(d, x, hn::CopySign(r, x)) : r;
}
template <class D, class V>
LATHE_MATH_INLINE V Sinh(D d, V x) {
  return SinhCosh<true>(d, x);
}
template <class D, class V>
LATHE_MATH_INLINE V Cosh(D d, V x) {
  return SinhCosh<false>(d, x);
}

// ---- Logarithms. x = 2^k (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1];
// with s = f / (2 + f): log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 P(s^2))).

template <class V>
struct LogParts {
  V k, f;
};

// x positive and finite, denormal or not.
template <class D, class V>
LATHE_MATH_INLINE LogParts<V> SplitLog(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  constexpr int kBits = M::kMantissaBits;
  const auto denormal = hn::Lt(x, hn::Set(d, M::kMinNormal));
  const V lift = Constant(d, kBits + 1);
  x = hn::IfThenElse(denormal, hn::Mul(x, hn::Set(d, M::kDenormalLift)), x);
  const auto t = hn::Add(hn::BitCast(du, x), hn::Set(du, M::kOneBits - M::kSqrtHalfBits));
  // The exponent as a float: its bits below those of 2^kBits.
  const auto e = hn::Or(hn::ShiftRight<kBits>(t), hn::Set(du, M::kIntegerBits));
  V k = hn::Sub(hn::BitCast(d, e), hn::Set(d, M::kInteger + M::kBias));
  k = hn::Sub(k, hn::IfThenElseZero(denormal, lift));
  const auto m = hn::Add(hn::And(t, hn::Set(du, M::kMantissaMask)), hn::Set(du, M::kSqrtHalfBits));
  return {k, hn::Sub(hn::BitCast(d, m), Constant(d, 1))};
}

// log for x > 0: -inf at 0, NaN below, inf and NaN kept.
template <class D, class V>
LATHE_MATH_INLINE V LogSpecialCases(D d, V x, V result) {
  using T = hn::TFromD<D>;
  const V inf = hn::Set(d, MathTable<T>::kInfinity), zero = hn::Zero(d);
  if (hn::AllTrue(d, hn::And(hn::Gt(x, zero), hn::Lt(x, inf)))) return result;
  result = hn::IfThenElse(hn::Lt(x, inf), result, x);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(inf), result);
  return hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, MathTable<T>::kNaN), result);
}

// k ln2 + log(1 + f) + correction.
template <class D, class V>
LATHE_MATH_INLINE V LogOfParts(D d, LogParts<V> parts, V correction) {
  using M = MathTable<hn::TFromD<D>>;
  const V f = parts.f;
  const V s = hn::Div(f, hn::Add(f, Constant(d, 2)));
  const V z = hn::Mul(s, s);
  const V r = hn::Mul(z, Polynomial(d, z, M::kLog));
  const V h = hn::Mul(hn::Mul(f, Constant(d, 0.5)), f);
  const V low = Fma(d, parts.k, hn::Set(d, M::kLn2Low), correction);
  const V small = hn::Sub(h, Fma(d, s, hn::Add(h, r), low));
  return Fma(d, parts.k, hn::Set(d, M::kLn2Hi), hn::Sub(f, small));
}

template <class D, class V>
LATHE_MATH_INLINE V Log(D d, V x) {
  return LogSpecialCases(d, x, LogOfParts(d, SplitLog(d, x), hn::Zero(d)));
}

// log(1 + f) as a sum, good to some 4 bits more than the type.
template <class D, class V>
LATHE_MATH_INLINE Pair<V> LogPair(D d, V f) {
  using M = MathTable<hn::TFromD<D>>;
  const V s = hn::Div(f, hn::Add(f, Constant(d, 2)));
  const V z = hn::Mul(s, s);
  const V r = hn::Mul(z, Polynomial(d, z, M::kLog));
  const Pair<V> h = TwoProduct(d, hn::Mul(f, Constant(d, 0.5)), f);
  const V hi = hn::Sub(f, h.hi);
  const V low = hn::Sub(hn::Sub(hn::Sub(f, hi), h.hi), h.low);
  return FastTwoSum(hi, Fma(d, s, hn::Add(h.hi, r), low));
}

// (k + log(1 + f) / log(base)) with k scaled by `unit` = log_base(2) (as a sum; 1 for base 2).
template <class D, class V, class T>
LATHE_MATH_INLINE V LogInBase(D d, V x, T inverse_hi, T inverse_low, T unit_hi, T unit_low) {
  const LogParts<V> parts = SplitLog(d, x);
  const Pair<V> l = LogPair(d, parts.f);
  const Pair<V> p = TwoProduct(d, l.hi, hn::Set(d, inverse_hi));
  const Pair<V> k = TwoProduct(d, parts.k, hn::Set(d, unit_hi));
  V low = Fma(d, l.hi, hn::Set(d, inverse_low), Fma(d, l.low, hn::Set(d, inverse_hi), p.low));
  low = hn::Add(low, Fma(d, parts.k, hn::Set(d, unit_low), k.low));
  const Pair<V> sum = FastTwoSum(k.hi, p.hi);
  return LogSpecialCases(d, x, hn::Add(sum.hi, hn::Add(sum.low, low)));
}

template <class D, class V>
LATHE_MATH_INLINE V Log2(D d, V x) {
  using T = hn::TFromD<D>;
  using M = MathTable<T>;
  return LogInBase(d, x, M::kInvLn2Hi, M::kInvLn2Low, T(1), T(0));
}
template <class D, class V>
LATHE_MATH_INLINE V Log10(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  return LogInBase(d, x, M::kInvLn10Hi, M::kInvLn10Low, M::kLog10Of2Hi, M::kLog10Of2Low);
}

// log(u) + c / u with u + c = 1 + x exactly.
template <class D, class V>
LATHE_MATH_INLINE V Log1p(D d, V x) {
  const V one = Constant(d, 1);
  const Pair<V> u = TwoSum(one, x);
  const LogParts<V> parts = SplitLog(d, u.hi);
  // Beyond 2^40 c does not matter and 2^-k may not be normal.
  const auto matters = hn::Lt(x, Constant(d, 0x1p40));
  const V k = hn::IfThenElseZero(matters, parts.k);
  const V c = hn::IfThenElseZero(matters, hn::Mul(u.low, PowerOfTwo(d, hn::Neg(k))));
  const V r = LogOfParts(d, parts, FmaNeg(d, parts.f, c, c));  // c / (1 + f), nearly
  return KeepTiny(d, x, LogSpecialCases(d, u.hi, r));
}

// log(2x) for large x.
template <class D, class V>
LATHE_MATH_INLINE V LogOfTwice(D d, V x) {
  LogParts<V> parts = SplitLog(d, x);
  parts.k = hn::Add(parts.k, Constant(d, 1));
  return LogSpecialCases(d, x, LogOfParts(d, parts, hn::Zero(d)));
}

template <class D, class V>
LATHE_MATH_INLINE V Asinh(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  const V a = hn::Abs(x);
  const V square = hn::Mul(a, a);
  const V root = hn::Sqrt(hn::Add(square, one));
  const V small = Log1p(d, hn::Add(a, hn::Div(square, hn::Add(one, root))));
  const auto big = hn::Gt(a, hn::Set(d, M::kAsinhBig));
  V r = small;
  if (!hn::AllFalse(d, big)) r = hn::IfThenElse(big, LogOfTwice(d, a), r);
  return KeepTiny(d, x, hn::CopySign(r, x));
}

template <class D, class V>
LATHE_MATH_INLINE V Acosh(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  const V t = hn::Sub(x, one);
  const V root = hn::Sqrt(Fma(d, t, t, hn::Add(t, t)));
  V r = Log1p(d, hn::Add(t, root));
  const auto big = hn::Gt(x, hn::Set(d, M::kAsinhBig));
  if (!hn::AllFalse(d, big)) r = hn::IfThenElse(big, LogOfTwice(d, x), r);
  return hn::IfThenElse(hn::Lt(x, one), hn::Set(d, M::kNaN), r);
}

template <class D, class V>
LATHE_MATH_INLINE V Atanh(D d, V x) {
  const V one = Constant(d, 1);
  const V a = hn::Abs(x);
  const V r = Log1p(d, hn::Div(hn::Add(a, a), hn::Sub(one, a)));
  return KeepTiny(d, x, hn::CopySign(hn::Mul(r, Constant(d, 0.5)), x));
}

// ---- Trigonometric functions: x = n pi/2 + r, |r| <= pi/4.

// Payne and Hanek, "Radian reduction for trigonometric functions", 1983, for finite |x| >= 2^17:
// x 2/pi modulo 4 from the 192 bits of 2/pi that matter. Returns n mod 4.
inline uint32_t ReduceLarge(double x, double* r_hi, double* r_low) {
  static constexpr uint64_t kTwoOverPi[21] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b6bab, 0xf0cfbc209af4361d, 0};
  using Wide = unsigned __int128;
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  // |x| = mantissa * 2^exponent; bit j of 2/pi (0 the highest) weighs 2^(exponent - j - 1) here,
  // so those below exponent - 2 give multiples of 4.
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1075;
  const uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  uint64_t w[3];
  for (int i = 0; i < 3; ++i) {
    const int from = exponent - 2 + 64 * i;
    if (from < 0) {
      w[i] = kTwoOverPi[0] >> -from;
    } else {
      const int word = from / 64, shift = from % 64;
      w[i] = shift == 0 ? kTwoOverPi[word]
                        : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (64 - shift);
    }
  }
  const Wide p0 = static_cast<Wide>(mantissa) * w[2];
  const Wide p1 = static_cast<Wide>(mantissa) * w[1] + static_cast<uint64_t>(p0 >> 64);
  const uint64_t f2 = mantissa * w[0] + static_cast<uint64_t>(p1 >> 64);
  const uint64_t f1 = static_cast<uint64_t>(p1), f0 = static_cast<uint64_t>(p0);
  uint32_t quadrant = static_cast<uint32_t>(f2 >> 62);
  // The fraction in 128 bits; 128 of 190 suffice but for the nearest multiples, so keep 64 more.
  Wide fraction = static_cast<Wide>(f2 << 2 | f1 >> 62) << 64 | (f1 << 2 | f0 >> 62);
  uint64_t rest = f0 << 2;
  const bool negative = (f2 >> 61) & 1;  // past one half: round up
  if (negative) {
    ++quadrant;
    rest = ~rest + 1;
    fraction = ~fraction + (rest == 0);
  }
  double scale = 0x1p-53;
  while (fraction >> 127 == 0 && scale > 0x1p-181) {
    fraction = fraction << 1 | rest >> 63;
    rest <<= 1;
    scale *= 0.5;
  }
  const double hi = static_cast<double>(static_cast<uint64_t>(fraction >> 75)) * scale;
  const double low = static_cast<double>(static_cast<uint64_t>(fraction >> 22) & 0x1fffffffffffff) *
                     (scale * 0x1p-53);
  const double half_pi = MathTable<double>::kHalfPi1, half_pi_low = MathTable<double>::kHalfPi2;
  const double product = hi * half_pi;
  const double error = __builtin_fma(hi, half_pi, -product) + (hi * half_pi_low + low * half_pi);
  double r = product + error, e = error - (r - product);
  if (negative != (x < 0)) {
    r = -r;
    e = -e;
  }
  *r_hi = r;
  *r_low = e;
  return x < 0 ? 0u - quadrant : quadrant;
}

template <class V, class N>
struct Reduced {
  V r, low;  // as a sum
  N n;       // unsigned; its low two bits are right
};

template <class D, class V>
LATHE_MATH_INLINE auto ReduceByHalfPi(D d, V x) {
  using T = hn::TFromD<D>;
  using M = MathTable<T>;
  const hn::RebindToUnsigned<D> du;
  const V magic = hn::Set(d, M::kMagic);
  const V t = hn::Add(hn::Mul(x, hn::Set(d, M::kTwoOverPi)), magic);
  const V n = hn::Sub(t, magic);
  // Cody and Waite in three parts; the first product and difference are exact.
  const V r1 = FmaNeg(d, n, hn::Set(d, M::kHalfPi1), x);
  const Pair<V> p = TwoProduct(d, n, hn::Set(d, M::kHalfPi2));
  const Pair<V> s = TwoSum(r1, hn::Neg(p.hi));
  const V e = FmaNeg(d, n, hn::Set(d, M::kHalfPi3), hn::Sub(s.low, p.low));
  const Pair<V> sum = FastTwoSum(s.hi, e);
  Reduced<V, decltype(hn::BitCast(du, t))> out{sum.hi, sum.low, hn::BitCast(du, t)};
  const auto small = hn::Lt(hn::Abs(x), hn::Set(d, M::kTrigBig));
  if (!hn::AllTrue(d, small)) {
    using U = hn::TFromD<hn::RebindToUnsigned<D>>;
    T xs[hn::MaxLanes(D())], hi[hn::MaxLanes(D())], low[hn::MaxLanes(D())];
    U ns[hn::MaxLanes(D())];
    hn::StoreU(x, d, xs);
    hn::StoreU(out.r, d, hi);
    hn::StoreU(out.low, d, low);
    hn::StoreU(out.n, du, ns);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      const T a = xs[i] < 0 ? -xs[i] : xs[i];
      if (a >= M::kTrigBig && a < M::kInfinity) {
        double r, r_low;
        ns[i] = ReduceLarge(xs[i], &r, &r_low);
        hi[i] = static_cast<T>(r);
        low[i] = static_cast<T>((r - static_cast<double>(hi[i])) + r_low);
      } else if (!(a < M::kTrigBig)) {
        hi[i] = M::kNaN;
      }
    }
    out.r = hn::LoadU(d, hi);
    out.low = hn::LoadU(d, low);
    out.n = hn::LoadU(du, ns);
  }
  return out;
}

// sin(r + low) and cos(r + low) as sums.
template <class D, class V>
LATHE_MATH_INLINE Pair<V> SinOfReduced(D d, V r, V low) {
  using M = MathTable<hn::TFromD<D>>;
  const V z = hn::Mul(r, r);
  const V w = FmaNeg(d, z, Constant(d, 0.5), Constant(d, 1));
  return {r, Fma(d, hn::Mul(z, r), Polynomial(d, z, M::kSin), hn::Mul(low, w))};
}
template <class D, class V>
LATHE_MATH_INLINE Pair<V> CosOfReduced(D d, V r, V low) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  const V z = hn::Mul(r, r);
  const V h = hn::Mul(z, Constant(d, 0.5));
  const V w = hn::Sub(one, h);
  const V rest = FmaSub(d, hn::Mul(z, z), Polynomial(d, z, M::kCos), hn::Mul(r, low));
  return {w, hn::Add(hn::Sub(hn::Sub(one, w), h), rest)};
}

template <class D, class N>
LATHE_MATH_INLINE auto IsOdd(D d, N n) {
  const hn::RebindToSigned<D> di;
  const auto one = hn::Set(di, 1);
  return hn::RebindMask(d, hn::Eq(hn::And(hn::BitCast(di, n), one), one));
}
// v with its sign flipped where bit 1 of n is set.
template <class D, class V, class N>
LATHE_MATH_INLINE V FlipByBit1(D d, V v, N n) {
  const hn::RebindToUnsigned<D> du;
  constexpr int kTop = 8 * sizeof(hn::TFromD<D>) - 1;
  const auto sign = hn::ShiftLeft<kTop>(hn::ShiftRight<1>(n));
  return hn::BitCast(d, hn::Xor(hn::BitCast(du, v), sign));
}

template <class D, class V>
LATHE_MATH_INLINE V Sin(D d, V x) {
  const auto reduced = ReduceByHalfPi(d, x);
  const Pair<V> s = SinOfReduced(d, reduced.r, reduced.low);
  const Pair<V> c = CosOfReduced(d, reduced.r, reduced.low);
  const auto odd = IsOdd(d, reduced.n);
  const V r = hn::IfThenElse(odd, hn::Add(c.hi, c.low), hn::Add(s.hi, s.low));
  return KeepTiny(d, x, FlipByBit1(d, r, reduced.n));
}

template <class D, class V>
LATHE_MATH_INLINE V Cos(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto reduced = ReduceByHalfPi(d, x);
  const Pair<V> s = SinOfReduced(d, reduced.r, reduced.low);
  const Pair<V> c = CosOfReduced(d, reduced.r, reduced.low);
  const auto odd = IsOdd(d, reduced.n);
  const V r = hn::IfThenElse(odd, hn::Add(s.hi, s.low), hn::Add(c.hi, c.low));
  return FlipByBit1(d, r, hn::Add(reduced.n, hn::Set(du, 1)));
}

// sin / cos, or -cos / sin in odd quadrants, both as sums.
template <class D, class V>
LATHE_MATH_INLINE V Tan(D d, V x) {
  const auto reduced = ReduceByHalfPi(d, x);
  Pair<V> s = SinOfReduced(d, reduced.r, reduced.low);
  Pair<V> c = CosOfReduced(d, reduced.r, reduced.low);
  s = FastTwoSum(s.hi, s.low);
  c = FastTwoSum(c.hi, c.low);
  const auto odd = IsOdd(d, reduced.n);
  const V nh = hn::IfThenElse(odd, hn::Neg(c.hi), s.hi),
          nl = hn::IfThenElse(odd, hn::Neg(c.low), s.low);
  const V dh = hn::IfThenElse(odd, s.hi, c.hi), dl = hn::IfThenElse(odd, s.low, c.low);
  const V q = hn::Div(nh, dh);
  const V rest = hn::Add(FmaNeg(d, q, dh, nh), FmaNeg(d, q, dl, nl));
  return KeepTiny(d, x, hn::Add(q, hn::Div(rest, dh)));
}

// asin(x) = x + x^3 P(x^2) up to 1/2; beyond, asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
template <class D, class V>
LATHE_MATH_INLINE V Asin(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V half = Constant(d, 0.5);
  const V a = hn::Abs(x);
  const auto big = hn::Gt(a, half);
  const V z = hn::IfThenElse(big, FmaNeg(d, a, half, half), hn::Mul(a, a));
  const V s = hn::IfThenElse(big, hn::Sqrt(z), a);
  const V p = hn::Mul(hn::Mul(z, s), Polynomial(d, z, M::kAsin));
  const V twice = hn::Add(p, p);
  const V b = hn::Sub(hn::Set(d, M::kHalfPi1), hn::Add(s, s));
  // pi/2 - 2s rounds; its error comes back with the rest.
  const V lost = hn::Sub(hn::Sub(hn::Set(d, M::kHalfPi1), b), hn::Add(s, s));
  const V far = hn::Add(b, hn::Sub(hn::Add(lost, hn::Set(d, M::kHalfPi2)), twice));
  const V r = hn::IfThenElse(big, far, hn::Add(s, p));
  return KeepTiny(d, x, hn::CopySign(r, x));
}

template <class D, class V>
LATHE_MATH_INLINE V Acos(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V half = Constant(d, 0.5);
  const V a = hn::Abs(x);
  const auto big = hn::Gt(a, half);
  const V z = hn::IfThenElse(big, FmaNeg(d, a, half, half), hn::Mul(x, x));
  const V s = hn::IfThenElse(big, hn::Sqrt(z), x);
  const V p = hn::Mul(hn::Mul(z, s), Polynomial(d, z, M::kAsin));
  const V half_pi = hn::Set(d, M::kHalfPi1), half_pi_low = hn::Set(d, M::kHalfPi2);
  const Pair<V> b = FastTwoSum(half_pi, hn::Neg(s));
  const V near = hn::Add(b.hi, hn::Sub(hn::Add(b.low, half_pi_low), p));
  const V two = Constant(d, 2);
  const V positive = hn::Mul(two, hn::Add(s, p));
  const V negative = hn::Mul(two, hn::Sub(half_pi, hn::Sub(hn::Add(s, p), half_pi_low)));
  const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, positive);
  return hn::IfThenElse(big, far, near);
}

// atan(y / x) for y, x >= 0, not both 0 or infinite, as base + rest: the quotient is brought to
// tan(pi/8) by atan(q) = pi/4 + atan((q-1)/(q+1)) = pi/2 - atan(1/q).
template <class D, class V, class M1, class M2>
LATHE_MATH_INLINE Pair<V> AtanRest(D d, V y, V x, M1 middle, M2 big) {
  using M = MathTable<hn::TFromD<D>>;
  const Pair<V> difference = TwoSum(y, hn::Neg(x)), sum = TwoSum(y, x);
  const V n = hn::IfThenElse(big, hn::Neg(x), hn::IfThenElse(middle, difference.hi, y));
  const V m = hn::IfThenElse(big, y, hn::IfThenElse(middle, sum.hi, x));
  const V q = hn::Div(n, m);
  // What rounding lost matters where it is comparable to the result: in the middle.
  const V lost = FmaNeg(d, q, sum.low, hn::Add(difference.low, FmaNeg(d, q, m, n)));
  const V correction = hn::IfThenElseZero(hn::AndNot(big, middle), hn::Div(lost, m));
  const V z = hn::Mul(q, q);
  return {q, Fma(d, hn::Mul(z, q), Polynomial(d, z, M::kAtan), correction)};
}

template <class V>
LATHE_MATH_INLINE V AddToBase(V base, V base_low, Pair<V> rest) {
  const Pair<V> sum = FastTwoSum(base, rest.hi);
  return hn::Add(sum.hi, hn::Add(sum.low, hn::Add(rest.low, base_low)));
}

template <class D, class V>
LATHE_MATH_INLINE V Atan(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V a = hn::Abs(x);
  const auto big = hn::Gt(a, Constant(d, 2.414213562));
  const auto middle = hn::Gt(a, Constant(d, 0.4142135623));
  const Pair<V> rest = AtanRest(d, a, Constant(d, 1), middle, big);
  const V quarter = hn::Set(d, M::kHalfPi1 / 2), quarter_low = hn::Set(d, M::kHalfPi2 / 2);
  const V half = hn::Set(d, M::kHalfPi1), half_low = hn::Set(d, M::kHalfPi2);
  const V base = hn::IfThenElse(big, half, hn::IfThenElseZero(middle, quarter));
  const V low = hn::IfThenElse(big, half_low, hn::IfThenElseZero(middle, quarter_low));
  return KeepTiny(d, x, hn::CopySign(AddToBase(base, low, rest), x));
}

template <class D, class V>
LATHE_MATH_INLINE V Atan2(D d, V y, V x) {
  using T = hn::TFromD<D>;
  using M = MathTable<T>;
  const V zero = hn::Zero(d), one = Constant(d, 1), inf = hn::Set(d, M::kInfinity);
  V ay = hn::Abs(y), ax = hn::Abs(x);
  const auto both_infinite = hn::And(hn::Eq(ay, inf), hn::Eq(ax, inf));
  ay = hn::IfThenElse(both_infinite, one, ay);
  ax = hn::IfThenElse(both_infinite, one, ax);
  // Away from overflow of the sum and from quotients of denormals.
  const V larger = hn::IfThenElse(hn::Gt(ay, ax), ay, ax);
  V scale = hn::IfThenElse(hn::Gt(larger, hn::Set(d, M::kAtan2Big)), Constant(d, 0x1p-4), one);
  scale =
      hn::IfThenElse(hn::Lt(larger, hn::Set(d, M::kAtan2Small)), hn::Set(d, M::kAtan2Lift), scale);
  ay = hn::Mul(ay, scale);
  ax = hn::Mul(ax, scale);
  const V t = Constant(d, 0.4142135623);
  const auto big = hn::Lt(ax, hn::Mul(ay, t));
  const auto middle = hn::Gt(ay, hn::Mul(ax, t));
  const V divisor = hn::IfThenElse(hn::Eq(larger, zero), one, ax);
  const Pair<V> rest = AtanRest(d, ay, divisor, middle, big);
  const V half = hn::Set(d, M::kHalfPi1), half_low = hn::Set(d, M::kHalfPi2);
  const V quarter = hn::Set(d, M::kHalfPi1 / 2), quarter_low = hn::Set(d, M::kHalfPi2 / 2);
  const V base = hn::IfThenElse(big, half, hn::IfThenElseZero(middle, quarter));
  const V low = hn::IfThenElse(big, half_low, hn::IfThenElseZero(middle, quarter_low));
  const V right = AddToBase(base, low, rest);
  // pi - (base + rest): pi, 3/4 pi or pi/2, minus the rest.
  const V pi = hn::Set(d, M::kHalfPi1 * 2), pi_low = hn::Set(d, M::kHalfPi2 * 2);
  const V left_base =
      hn::IfThenElse(big, half, hn::IfThenElse(middle, hn::Set(d, M::kThreeQuarterPi), pi));
  const V left_low = hn::IfThenElse(
      big, half_low, hn::IfThenElse(middle, hn::Set(d, M::kThreeQuarterPiLow), pi_low));
  const V left = AddToBase(left_base, left_low, {hn::Neg(rest.hi), hn::Neg(rest.low)});
  const auto is_left = hn::Lt(hn::CopySign(one, x), zero);
  V r = hn::CopySign(hn::IfThenElse(is_left, left, right), y);
  const V sum = hn::Add(x, y);
  const auto nan = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
  return hn::IfThenElse(nan, sum, r);
}

// ---- Error functions. erf(x) = x + x P(x^2) up to 1. For a >= 0, with t = (a - c) / (a + c):
// erfc(a) = exp(-a^2) Q(t) / (1 + 2a)  (M. M. Shepherd and J. G. Laframboise, 1981).

template <class D, class V>
LATHE_MATH_INLINE V ErfSmall(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  return Fma(d, x, Polynomial(d, hn::Mul(x, x), M::kErf), x);
}
template <class D, class V>
LATHE_MATH_INLINE V ErfcOfPositive(D d, V a) {
  using M = MathTable<hn::TFromD<D>>;
  const V c = hn::Set(d, M::kErfcCenter), one = Constant(d, 1);
  const V sum = hn::Add(a, c);
  // t with its rounding error, for Q is steep on the left.
  const V t = hn::Div(hn::Sub(a, c), sum);
  const V q = Polynomial(d, t, M::kErfc);
  const V g = hn::Div(q, hn::Add(one, hn::Add(a, a)));
  const Pair<V> square = TwoProduct(d, a, a);
  const ExpParts<V> e = SplitExp(d, hn::Neg(square.hi), hn::Neg(square.low));
  return Scale(d, Fma(d, g, e.p, g), e.n);
}

template <class D, class V>
LATHE_MATH_INLINE V Erf(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1);
  const V a = hn::Abs(x);
  const auto small = hn::Lt(a, one);
  const V near = ErfSmall(d, x);
  if (hn::AllTrue(d, small)) return near;
  const V far = hn::Sub(one, ErfcOfPositive(d, ClampKeepNaN(d, a, 0, M::kErfHigh)));
  return hn::IfThenElse(small, near, hn::CopySign(far, x));
}

template <class D, class V>
LATHE_MATH_INLINE V Erfc(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const V a = hn::Abs(x);
  const V far = ErfcOfPositive(d, ClampKeepNaN(d, a, 0, M::kErfcHigh));
  const V reflected = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(Constant(d, 2), far), far);
  const V near = hn::Sub(Constant(d, 1), ErfSmall(d, x));
  return hn::IfThenElse(hn::Lt(a, Constant(d, 0.5)), near, reflected);
}

// ---- Powers.

// log2(x) of a positive finite x as a sum, good to about half the type's bits beyond it:
// s = f / (2 + f) as a sum, log(1 + f) = 2s + s^3 (2/3 + s^2 P(s^2)).
template <class D, class V>
LATHE_MATH_INLINE Pair<V> Log2Pair(D d, V x) {
  using M = MathTable<hn::TFromD<D>>;
  const LogParts<V> parts = SplitLog(d, x);
  const V f = parts.f;
  const Pair<V> g = FastTwoSum(Constant(d, 2), f);
  const V s = hn::Div(f, g.hi);
  const V s_low = hn::Div(FmaNeg(d, s, g.low, FmaNeg(d, s, g.hi, f)), g.hi);
  const Pair<V> s2 = TwoProduct(d, s, s);
  const V s2_low = Fma(d, hn::Add(s, s), s_low, s2.low);
  const V tail = hn::Mul(s2.hi, Polynomial(d, s2.hi, M::kLogTail));
  Pair<V> c = FastTwoSum(hn::Set(d, M::kTwoThirdsHi), tail);
  c.low = hn::Add(c.low, hn::Set(d, M::kTwoThirdsLow));
  // s^3 c
  const Pair<V> s3 = TwoProduct(d, s2.hi, s);
  const V s3_low = Fma(d, s2_low, s, Fma(d, s2.hi, s_low, s3.low));
  const Pair<V> t = TwoProduct(d, s3.hi, c.hi);
  const V t_low = Fma(d, s3_low, c.hi, Fma(d, s3.hi, c.low, t.low));
  Pair<V> l = FastTwoSum(hn::Add(s, s), t.hi);
  l = FastTwoSum(l.hi, hn::Add(l.low, hn::Add(t_low, hn::Add(s_low, s_low))));
  // times 1 / ln 2, plus k
  const V inv = hn::Set(d, M::kInvLn2Hi), inv_low = hn::Set(d, M::kInvLn2Low);
  const Pair<V> p = TwoProduct(d, l.hi, inv);
  const V p_low = Fma(d, l.hi, inv_low, Fma(d, l.low, inv, p.low));
  const Pair<V> sum = FastTwoSum(parts.k, p.hi);
  return FastTwoSum(sum.hi, hn::Add(sum.low, p_low));
}

template <class D, class V>
LATHE_MATH_INLINE V Pow(D d, V x, V y) {
  using M = MathTable<hn::TFromD<D>>;
  const V one = Constant(d, 1), zero = hn::Zero(d), inf = hn::Set(d, M::kInfinity);
  const V a = hn::Abs(x);
  const Pair<V> l = Log2Pair(d, a);
  const auto usual = hn::And(hn::Gt(a, zero), hn::Lt(a, inf));
  V log_hi = l.hi, log_low = l.low;
  if (!hn::AllTrue(d, usual)) {
    log_hi = hn::IfThenElse(usual, log_hi, hn::IfThenElse(hn::Eq(a, zero), hn::Neg(inf), a));
    log_low = hn::IfThenElseZero(usual, log_low);
  }
  const V product = hn::Mul(y, log_hi);
  V low = Fma(d, y, log_low, FmaSub(d, y, log_hi, product));
  const V p = ClampKeepNaN(d, product, M::kExp2Low * 2, M::kExp2High * 2);
  low = hn::IfThenElseZero(hn::Eq(p, product), low);
  const V n = RoundSmall(d, p);
  const V r = hn::Add(hn::Sub(p, n), low);
  const V n_safe = ClampKeepNaN(d, n, M::kExp2Low, M::kExp2High);
  V result = Scale(d, Fma(d, r, Polynomial(d, r, M::kExp2), one), n_safe);
  // Signs, and what the formula does not know.
  const V half_y = hn::Mul(y, Constant(d, 0.5));
  const auto integer = hn::Eq(hn::Trunc(y), y);
  const auto odd = hn::AndNot(hn::Eq(hn::Trunc(half_y), half_y), integer);
  const auto odd_negative = hn::And(odd, hn::Lt(hn::CopySign(one, x), zero));
  result = hn::IfThenElse(odd_negative, hn::Neg(result), result);
  const auto no_root = hn::AndNot(integer, hn::And(hn::Lt(x, zero), hn::Lt(a, inf)));
  result = hn::IfThenElse(no_root, hn::Set(d, M::kNaN), result);
  result = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::Add(x, y), result);
  const auto is_one = hn::Or(hn::Eq(y, zero), hn::Eq(x, one));
  const auto unit = hn::And(hn::Eq(a, one), hn::Eq(hn::Abs(y), inf));
  return hn::IfThenElse(hn::Or(is_one, unit), one, result);
}

template <class D, class V>
LATHE_MATH_INLINE V Hypot(D d, V x, V y) {
  using M = MathTable<hn::TFromD<D>>;
  const V inf = hn::Set(d, M::kInfinity), one = Constant(d, 1);
  const V ax = hn::Abs(x), ay = hn::Abs(y);
  const auto swap = hn::Gt(ay, ax);
  V a = hn::IfThenElse(swap, ay, ax), b = hn::IfThenElse(swap, ax, ay);
  const auto big = hn::Gt(a, hn::Set(d, M::kHypotBig));
  const auto small = hn::Lt(a, hn::Set(d, M::kHypotSmall));
  const V up = hn::Set(d, M::kHypotUp), down = hn::Set(d, M::kHypotDown);
  const V scale = hn::IfThenElse(big, down, hn::IfThenElse(small, up, one));
  const V back = hn::IfThenElse(big, up, hn::IfThenElse(small, down, one));
  a = hn::Mul(a, scale);
  b = hn::Mul(b, scale);
  const V r = hn::Mul(hn::Sqrt(Fma(d, a, a, hn::Mul(b, b))), back);
  const auto infinite = hn::Or(hn::Eq(ax, inf), hn::Eq(ay, inf));
  return hn::IfThenElse(infinite, inf, r);
}

// ---- Exact functions of two operands.

// C's fmod. While the quotient is below 2^21, x - trunc(x/y) y is exact in one fma, the quotient
// too large by at most one (then x/y was rounded up to an integer); otherwise libm, per lane.
template <class D, class V>
LATHE_MATH_INLINE V Fmod(D d, V x, V y) {
  using T = hn::TFromD<D>;
  using M = MathTable<T>;
#if HWY_NATIVE_FMA
  const V q = hn::Trunc(hn::Div(x, y));
  const auto fast = hn::And(hn::Lt(hn::Abs(q), Constant(d, 0x1p21)),
                            hn::And(hn::Lt(hn::Abs(y), hn::Set(d, M::kInfinity)),
                                    hn::Gt(hn::Abs(y), hn::Set(d, M::kMinNormal * T(0x1p30)))));
  if (hn::AllTrue(d, fast)) {
    V r = hn::NegMulAdd(q, y, x);
    const auto overshot = hn::Lt(
        hn::Mul(hn::CopySign(Constant(d, 1), r), hn::CopySign(Constant(d, 1), x)), hn::Zero(d));
    const auto wrong = hn::AndNot(hn::Eq(r, hn::Zero(d)), overshot);
    r = hn::IfThenElse(wrong, hn::Add(r, hn::CopySign(y, x)), r);
    return hn::CopySign(r, x);
  }
#endif
  return MapLanes<T>(d, x, y, &M::ScalarFmod);
}

// Python's %: the divisor's sign.
template <class D, class V>
LATHE_MATH_INLINE V Remainder(D d, V x, V y) {
  const V r = Fmod(d, x, y), zero = hn::Zero(d);
  const auto differ =
      hn::Xor(hn::BitCast(hn::RebindToSigned<D>(), r), hn::BitCast(hn::RebindToSigned<D>(), y));
  const auto other_sign = hn::RebindMask(d, hn::Lt(differ, hn::Zero(hn::RebindToSigned<D>())));
  const auto wrong = hn::AndNot(hn::Eq(r, zero), other_sign);
  return hn::IfThenElse(wrong, hn::Add(r, y), r);
}

// Python's // by fmod, as ATen computes it: (x - fmod) / y, one less for other signs, rounded to
// the nearest integer below but for rounding errors; x / y for y == 0.
template <class D, class V>
LATHE_MATH_INLINE V FloorDivide(D d, V x, V y) {
  const V zero = hn::Zero(d), one = Constant(d, 1);
  const V r = Fmod(d, x, y), quotient = hn::Div(x, y);
  V q = hn::Div(hn::Sub(x, r), y);
  const auto negative_y = hn::Lt(y, zero), negative_r = hn::Lt(r, zero);
  const auto differ =
      hn::Or(hn::AndNot(negative_y, negative_r), hn::AndNot(negative_r, negative_y));
  q = hn::IfThenElse(hn::AndNot(hn::Eq(r, zero), differ), hn::Sub(q, one), q);
  V down = hn::Floor(q);
  const auto up = hn::Gt(hn::Sub(q, down), Constant(d, 0.5));
  down = hn::IfThenElse(up, hn::Add(down, one), down);
  const V result = hn::IfThenElse(hn::Eq(q, zero), hn::CopySign(zero, quotient), down);
  return hn::IfThenElse(hn::Eq(y, zero), quotient, result);
}

template <class D, class V>
LATHE_MATH_INLINE V TruncDivide(D, V x, V y) {
  return hn::Trunc(hn::Div(x, y));
}

template <class D, class V>
LATHE_MATH_INLINE V NextAfter(D d, V x, V y) {
  using T = hn::TFromD<D>;
  return MapLanes<T>(d, x, y, &MathTable<T>::ScalarNextAfter);
}

// 1 / sqrt(x), both rounded; 1 / x.
template <class D, class V>
LATHE_MATH_INLINE V Rsqrt(D d, V x) {
  return hn::Div(Constant(d, 1), hn::Sqrt(x));
}
template <class D, class V>
LATHE_MATH_INLINE V Reciprocal(D d, V x) {
  return hn::Div(Constant(d, 1), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#endif  // LATHE_CODEGEN_MATH_VECTOR_MATH_H_
