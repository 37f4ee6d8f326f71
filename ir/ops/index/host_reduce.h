#ifndef LATHE_IR_OPS_INDEX_HOST_REDUCE_H_
#define LATHE_IR_OPS_INDEX_HOST_REDUCE_H_

#include <complex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"

namespace lathe {

// Eager sums halves in halves and wraps integers at every step: `value` as `dtype` holds it.
template <typename T>
T RoundedStep(const T& value, DType dtype) {
  if constexpr (std::is_same_v<T, double>) {
    if (ComputeType(dtype) != dtype) return Convert(Scalar(value), dtype).ToDouble();
  } else if constexpr (std::is_integral_v<T>) {
    const Scalar held = Convert(Scalar(value), dtype);
    return std::is_signed_v<T> ? static_cast<T>(held.ToInt()) : static_cast<T>(held.ToUInt());
  }
  return value;
}

// Overflow wraps.
template <typename T>
T WrappingSum(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename T>
T WrappingProduct(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

// result[places[k]] = reduce(result[places[k]], values[k]) in order of k. "" replaces; "sum" and
// "add", "prod" and "multiply", "mean", "amax", "amin". Without include_self the first value that
// reaches a place replaces what was there.
template <typename T>
absl::Status ReduceInto(const std::string& reduce, bool include_self,
                        const std::vector<int64_t>& places, const std::vector<T>& values,
                        std::vector<T>& result, bool is_float, DType dtype) {
  const bool is_sum = reduce == "sum" || reduce == "add" || reduce == "mean";
  const bool is_product = reduce == "prod" || reduce == "multiply";
  if (!is_sum && !is_product && !reduce.empty() && reduce != "amax" && reduce != "amin") {
    return InvalidArgument(
        "reduce argument must be sum, prod, mean, amax, amin, add or multiply, "
        "got ",
        reduce);
  }
  std::vector<int64_t> counts(result.size(), include_self ? 1 : 0);
  for (size_t k = 0; k < places.size(); ++k) {
    T& at = result[places[k]];
    const T& v = values[k];
    const bool replaces = reduce.empty() || counts[places[k]] == 0;
    ++counts[places[k]];
    if (replaces) {
      at = v;
    } else if (is_sum) {
      at = RoundedStep(WrappingSum(at, v), dtype);
    } else if (is_product) {
      at = RoundedStep(WrappingProduct(at, v), dtype);
    } else if constexpr (!std::is_same_v<T, std::complex<double>>) {
      // NaN wins.
      if (reduce == "amax") at = v > at || v != v ? v : at;
      if (reduce == "amin") at = v < at || v != v ? v : at;
    } else {
      return InvalidArgument("reduce=", reduce, " of complex numbers");
    }
  }
  if (dtype == DType::kBool) {
    for (T& v : result) v = v != T(0) ? T(1) : T(0);
  }
  if (reduce != "mean") return absl::OkStatus();
  for (size_t k = 0; k < result.size(); ++k) {
    if (counts[k] <= 1) continue;
    const T count = static_cast<T>(counts[k]);
    T mean = result[k] / count;
    if constexpr (std::is_integral_v<T>) {
      // Integers divide rounding down.
      if (!is_float && result[k] % count != 0 && result[k] < T(0)) mean -= 1;
    }
    result[k] = mean;
  }
  return absl::OkStatus();
}

}  // namespace lathe

#endif  // LATHE_IR_OPS_INDEX_HOST_REDUCE_H_
