#ifndef LATHE_IR_OPS_HOST_HOST_LOOPS_H_
#define LATHE_IR_OPS_HOST_HOST_LOOPS_H_

// What the `evaluate` functions of rows share: plain walks over the elements of host tensors.
// Correctness first: everything is row-major and widened to one of four element types.
//
//   std::vector<double> x = ToVector<double>(tensor);      // any dtype, any strides
//   ForEachIndex(sizes, [&](const Position& i) { ... });   // row-major
//   FromVector<double>(x, result);                         // converted to result's dtype

#include <complex>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/visit.h"
#include "ir/ops/op_row.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

using Position = std::vector<int64_t>;  // a multi-index

// Calls `visit(position)` for every multi-index below `sizes`, last dimension fastest.
template <typename F>
void ForEachIndex(const Dims& sizes, F&& visit) {
  Position position(sizes.size(), 0);
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  for (;;) {
    visit(static_cast<const Position&>(position));
    int d = static_cast<int>(sizes.size()) - 1;
    while (d >= 0 && ++position[d] == sizes[d]) position[d--] = 0;
    if (d < 0) return;
  }
}

// Row-major number of a multi-index.
int64_t Linear(const Position& position, const Dims& sizes);
// The multi-index of a row-major number.
Position Unlinear(int64_t k, const Dims& sizes);
int64_t CountElements(const Dims& sizes);

// All elements in row-major order, converted to T: double, int64_t, uint64_t or complex<double>.
template <typename T>
std::vector<T> ToVector(const Tensor& tensor);
// Writes all elements of `out` in row-major order, converted to its dtype.
template <typename T>
void FromVector(const std::vector<T>& values, const Tensor& out);

// Calls `f(TypeTag<T>{})` with the widest type of the dtype's kind: int64_t (bool too), uint64_t,
// double, complex<double>.
template <typename F>
decltype(auto) VisitWide(DType dtype, F&& f) {
  if (IsComplex(dtype)) return f(TypeTag<std::complex<double>>{});
  if (IsFloat(dtype)) return f(TypeTag<double>{});
  if (dtype == DType::kU64) return f(TypeTag<uint64_t>{});
  return f(TypeTag<int64_t>{});
}
// The same without complex numbers, for ops that compare.
template <typename F>
decltype(auto) VisitOrdered(DType dtype, F&& f) {
  if (IsFloat(dtype)) return f(TypeTag<double>{});
  if (dtype == DType::kU64) return f(TypeTag<uint64_t>{});
  return f(TypeTag<int64_t>{});
}

// out[k] = in[source[k]], both counted in row-major order; where source[k] is negative the element
// stays as it is. The dtypes are the same.
void CopyElements(const Tensor& in, const std::vector<int64_t>& source, const Tensor& out);
// Puts `value` into every element.
void FillElements(const Tensor& out, const Scalar& value);
// A tensor seen as broadcast to `sizes` (strides 0). LATHE_CHECK: it broadcasts.
Tensor BroadcastTo(const Tensor& tensor, const Dims& sizes);
// The common size of tensors that broadcast; InvalidArgument otherwise.
absl::StatusOr<Dims> BroadcastSizes(absl::Span<const Dims> sizes);

// The evaluation of a view op: argument 0's storage with the sizes, strides and offsets of the
// inferred types, which are those of the actual argument.
absl::StatusOr<std::vector<HostValue>> EvaluateView(const EvaluateContext& context);
// The sizes of an inferred type whose sizes are all numbers.
Dims ConstantDims(const std::vector<Expr>& values);
inline std::vector<HostValue> OneResult(Tensor tensor) { return {HostValue(std::move(tensor))}; }

}  // namespace lathe

#endif  // LATHE_IR_OPS_HOST_HOST_LOOPS_H_
