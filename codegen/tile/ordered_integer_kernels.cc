// Integer arithmetic that depends on the sign: order, right shifts, powers.

#include <type_traits>

#include "codegen/tile/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/ordered_integer_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/element_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace {  // names are used again in other files

struct Abs {
  template <class T>
  static T Apply(T x) {
    using U = std::make_unsigned_t<T>;
    return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x;
  }
};
struct Sign {
  template <class T>
  static T Apply(T x) {
    return static_cast<T>((T{0} < x) - (x < T{0}));
  }
};
struct SignBit {
  template <class T>
  static uint8_t Apply(T x) {
    return x < T{0};
  }
};
struct Minimum {
  template <class T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct Lt {
  template <class T>
  static uint8_t Apply(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static uint8_t Apply(T a, T b) {
    return a <= b;
  }
};
// Counts outside the width leave the sign fill.
struct ShiftRight {
  template <class T>
  static T Apply(T a, T b) {
    using U = std::make_unsigned_t<T>;
    constexpr U kWidth = 8 * sizeof(T);
    const U count = static_cast<U>(b);
    const T all = static_cast<T>(a < T{0} ? -1 : 0);
    return count < kWidth ? static_cast<T>(a >> (count & (kWidth - 1))) : all;
  }
};
// Wraps; a negative exponent leaves 1, -1 or 0.
struct Pow {
  template <class T>
  static T Apply(T base, T exponent) {
    using U = std::make_unsigned_t<T>;
    if (exponent < T{0}) {
      if (base == T{1}) return 1;
      if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T{1} : base;
      return 0;
    }
    uint64_t result = 1, square = static_cast<uint64_t>(base);
    for (U e = static_cast<U>(exponent); e != 0; e = static_cast<U>(e >> 1)) {
      if (e & 1) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};

template <class T>
void AddFor(KernelTable& table, DType dtype) {
  table.at(OpKind::kAbs, dtype) = UnaryLoop<T, T, Abs>;
  table.at(OpKind::kSign, dtype) = UnaryLoop<T, T, Sign>;
  table.at(OpKind::kSignBit, dtype) = UnaryLoop<T, uint8_t, SignBit>;
  table.at(OpKind::kMinimum, dtype) = BinaryLoop<T, T, Minimum>;
  table.at(OpKind::kMaximum, dtype) = BinaryLoop<T, T, Maximum>;
  table.at(OpKind::kFmin, dtype) = BinaryLoop<T, T, Minimum>;
  table.at(OpKind::kFmax, dtype) = BinaryLoop<T, T, Maximum>;
  table.at(OpKind::kLt, dtype) = BinaryLoop<T, uint8_t, Lt>;
  table.at(OpKind::kLe, dtype) = BinaryLoop<T, uint8_t, Le>;
  table.at(OpKind::kGt, dtype) = Exchanged<BinaryLoop<T, uint8_t, Lt>>;
  table.at(OpKind::kGe, dtype) = Exchanged<BinaryLoop<T, uint8_t, Le>>;
  table.at(OpKind::kShiftRight, dtype) = BinaryLoop<T, T, ShiftRight>;
  table.at(OpKind::kPow, dtype) = BinaryLoop<T, T, Pow>;
}

}  // namespace

void AddOrderedIntegers(KernelTable& table) {
  AddFor<uint8_t>(table, DType::kU8);
  AddFor<uint16_t>(table, DType::kU16);
  AddFor<uint32_t>(table, DType::kU32);
  AddFor<uint64_t>(table, DType::kU64);
  AddFor<int8_t>(table, DType::kI8);
  AddFor<int16_t>(table, DType::kI16);
  AddFor<int32_t>(table, DType::kI32);
  AddFor<int64_t>(table, DType::kI64);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddOrderedIntegers);
void AddOrderedIntegerKernels(KernelTable& table) {
  HWY_DYNAMIC_DISPATCH(AddOrderedIntegers)(table);
}
}  // namespace lathe::tile
#endif
