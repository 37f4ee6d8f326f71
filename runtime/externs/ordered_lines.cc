#include "runtime/externs/ordered_lines.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "dtypes/base/status.h"
#include "dtypes/visit.h"
#include "runtime/externs/lines.h"
#include "runtime/externs/ordering.h"

namespace lathe {
namespace {

template <typename T>
void OrderRange(const Lines& lines, const Tensor& x, const Tensor& values, const Tensor& indices,
                bool descending, int64_t kept, int64_t begin, int64_t end) {
  std::vector<KeyAndIndex> order(static_cast<size_t>(lines.length));
  const int64_t x_step = LineStep(lines, x.strides());
  const int64_t value_step = LineStep(lines, values.strides());
  const int64_t index_step = LineStep(lines, indices.strides());
  for (int64_t line = begin; line < end; ++line) {
    const T* from = x.data_as<T>() + LineStart(lines, x.strides(), line);
    for (int64_t k = 0; k < lines.length; ++k) {
      const uint64_t key = OrderKey(from[k * x_step]);
      order[static_cast<size_t>(k)] = {descending ? ~key : key, k};
    }
    if (kept < lines.length) {
      std::nth_element(order.begin(), order.begin() + kept, order.end());
    }
    std::sort(order.begin(), order.begin() + kept);
    T* value = values.data_as<T>() + LineStart(lines, values.strides(), line);
    int64_t* index = indices.data_as<int64_t>() + LineStart(lines, indices.strides(), line);
    for (int64_t k = 0; k < kept; ++k) {
      const int64_t at = order[static_cast<size_t>(k)].index;
      value[k * value_step] = from[at * x_step];
      index[k * index_step] = at;
    }
  }
}

}  // namespace

absl::Status OrderLines(const char* name, const ExternCall& call, int64_t dim, bool descending,
                        int64_t kept) {
  if (call.inputs.size() != 1 || call.outputs.size() != 2 || !call.inputs[0].is_defined()) {
    return InvalidArgument(name, ": takes one tensor and gives two");
  }
  const DType dtype = call.inputs[0].dtype();
  if (IsComplex(dtype)) return InvalidArgument(name, ": ", Name(dtype), " has no order");
  if (IsStorageOnly(dtype)) return Unimplemented(name, ": ", Name(dtype));
  const Tensor x = Widened(call.inputs[0]);
  LATHE_ASSIGN_OR_RETURN(const Lines lines, LinesOf(x, dim));
  if (kept < 0) kept = lines.length;
  if (kept > lines.length) {
    return OutOfRange(name, ": ", kept, " of ", lines.length, " elements");
  }
  const Tensor &values = call.outputs[0], &indices = call.outputs[1];
  LATHE_RETURN_IF_ERROR(CheckResult(name, values, dtype, lines, kept));
  LATHE_RETURN_IF_ERROR(CheckResult(name, indices, DType::kI64, lines, kept));
  const Tensor wide = IsSubByte(dtype) ? Tensor::Empty(x.dtype(), values.sizes()) : values;
  VisitPlain(x.dtype(), [&]<typename T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
        OrderRange<T>(lines, x, wide, indices, descending, kept, begin, end);
      });
    }
  });
  if (IsSubByte(dtype)) call.outputs[0].CopyFrom(wide.To(dtype));
  return absl::OkStatus();
}

}  // namespace lathe
