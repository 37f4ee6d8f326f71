// Integer arithmetic that does not ask for the sign, for each width, and bool's.

#include "codegen/tile/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/integer_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/element_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace {  // names are used again in other files

// Computed in 32 bits or more, so that nothing narrower is promoted to a signed int.
#define LATHE_INTEGER_UNARY(Name, R, expression) \
  struct Name {                                  \
    template <class T>                           \
    static R Apply(T value) {                    \
      const auto x = value + 0u;                 \
      return static_cast<R>(expression);         \
    }                                            \
  };
#define LATHE_INTEGER_BINARY(Name, R, expression) \
  struct Name {                                   \
    template <class T>                            \
    static R Apply(T p, T q) {                    \
      const auto a = p + 0u, b = q + 0u;          \
      return static_cast<R>(expression);          \
    }                                             \
  };
LATHE_INTEGER_UNARY(Neg, T, 0u - x)
LATHE_INTEGER_UNARY(BitwiseNot, T, ~x)
LATHE_INTEGER_UNARY(IsZero, uint8_t, x == 0)
LATHE_INTEGER_UNARY(IsNotZero, uint8_t, x != 0)
LATHE_INTEGER_UNARY(Never, uint8_t, x & 0)
LATHE_INTEGER_BINARY(Add, T, a + b)
LATHE_INTEGER_BINARY(Sub, T, a - b)
LATHE_INTEGER_BINARY(Mul, T, a* b)
LATHE_INTEGER_BINARY(And, T, a& b)
LATHE_INTEGER_BINARY(Or, T, a | b)
LATHE_INTEGER_BINARY(Xor, T, a ^ b)
LATHE_INTEGER_BINARY(Eq, uint8_t, a == b)
LATHE_INTEGER_BINARY(Ne, uint8_t, a != b)
// A count below 0 is a huge one.
LATHE_INTEGER_BINARY(ShiftLeft, T, b < 8 * sizeof(T) ? a << (b & (8 * sizeof(T) - 1)) : 0)
// bool: any byte but 0 is true.
LATHE_INTEGER_BINARY(BoolAnd, uint8_t, (a != 0) & (b != 0))
LATHE_INTEGER_BINARY(BoolOr, uint8_t, (a | b) != 0)
LATHE_INTEGER_BINARY(BoolXor, uint8_t, (a != 0) != (b != 0))
LATHE_INTEGER_BINARY(BoolEq, uint8_t, (a != 0) == (b != 0))
LATHE_INTEGER_BINARY(BoolLt, uint8_t, (a == 0) & (b != 0))
LATHE_INTEGER_BINARY(BoolLe, uint8_t, (a == 0) | (b != 0))
LATHE_INTEGER_BINARY(BoolFirst, uint8_t, (a != 0) & ((b | 1) != 0))

template <class T>
void Fma(void* dst, const void* a, const void* b, const void* c, int64_t n, uint32_t scalars) {
  T* d = static_cast<T*>(dst);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b),
          *z = static_cast<const T*>(c);
  const int64_t sx = (scalars & 1) == 0, sy = (scalars & 2) == 0, sz = (scalars & 4) == 0;
  n = RoundUpToGroup<T, T>(n);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    d[i] = static_cast<T>((x[i * sx] + 0u) * (y[i * sy] + 0u) + (z[i * sz] + 0u));
  }
}

template <class T>
void AddFor(KernelTable& table, DType dtype) {
  table.at(OpKind::kNeg, dtype) = UnaryLoop<T, T, Neg>;
  table.at(OpKind::kBitwiseNot, dtype) = UnaryLoop<T, T, BitwiseNot>;
  table.at(OpKind::kLogicalNot, dtype) = UnaryLoop<T, uint8_t, IsZero>;
  table.at(OpKind::kIsNan, dtype) = UnaryLoop<T, uint8_t, Never>;
  table.at(OpKind::kIsInf, dtype) = UnaryLoop<T, uint8_t, Never>;
  table.at(OpKind::kAdd, dtype) = BinaryLoop<T, T, Add>;
  table.at(OpKind::kSub, dtype) = BinaryLoop<T, T, Sub>;
  table.at(OpKind::kMul, dtype) = BinaryLoop<T, T, Mul>;
  table.at(OpKind::kAnd, dtype) = BinaryLoop<T, T, And>;
  table.at(OpKind::kOr, dtype) = BinaryLoop<T, T, Or>;
  table.at(OpKind::kXor, dtype) = BinaryLoop<T, T, Xor>;
  table.at(OpKind::kEq, dtype) = BinaryLoop<T, uint8_t, Eq>;
  table.at(OpKind::kNe, dtype) = BinaryLoop<T, uint8_t, Ne>;
  table.at(OpKind::kShiftLeft, dtype) = BinaryLoop<T, T, ShiftLeft>;
  table.at(OpKind::kFma, dtype) = Fma<T>;
  table.at(OpKind::kWhere, dtype) = WhereLoop<T>;
}

void AddBool(KernelTable& table) {
  constexpr DType kBool = DType::kBool;
  for (OpKind kind : {OpKind::kNeg, OpKind::kAbs, OpKind::kSign}) {
    table.at(kind, kBool) = UnaryLoop<uint8_t, uint8_t, IsNotZero>;
  }
  for (OpKind kind : {OpKind::kBitwiseNot, OpKind::kLogicalNot}) {
    table.at(kind, kBool) = UnaryLoop<uint8_t, uint8_t, IsZero>;
  }
  for (OpKind kind : {OpKind::kIsNan, OpKind::kIsInf, OpKind::kSignBit}) {
    table.at(kind, kBool) = UnaryLoop<uint8_t, uint8_t, Never>;
  }
  for (OpKind kind : {OpKind::kAdd, OpKind::kMaximum, OpKind::kFmax, OpKind::kOr}) {
    table.at(kind, kBool) = BinaryLoop<uint8_t, uint8_t, BoolOr>;
  }
  for (OpKind kind : {OpKind::kMul, OpKind::kMinimum, OpKind::kFmin, OpKind::kAnd}) {
    table.at(kind, kBool) = BinaryLoop<uint8_t, uint8_t, BoolAnd>;
  }
  for (OpKind kind : {OpKind::kSub, OpKind::kXor, OpKind::kNe}) {
    table.at(kind, kBool) = BinaryLoop<uint8_t, uint8_t, BoolXor>;
  }
  table.at(OpKind::kEq, kBool) = BinaryLoop<uint8_t, uint8_t, BoolEq>;
  table.at(OpKind::kLt, kBool) = BinaryLoop<uint8_t, uint8_t, BoolLt>;
  table.at(OpKind::kLe, kBool) = BinaryLoop<uint8_t, uint8_t, BoolLe>;
  table.at(OpKind::kGt, kBool) = Exchanged<BinaryLoop<uint8_t, uint8_t, BoolLt>>;
  table.at(OpKind::kGe, kBool) = Exchanged<BinaryLoop<uint8_t, uint8_t, BoolLe>>;
  // a ** b: 0 only for 0 ** 1.
  table.at(OpKind::kPow, kBool) = Exchanged<BinaryLoop<uint8_t, uint8_t, BoolLe>>;
  // Counts below the width, 0 and 1, leave a true value true to the left; to the right 1 gives 0.
  table.at(OpKind::kShiftLeft, kBool) = BinaryLoop<uint8_t, uint8_t, BoolFirst>;
  table.at(OpKind::kShiftRight, kBool) = Exchanged<BinaryLoop<uint8_t, uint8_t, BoolLt>>;
  table.at(OpKind::kWhere, kBool) = WhereLoop<uint8_t>;
}

}  // namespace

void AddIntegers(KernelTable& table) {
  for (DType dtype : {DType::kU8, DType::kI8}) AddFor<uint8_t>(table, dtype);
  for (DType dtype : {DType::kU16, DType::kI16}) AddFor<uint16_t>(table, dtype);
  for (DType dtype : {DType::kU32, DType::kI32}) AddFor<uint32_t>(table, dtype);
  for (DType dtype : {DType::kU64, DType::kI64}) AddFor<uint64_t>(table, dtype);
  AddBool(table);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddIntegers);
void AddIntegerKernels(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddIntegers)(table); }
}  // namespace lathe::tile
#endif
