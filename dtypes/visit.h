#ifndef LATHE_DTYPES_VISIT_H_
#define LATHE_DTYPES_VISIT_H_

// From a dtype at run time to a C++ type at compile time.
//
//   VisitPlain(dtype, [&]<typename T>(TypeTag<T>) { Fill<T>(...); });

#include <complex>
#include <cstdint>

#include "dtypes/base/check.h"
#include "dtypes/dtype.h"
#include "dtypes/small_float.h"

namespace lathe {

template <typename T>
struct TypeTag {
  using type = T;
};

// Calls `f(TypeTag<T>{})` with the C++ type that stores one element of a byte-sized dtype: bool,
// the standard integers, F16, BF16, F8<...>, float, double, std::complex<float or double>.
// Sub-byte and storage-only dtypes are the caller's fault.
template <typename F>
decltype(auto) VisitPlain(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(TypeTag<bool>{});
    case DType::kU8:
      return f(TypeTag<uint8_t>{});
    case DType::kU16:
      return f(TypeTag<uint16_t>{});
    case DType::kU32:
      return f(TypeTag<uint32_t>{});
    case DType::kU64:
      return f(TypeTag<uint64_t>{});
    case DType::kI8:
      return f(TypeTag<int8_t>{});
    case DType::kI16:
      return f(TypeTag<int16_t>{});
    case DType::kI32:
      return f(TypeTag<int32_t>{});
    case DType::kI64:
      return f(TypeTag<int64_t>{});
    case DType::kF8E4M3FN:
      return f(TypeTag<F8E4M3FN>{});
    case DType::kF8E5M2:
      return f(TypeTag<F8E5M2>{});
    case DType::kF8E4M3FNUZ:
      return f(TypeTag<F8E4M3FNUZ>{});
    case DType::kF8E5M2FNUZ:
      return f(TypeTag<F8E5M2FNUZ>{});
    case DType::kF8E8M0FNU:
      return f(TypeTag<F8E8M0FNU>{});
    case DType::kF16:
      return f(TypeTag<F16>{});
    case DType::kBF16:
      return f(TypeTag<BF16>{});
    case DType::kF32:
      return f(TypeTag<float>{});
    case DType::kF64:
      return f(TypeTag<double>{});
    case DType::kC64:
      return f(TypeTag<std::complex<float>>{});
    case DType::kC128:
      return f(TypeTag<std::complex<double>>{});
    default:
      LATHE_UNREACHABLE();
  }
}

}  // namespace lathe

#endif  // LATHE_DTYPES_VISIT_H_
