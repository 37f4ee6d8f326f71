#include "ir/ops/host/host_loops.h"

#include <cstring>
#include <utility>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

template <typename T>
constexpr DType WideDType() {
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
  return DType::kC128;
}

}  // namespace

Dims ConstantDims(const std::vector<Expr>& values) {
  std::vector<int64_t> result;
  for (const Expr& v : values) result.push_back(v.AsInt().value_or(-1));
  return Dims(result);
}

int64_t Linear(const Position& position, const Dims& sizes) {
  int64_t k = 0;
  for (size_t d = 0; d < sizes.size(); ++d) k = k * sizes[d] + position[d];
  return k;
}

Position Unlinear(int64_t k, const Dims& sizes) {
  Position position(sizes.size(), 0);
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    position[d] = k % sizes[d];
    k /= sizes[d];
  }
  return position;
}

int64_t CountElements(const Dims& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

template <typename T>
std::vector<T> ToVector(const Tensor& tensor) {
  Tensor wide = tensor.To(WideDType<T>()).Contiguous();
  std::vector<T> result(wide.numel());
  if (!result.empty()) std::memcpy(result.data(), wide.data(), result.size() * sizeof(T));
  return result;
}

template <typename T>
void FromVector(const std::vector<T>& values, const Tensor& out) {
  Tensor wide = Tensor::Empty(WideDType<T>(), out.sizes());
  LATHE_CHECK(static_cast<int64_t>(values.size()) == out.numel());
  if (!values.empty()) std::memcpy(wide.data(), values.data(), values.size() * sizeof(T));
  out.CopyFrom(wide.To(out.dtype()));
}

#define LATHE_WIDE(T)                                 \
  template std::vector<T> ToVector<T>(const Tensor&); \
  template void FromVector<T>(const std::vector<T>&, const Tensor&);
LATHE_WIDE(double)
LATHE_WIDE(int64_t)
LATHE_WIDE(uint64_t)
LATHE_WIDE(std::complex<double>)
#undef LATHE_WIDE

void CopyElements(const Tensor& in, const std::vector<int64_t>& source, const Tensor& out) {
  LATHE_CHECK(in.dtype() == out.dtype());
  const Tensor dense = in.Contiguous();
  const bool out_is_dense = out.is_contiguous();
  if (IsSubByte(in.dtype())) {
    for (size_t k = 0; k < source.size(); ++k) {
      if (source[k] >= 0) out.SetLinear(k, dense.AtLinear(source[k]));
    }
    return;
  }
  const int64_t width = BitWidth(in.dtype()) / 8;
  const char* from = static_cast<const char*>(dense.data());
  char* to = static_cast<char*>(out.data()) - out.offset() * width;
  for (size_t k = 0; k < source.size(); ++k) {
    if (source[k] < 0) continue;
    int64_t position = out_is_dense ? out.offset() + static_cast<int64_t>(k) : out.PositionOf(k);
    std::memcpy(to + position * width, from + source[k] * width, width);
  }
}

void FillElements(const Tensor& out, const Scalar& value) {
  const int64_t count = out.numel();
  for (int64_t k = 0; k < count; ++k) out.SetLinear(k, value);
}

Tensor BroadcastTo(const Tensor& tensor, const Dims& sizes) {
  Dims strides(sizes.size(), 0);
  const int extra = static_cast<int>(sizes.size()) - tensor.rank();
  LATHE_CHECK(extra >= 0);
  for (int d = 0; d < tensor.rank(); ++d) {
    if (tensor.sizes()[d] == sizes[d + extra]) {
      strides[d + extra] = tensor.strides()[d];
    } else {
      LATHE_CHECK(tensor.sizes()[d] == 1);
    }
  }
  return tensor.AsStrided(sizes, strides, tensor.offset());
}

absl::StatusOr<Dims> BroadcastSizes(absl::Span<const Dims> sizes) {
  std::vector<int64_t> result;
  for (const Dims& s : sizes) {
    if (s.size() > result.size()) result.insert(result.begin(), s.size() - result.size(), 1);
    const size_t extra = result.size() - s.size();
    for (size_t d = 0; d < s.size(); ++d) {
      int64_t& have = result[d + extra];
      if (have == 1) have = s[d];
      if (s[d] != 1 && s[d] != have) {
        return InvalidArgument("shapes do not broadcast: size ", s[d], " against ", have);
      }
    }
  }
  return Dims(result);
}

absl::StatusOr<std::vector<HostValue>> EvaluateView(const EvaluateContext& c) {
  std::vector<HostValue> results;
  for (const ValueType& type : c.results) {
    const TensorType& t = type.tensor();
    // Strides that a program wrote (as_strided) may lead anywhere.
    LATHE_ASSIGN_OR_RETURN(
        Tensor view, Tensor::Checked(t.dtype, ConstantDims(t.sizes), ConstantDims(t.strides),
                                     t.offset.AsInt().value_or(0), c.args.Tensor(0).storage()));
    results.emplace_back(std::move(view));
  }
  return results;
}

}  // namespace lathe
