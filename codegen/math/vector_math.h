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
