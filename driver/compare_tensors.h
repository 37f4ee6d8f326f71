#ifndef LATHE_DRIVER_COMPARE_TENSORS_H_
#define LATHE_DRIVER_COMPARE_TENSORS_H_

#include <cstdint>
#include <string>

#include "dtypes/dtype.h"
#include "runtime/tensor/tensor.h"

namespace lathe::driver {

// |actual - expected| <= relative * |expected| + absolute.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

// What `lathe check` allows: f64 1e-9/1e-9, f32 1e-4/1e-5, f16 2e-3/1e-3, bf16 2e-2/1e-2, complex
// as its part, everything else exact (f8: neighbouring codes, which CompareTensors knows).
Tolerance CheckTolerance(DType dtype);

struct Comparison {
  bool passed = false;
  // Empty when passed; else what differs: "3 of 8 elements differ, the first at [0, 2]: ...".
  std::string difference;
  double largest_error = 0;  // |actual - expected| over finite elements
  // Root mean squares against the float64 answer; negative without one.
  double our_rmse = -1, expected_rmse = -1;
};

// Dtype and sizes must be equal; NaN equals NaN, infinities exactly. With a float64 `reference`
// (undefined: none) values also pass as a whole when their RMSE against it is at most twice that
// of `expected`, plus 1e-6 of the reference's RMS.
Comparison CompareTensors(const Tensor& actual, const Tensor& expected, const Tensor& reference,
                          Tolerance tolerance);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_COMPARE_TENSORS_H_
