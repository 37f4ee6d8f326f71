// "scatter_reduce": outputs[0] = inputs[0] with inputs[2] reduced into the places that inputs[1]
// (i64) names along "dim", as aten.scatter_reduce has it. Attributes: dim, op=sum|prod|mean|amax|
// amin, include_self=true|false. Places that are not named keep their value. Elements meet in
// row-major order of the index; f16, bf16 and f8 are rounded after every step.

#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include "dtypes/base/status.h"
#include "dtypes/visit.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"

namespace lathe {
namespace {

enum class Op { kSum, kProd, kMean, kAmax, kAmin };

absl::StatusOr<Op> OpOf(const ExternCall& call) {
  const auto it = call.attributes->find("op");
  const std::string op = it == call.attributes->end() ? "" : it->second;
  if (op == "sum") return Op::kSum;
  if (op == "prod") return Op::kProd;
  if (op == "mean") return Op::kMean;
  if (op == "amax") return Op::kAmax;
  if (op == "amin") return Op::kAmin;
  return InvalidArgument("scatter_reduce: no reduction '", op, "'");
}

template <typename T>
auto Widen(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return value.ToFloat();
  }
}

template <typename T, typename W>
T Narrow(W value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T::FromFloat(value);
  }
}

// Integers wrap: the arithmetic is unsigned.
template <typename W>
W Wrapping(W a, W b, bool multiplies) {
  if constexpr (std::is_same_v<W, bool>) {
    return multiplies ? a && b : a || b;
  } else if constexpr (std::is_integral_v<W>) {
    const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<W>(multiplies ? x * y : x + y);
  } else {
    return multiplies ? a * b : a + b;
  }
}

template <typename W>
W Combine(Op op, W a, W b) {
  if (op == Op::kAmax || op == Op::kAmin) {
    if constexpr (std::is_floating_point_v<W>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return op == Op::kAmax ? (a < b ? b : a) : (b < a ? b : a);
  }
  return Wrapping(a, b, op == Op::kProd);
}

template <typename W>
W Mean(W total, int64_t count) {
  if constexpr (std::is_same_v<W, bool>) {
    return total;
  } else if constexpr (std::is_integral_v<W>) {
    const W n = static_cast<W>(count);
    W quotient = static_cast<W>(total / n);
    if constexpr (std::is_signed_v<W>) quotient -= total % n != 0 && total < 0;  // rounds down
    return quotient;
  } else {
    return total / static_cast<W>(count);
  }
}

// Positions of the output, in row-major order, that the k-th element of `index` names.
class Places {
 public:
  Places(const Tensor& index, const Tensor& out, int64_t dim)
      : index_(index), out_(out), dim_(dim) {}

  absl::StatusOr<int64_t> Of(int64_t k, const Dims& at) const {
    int64_t named = index_.data_as<int64_t>()[k];
    const int64_t size = out_.rank() == 0 ? 1 : out_.sizes()[dim_];
    if (named < 0 || named >= size) {
      return OutOfRange("index ", named, " is out of bounds for dimension ", dim_, " with size ",
                        size);
    }
    int64_t position = 0;
    for (int d = 0; d < out_.rank(); ++d) {
      position += (d == dim_ ? named : at[d]) * out_.strides()[d];
    }
    return position;
  }

 private:
  const Tensor& index_;
  const Tensor& out_;
  int64_t dim_;
};

// Steps `at` to the next index of `sizes` in row-major order.
void Advance(Dims& at, const Dims& sizes) {
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    if (++at[d] < sizes[d]) return;
    at[d] = 0;
  }
}

template <typename T>
absl::Status Scatter(Op op, bool include_self, int64_t dim, const Tensor& self, const Tensor& index,
                     const Tensor& src, const Tensor& out) {
  using W = decltype(Widen(T{}));
  const int64_t count = out.numel();
  std::vector<W> total(count);
  std::vector<int64_t> met(count, 0);
  const T* from = self.data_as<T>();
  for (int64_t k = 0; k < count; ++k) total[k] = Widen(from[k]);
  const Places places(index, out, dim);
  Dims at(index.sizes().size(), 0);
  const T* values = src.data_as<T>();
  for (int64_t k = 0, n = index.numel(); k < n; ++k, Advance(at, index.sizes())) {
    LATHE_ASSIGN_OR_RETURN(int64_t place, places.Of(k, at));
    int64_t position = 0;
    for (int d = 0; d < src.rank(); ++d) position += at[d] * src.strides()[d];
    const W value = Widen(values[position]);
    const bool replaces = met[place]++ == 0 && !include_self;
    // Eager keeps the running value in the result's own dtype.
    total[place] = replaces ? value : Widen(Narrow<T>(Combine<W>(op, total[place], value)));
  }
  T* to = out.data_as<T>();
  for (int64_t k = 0; k < count; ++k) {
    W value = total[k];
    if (op == Op::kMean && met[k] > 0) value = Mean(value, met[k] + include_self);
    to[k] = Narrow<T>(value);
  }
  return absl::OkStatus();
}

class ScatterReduce final : public Extern {
 public:
  absl::string_view id() const override { return "scatter_reduce"; }

  absl::Status Run(const ExternCall& call) const override {
    if (call.inputs.size() != 3 || call.outputs.size() != 1) {
      return InvalidArgument("scatter_reduce: takes three tensors and gives one");
    }
    LATHE_ASSIGN_OR_RETURN(const Op op, OpOf(call));
    LATHE_ASSIGN_OR_RETURN(const int64_t dim, IntAttribute(call, "dim", 0));
    LATHE_ASSIGN_OR_RETURN(const bool include_self, BoolAttribute(call, "include_self", true));
    const Tensor self = call.inputs[0].Contiguous(), index = call.inputs[1].Contiguous();
    const Tensor& src = call.inputs[2];
    const Tensor& out = call.outputs[0];
    LATHE_RETURN_IF_ERROR(CheckSizes(self, index, src, out, dim));
    return VisitPlain(out.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
      if constexpr (std::is_same_v<T, std::complex<float>> ||
                    std::is_same_v<T, std::complex<double>>) {
        return Unimplemented("scatter_reduce of complex numbers");
      } else {
        return Scatter<T>(op, include_self, dim, self, index, src, out);
      }
    });
  }

 private:
  static absl::Status CheckSizes(const Tensor& self, const Tensor& index, const Tensor& src,
                                 const Tensor& out, int64_t dim) {
    if (index.dtype() != DType::kI64 || src.dtype() != self.dtype() ||
        out.dtype() != self.dtype() || index.rank() != src.rank() || index.rank() != self.rank() ||
        !out.is_contiguous() || !(out.sizes() == self.sizes())) {
      return InvalidArgument("scatter_reduce: operands do not fit: ", TypeString(self), ", ",
                             TypeString(index), ", ", TypeString(src));
    }
    for (int d = 0; d < index.rank(); ++d) {
      if (index.sizes()[d] > src.sizes()[d] || (d != dim && index.sizes()[d] > self.sizes()[d])) {
        return InvalidArgument("scatter_reduce: the index ", TypeString(index),
                               " is larger than what it reads or writes");
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace

const Extern* ScatterReduceExtern() {
  static const ScatterReduce scatter;
  return &scatter;
}

}  // namespace lathe
