#include "driver/compare_tensors.h"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "driver/print_value.h"

namespace lathe::driver {
namespace {

bool PartsAgree(double a, double e, Tolerance t) {
  if (std::isnan(e) || std::isnan(a)) return std::isnan(e) && std::isnan(a);
  if (std::isinf(e) || std::isinf(a)) return a == e;
  return std::abs(a - e) <= t.relative * std::abs(e) + t.absolute;
}

// The codes of an f8 type in the order of their values; -0 and 0 are neighbours.
int OrderedCode(DType dtype, uint8_t code) {
  if (dtype == DType::kF8E8M0FNU) return code;
  return code & 0x80 ? -static_cast<int>(code & 0x7f) : code;
}

bool F8Agrees(const Scalar& a, const Scalar& e, DType dtype) {
  double x = a.ToDouble(), y = e.ToDouble();
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  uint8_t codes[2] = {0, 0};
  StoreElement(codes, dtype, 0, a);
  StoreElement(codes, dtype, 1, e);
  return std::abs(OrderedCode(dtype, codes[0]) - OrderedCode(dtype, codes[1])) <= 1;
}

bool ElementsAgree(const Scalar& a, const Scalar& e, DType dtype, Tolerance t) {
  if (IsF8(dtype)) return F8Agrees(a, e, dtype);
  if (IsComplex(dtype)) {
    std::complex<double> x = a.ToComplex(), y = e.ToComplex();
    return PartsAgree(x.real(), y.real(), t) && PartsAgree(x.imag(), y.imag(), t);
  }
  if (IsFloat(dtype)) return PartsAgree(a.ToDouble(), e.ToDouble(), t);
  return a == e;
}

double ErrorOf(const Scalar& a, const Scalar& e) {
  double error = std::abs(a.ToComplex() - e.ToComplex());
  return std::isfinite(error) ? error : 0;
}

std::string IndexText(const Tensor& tensor, int64_t k) {
  std::vector<int64_t> index(tensor.sizes().size());
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = k % tensor.sizes()[d];
    k /= tensor.sizes()[d];
  }
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

// True when the whole is as near to the float64 answer as PyTorch's own; sets both RMSEs.
bool IsNearReference(const Tensor& actual, const Tensor& expected, const Tensor& reference,
                     Comparison& result) {
  double ours = 0, theirs = 0, squares = 0;
  int64_t count = 0;
  for (int64_t k = 0, n = actual.numel(); k < n; ++k) {
    std::complex<double> a = actual.AtLinear(k).ToComplex(), e = expected.AtLinear(k).ToComplex(),
                         r = reference.AtLinear(k).ToComplex();
    double size = std::abs(r), error = std::abs(a - r), expected_error = std::abs(e - r);
    if (!std::isfinite(size) || !std::isfinite(expected_error)) {
      // Nothing to average: here the element itself must agree.
      if (!ElementsAgree(actual.AtLinear(k), expected.AtLinear(k), actual.dtype(), {})) {
        return false;
      }
      continue;
    }
    if (!std::isfinite(error)) return false;
    ours += error * error;
    theirs += expected_error * expected_error;
    squares += size * size;
    ++count;
  }
  double n = static_cast<double>(std::max<int64_t>(count, 1));
  result.our_rmse = std::sqrt(ours / n);
  result.expected_rmse = std::sqrt(theirs / n);
  return result.our_rmse <= 2 * result.expected_rmse + 1e-6 * std::sqrt(squares / n);
}

}  // namespace

Tolerance CheckTolerance(DType dtype) {
  switch (IsComplex(dtype) ? ComplexPart(dtype) : dtype) {
    case DType::kF64:
      return {1e-9, 1e-9};
    case DType::kF32:
      return {1e-4, 1e-5};
    case DType::kF16:
      return {2e-3, 1e-3};
    case DType::kBF16:
      return {2e-2, 1e-2};
    default:
      return {};
  }
}

Comparison CompareTensors(const Tensor& actual, const Tensor& expected, const Tensor& reference,
                          Tolerance tolerance) {
  Comparison result;
  if (actual.dtype() != expected.dtype() || !(actual.sizes() == expected.sizes())) {
    result.difference = absl::StrCat("expected ", TypeOf(expected), ", got ", TypeOf(actual));
    return result;
  }
  int64_t n = actual.numel(), wrong = 0, first = -1;
  for (int64_t k = 0; k < n; ++k) {
    Scalar a = actual.AtLinear(k), e = expected.AtLinear(k);
    result.largest_error = std::max(result.largest_error, ErrorOf(a, e));
    if (ElementsAgree(a, e, actual.dtype(), tolerance)) continue;
    if (wrong++ == 0) first = k;
  }
  bool has_reference = reference.is_defined() && reference.sizes() == actual.sizes();
  bool near = has_reference && IsNearReference(actual, expected, reference, result);
  result.passed = wrong == 0 || near;
  if (result.passed) return result;
  DType dtype = actual.dtype();
  result.difference = absl::StrCat(
      wrong, " of ", n, " elements differ, the first at ", IndexText(actual, first), ": ",
      FormatElement(actual.AtLinear(first), dtype), ", expected ",
      FormatElement(expected.AtLinear(first), dtype), "; largest error ", result.largest_error);
  if (has_reference) {
    absl::StrAppend(&result.difference, "; RMSE ", result.our_rmse, ", recorded ",
                    result.expected_rmse);
  }
  return result;
}

}  // namespace lathe::driver
