// The functions of codegen/math over tiles of one float type, once a Highway target.

#if defined(LATHE_CODEGEN_TILE_MATH_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_CODEGEN_TILE_MATH_KERNELS_INL_H_
#undef LATHE_CODEGEN_TILE_MATH_KERNELS_INL_H_
#else
#define LATHE_CODEGEN_TILE_MATH_KERNELS_INL_H_
#endif

#include "codegen/math/vector_math.h"
#include "codegen/tile/element_loops-inl.h"
#include "codegen/tile/kernel_table.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace math = lathe::HWY_NAMESPACE;

#define LATHE_MATH_UNARY(Name, Function) \
  struct Name##Op {                      \
    template <class D, class V>          \
    static V Apply(D d, V x) {           \
      return math::Function(d, x);       \
    }                                    \
  };
#define LATHE_MATH_BINARY(Name, Function) \
  struct Name##Op {                       \
    template <class D, class V>           \
    static V Apply(D d, V x, V y) {       \
      return math::Function(d, x, y);     \
    }                                     \
  };
LATHE_MATH_UNARY(Exp, Exp)
LATHE_MATH_UNARY(Exp2, Exp2)
LATHE_MATH_UNARY(Expm1, Expm1)
LATHE_MATH_UNARY(Log, Log)
LATHE_MATH_UNARY(Log2, Log2)
LATHE_MATH_UNARY(Log10, Log10)
LATHE_MATH_UNARY(Log1p, Log1p)
LATHE_MATH_UNARY(Sin, Sin)
LATHE_MATH_UNARY(Cos, Cos)
LATHE_MATH_UNARY(Tan, Tan)
LATHE_MATH_UNARY(Asin, Asin)
LATHE_MATH_UNARY(Acos, Acos)
LATHE_MATH_UNARY(Atan, Atan)
LATHE_MATH_UNARY(Sinh, Sinh)
LATHE_MATH_UNARY(Cosh, Cosh)
LATHE_MATH_UNARY(Tanh, Tanh)
LATHE_MATH_UNARY(Asinh, Asinh)
LATHE_MATH_UNARY(Acosh, Acosh)
LATHE_MATH_UNARY(Atanh, Atanh)
LATHE_MATH_UNARY(Sigmoid, Sigmoid)
LATHE_MATH_UNARY(Erf, Erf)
LATHE_MATH_UNARY(Erfc, Erfc)
LATHE_MATH_BINARY(FloorDiv, FloorDivide)
LATHE_MATH_BINARY(TruncDiv, TruncDivide)
LATHE_MATH_BINARY(Remainder, Remainder)
LATHE_MATH_BINARY(Fmod, Fmod)
LATHE_MATH_BINARY(Pow, Pow)
LATHE_MATH_BINARY(Atan2, Atan2)
LATHE_MATH_BINARY(Hypot, Hypot)
LATHE_MATH_BINARY(NextAfter, NextAfter)

template <class T>
void AddMathKernels(KernelTable& table, DType dtype) {
  table.at(OpKind::kExp, dtype) = VectorUnary<T, ExpOp>;
  table.at(OpKind::kExp2, dtype) = VectorUnary<T, Exp2Op>;
  table.at(OpKind::kExpm1, dtype) = VectorUnary<T, Expm1Op>;
  table.at(OpKind::kLog, dtype) = VectorUnary<T, LogOp>;
  table.at(OpKind::kLog2, dtype) = VectorUnary<T, Log2Op>;
  table.at(OpKind::kLog10, dtype) = VectorUnary<T, Log10Op>;
  table.at(OpKind::kLog1p, dtype) = VectorUnary<T, Log1pOp>;
  table.at(OpKind::kSin, dtype) = VectorUnary<T, SinOp>;
  table.at(OpKind::kCos, dtype) = VectorUnary<T, CosOp>;
  table.at(OpKind::kTan, dtype) = VectorUnary<T, TanOp>;
  table.at(OpKind::kAsin, dtype) = VectorUnary<T, AsinOp>;
  table.at(OpKind::kAcos, dtype) = VectorUnary<T, AcosOp>;
  table.at(OpKind::kAtan, dtype) = VectorUnary<T, AtanOp>;
  table.at(OpKind::kSinh, dtype) = VectorUnary<T, SinhOp>;
  table.at(OpKind::kCosh, dtype) = VectorUnary<T, CoshOp>;
  table.at(OpKind::kTanh, dtype) = VectorUnary<T, TanhOp>;
  table.at(OpKind::kAsinh, dtype) = VectorUnary<T, AsinhOp>;
  table.at(OpKind::kAcosh, dtype) = VectorUnary<T, AcoshOp>;
  table.at(OpKind::kAtanh, dtype) = VectorUnary<T, AtanhOp>;
  table.at(OpKind::kSigmoid, dtype) = VectorUnary<T, SigmoidOp>;
  table.at(OpKind::kErf, dtype) = VectorUnary<T, ErfOp>;
  table.at(OpKind::kErfc, dtype) = VectorUnary<T, ErfcOp>;
  table.at(OpKind::kFloorDiv, dtype) = VectorBinary<T, FloorDivOp>;
  table.at(OpKind::kTruncDiv, dtype) = VectorBinary<T, TruncDivOp>;
  table.at(OpKind::kRemainder, dtype) = VectorBinary<T, RemainderOp>;
  table.at(OpKind::kFmod, dtype) = VectorBinary<T, FmodOp>;
  table.at(OpKind::kPow, dtype) = VectorBinary<T, PowOp>;
  table.at(OpKind::kAtan2, dtype) = VectorBinary<T, Atan2Op>;
  table.at(OpKind::kHypot, dtype) = VectorBinary<T, HypotOp>;
  table.at(OpKind::kNextAfter, dtype) = VectorBinary<T, NextAfterOp>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#endif  // LATHE_CODEGEN_TILE_MATH_KERNELS_INL_H_
