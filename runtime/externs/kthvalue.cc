// "kthvalue": outputs[0], outputs[1] = the integers[0]-th smallest element of each line of
// inputs[0] along "dim", and its position (i64). The outputs have the sizes of the input with that
// dimension 1, or without it. NaN counts as the largest.
//
// Which of several equal elements is named depends on how the line is partitioned. PyTorch's CPU
// kernel does it by the textbook selection with the median of three as pivot, so this does too.

#include <utility>
#include <vector>

#include "dtypes/base/status.h"
#include "dtypes/visit.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"
#include "runtime/externs/ordering.h"

namespace lathe {
namespace {

// Brings the line into an order where no element before position k has a larger key than the one
// there, and none after it a smaller one.
class Selection {
 public:
  explicit Selection(std::vector<KeyAndIndex>& line) : line_(line) {}

  int64_t IndexAt(int64_t k) {
    int64_t low = 0, high = static_cast<int64_t>(line_.size()) - 1;
    while (high > low + 1) {
      const int64_t pivot = Partition(low, high);
      if (pivot <= k) low = pivot;
      if (pivot >= k) high = pivot - 1;
    }
    if (high == low + 1) Order(low, high);
    return line_[static_cast<size_t>(k)].index;
  }

 private:
  uint64_t Key(int64_t i) const { return line_[static_cast<size_t>(i)].key; }
  void Swap(int64_t i, int64_t j) {
    std::swap(line_[static_cast<size_t>(i)], line_[static_cast<size_t>(j)]);
  }
  void Order(int64_t i, int64_t j) {
    if (Key(i) > Key(j)) Swap(i, j);
  }

  // Where the pivot stands afterwards.
  int64_t Partition(int64_t low, int64_t high) {
    Swap(low + (high - low) / 2, low + 1);
    Order(low + 1, high);
    Order(low, high);
    Order(low + 1, low);  // now the median of the three stands at `low`
    const uint64_t pivot = Key(low);
    int64_t i = low + 1, j = high;
    for (;;) {
      do ++i;
      while (Key(i) < pivot);
      do --j;
      while (Key(j) > pivot);
      if (j < i) break;
      Swap(i, j);
    }
    Swap(low, j);
    return j;
  }

  std::vector<KeyAndIndex>& line_;
};

// The result with the selected dimension as one of size 1.
Tensor WithDim(const Tensor& t, const Lines& lines) {
  if (t.rank() == static_cast<int>(lines.sizes.size())) return t;
  Dims sizes, strides;
  for (size_t d = 0; d < lines.sizes.size(); ++d) {
    const size_t from = d - (d > lines.dim ? 1 : 0);
    sizes.push_back(d == lines.dim ? 1 : t.sizes()[from]);
    strides.push_back(d == lines.dim ? 1 : t.strides()[from]);
  }
  return t.AsStrided(sizes, strides, t.offset());
}

template <typename T>
void Select(const Lines& lines, const Tensor& x, const Tensor& values, const Tensor& indices,
            int64_t k, int64_t begin, int64_t end) {
  std::vector<KeyAndIndex> line(static_cast<size_t>(lines.length));
  const int64_t step = LineStep(lines, x.strides());
  for (int64_t at = begin; at < end; ++at) {
    const T* from = x.data_as<T>() + LineStart(lines, x.strides(), at);
    for (int64_t i = 0; i < lines.length; ++i) {
      line[static_cast<size_t>(i)] = {OrderKey(from[i * step]), i};
    }
    const int64_t index = Selection(line).IndexAt(k);
    values.data_as<T>()[LineStart(lines, values.strides(), at)] = from[index * step];
    indices.data_as<int64_t>()[LineStart(lines, indices.strides(), at)] = index;
  }
}

class KthValue final : public Extern {
 public:
  absl::string_view id() const override { return "kthvalue"; }
  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 1 || call.outputs.size() != 2 || call.integers.size() != 1 ||
        !call.inputs[0].is_defined()) {
      return InvalidArgument("kthvalue: takes one tensor and k, gives two tensors");
    }
    const DType dtype = call.inputs[0].dtype();
    if (IsComplex(dtype)) return InvalidArgument("kthvalue: ", Name(dtype), " has no order");
    if (IsStorageOnly(dtype)) return Unimplemented("kthvalue: ", Name(dtype));
    LATHE_ASSIGN_OR_RETURN(const int64_t dim, IntAttribute(call, "dim", -1));
    const Tensor x = Widened(call.inputs[0]);
    LATHE_ASSIGN_OR_RETURN(const Lines lines, LinesOf(x, dim));
    const int64_t k = call.integers[0];
    if (k < 1 || k > lines.length) {
      return OutOfRange("kthvalue(): selected number k out of range for dimension ", dim);
    }
    const Tensor values = WithDim(call.outputs[0], lines), at = WithDim(call.outputs[1], lines);
    LATHE_RETURN_IF_ERROR(CheckResult("kthvalue", values, dtype, lines, 1));
    LATHE_RETURN_IF_ERROR(CheckResult("kthvalue", at, DType::kI64, lines, 1));
    const Tensor wide = IsSubByte(dtype) ? Tensor::Empty(x.dtype(), values.sizes()) : values;
    VisitPlain(x.dtype(), [&]<typename T>(TypeTag<T>) {
      if constexpr (!std::is_same_v<T, std::complex<float>> &&
                    !std::is_same_v<T, std::complex<double>>) {
        ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
          Select<T>(lines, x, wide, at, k - 1, begin, end);
        });
      }
    });
    if (IsSubByte(dtype)) values.CopyFrom(wide.To(dtype));
    return absl::OkStatus();
  }
};

}  // namespace

const Extern* KthValueExtern() {
  static const KthValue kthvalue;
  return &kthvalue;
}

}  // namespace lathe
