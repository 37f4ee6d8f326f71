// "cumulative": running sums, products, maxima or minima of inputs[0] along "dim". Attributes:
// op=sum|prod|max|min, dim. Sums and products convert to the result's dtype first, then accumulate
// in f64 (f32 for 16 bits and less; integers wrap in 64 bits), as ATen's CPU kernels do. Maxima and
// minima have a second result, the position (i64): the last of equal elements; NaN stays.

#include <complex>
#include <type_traits>

#include "dtypes/base/status.h"
#include "dtypes/visit.h"
#include "runtime/externs/builtin.h"
#include "runtime/externs/lines.h"
#include "runtime/externs/ordering.h"

namespace lathe {
namespace {

template <typename T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <typename T>
auto ToAccumulator(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));  // wraps; signed would be undefined
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (kIsComplex<T>) {
    return std::complex<double>(value);
  } else {
    return value.ToFloat();
  }
}

template <typename T, typename A>
T FromAccumulator(A sum) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(sum);
  } else if constexpr (kIsComplex<T>) {
    return T(sum);
  } else {
    return T::FromFloat(sum);
  }
}

// As written out: the library's operator of complex numbers patches up infinities differently.
std::complex<double> Times(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename A>
A Times(A a, A b) {
  return a * b;
}

template <typename T>
void Accumulate(bool product, const T* from, int64_t from_step, T* to, int64_t to_step,
                int64_t length) {
  using A = decltype(ToAccumulator(T{}));
  A sum = product ? A(1) : A(0);
  for (int64_t k = 0; k < length; ++k) {
    const A value = ToAccumulator(from[k * from_step]);
    sum = product ? Times(sum, value) : sum + value;
    to[k * to_step] = FromAccumulator<T>(sum);
  }
}

template <typename T>
void Extremes(bool maximum, const T* from, int64_t from_step, T* to, int64_t to_step, int64_t* at,
              int64_t at_step, int64_t length) {
  constexpr uint64_t kNaN = std::numeric_limits<uint64_t>::max();
  uint64_t best = 0;
  int64_t best_at = 0;
  for (int64_t k = 0; k < length; ++k) {
    const uint64_t key = OrderKey(from[k * from_step]);
    // Only the key of a NaN is that large, but for u64's own largest value, which no min passes by.
    const bool is_nan = !std::is_integral_v<T> && key == kNaN;
    const bool have_nan = !std::is_integral_v<T> && best == kNaN;
    if (k == 0 || is_nan || (!have_nan && (maximum ? key >= best : key <= best))) {
      best = key;
      best_at = k;
    }
    to[k * to_step] = from[best_at * from_step];
    at[k * at_step] = best_at;
  }
}

class Cumulative final : public Extern {
 public:
  absl::string_view id() const override { return "cumulative"; }
  absl::Status Run(const ExternCall& call) const override {
    const std::string op = Op(call);
    const bool extremes = op == "max" || op == "min";
    if (!extremes && op != "sum" && op != "prod") {
      return InvalidArgument("cumulative: op=", op, ", not sum, prod, max or min");
    }
    if (call.inputs.size() != 1 || !call.inputs[0].is_defined() ||
        call.outputs.size() != (extremes ? 2 : 1) || !call.outputs[0].is_defined()) {
      return InvalidArgument("cumulative: takes one tensor and gives ", extremes ? 2 : 1);
    }
    LATHE_ASSIGN_OR_RETURN(const int64_t dim, IntAttribute(call, "dim", -1));
    LATHE_ASSIGN_OR_RETURN(const Lines lines, LinesOf(call.inputs[0], dim));
    const DType dtype = call.outputs[0].dtype();
    if (IsStorageOnly(dtype) || IsStorageOnly(call.inputs[0].dtype())) {
      return Unimplemented("cumulative: ", Name(dtype));
    }
    LATHE_RETURN_IF_ERROR(CheckResult("cumulative", call.outputs[0], dtype, lines, lines.length));
    const Tensor x =
        Widened(call.inputs[0].dtype() == dtype ? call.inputs[0] : call.inputs[0].To(dtype));
    const Tensor to = IsSubByte(dtype) ? Tensor::Empty(x.dtype(), x.sizes()) : call.outputs[0];
    if (extremes) {
      if (IsComplex(dtype)) return InvalidArgument("cumulative: ", Name(dtype), " has no order");
      LATHE_RETURN_IF_ERROR(
          CheckResult("cumulative", call.outputs[1], DType::kI64, lines, lines.length));
      RunExtremes(call, lines, op == "max", x, to, call.outputs[1]);
    } else {
      RunAccumulate(call, lines, op == "prod", x, to);
    }
    if (IsSubByte(dtype)) call.outputs[0].CopyFrom(to.To(dtype));
    return absl::OkStatus();
  }

 private:
  static std::string Op(const ExternCall& call) {
    if (call.attributes == nullptr) return "";
    const auto found = call.attributes->find("op");
    return found == call.attributes->end() ? "" : found->second;
  }

  static void RunAccumulate(const ExternCall& call, const Lines& lines, bool product,
                            const Tensor& x, const Tensor& to) {
    VisitPlain(x.dtype(), [&]<typename T>(TypeTag<T>) {
      ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
        for (int64_t line = begin; line < end; ++line) {
          Accumulate<T>(product, x.data_as<T>() + LineStart(lines, x.strides(), line),
                        LineStep(lines, x.strides()),
                        to.data_as<T>() + LineStart(lines, to.strides(), line),
                        LineStep(lines, to.strides()), lines.length);
        }
      });
    });
  }

  static void RunExtremes(const ExternCall& call, const Lines& lines, bool maximum, const Tensor& x,
                          const Tensor& to, const Tensor& at) {
    VisitPlain(x.dtype(), [&]<typename T>(TypeTag<T>) {
      if constexpr (!kIsComplex<T>) {
        ForEachLine(call, lines, [&](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end; ++line) {
            Extremes<T>(maximum, x.data_as<T>() + LineStart(lines, x.strides(), line),
                        LineStep(lines, x.strides()),
                        to.data_as<T>() + LineStart(lines, to.strides(), line),
                        LineStep(lines, to.strides()),
                        at.data_as<int64_t>() + LineStart(lines, at.strides(), line),
                        LineStep(lines, at.strides()), lines.length);
          }
        });
      }
    });
  }
};

}  // namespace

const Extern* CumulativeExtern() {
  static const Cumulative cumulative;
  return &cumulative;
}

}  // namespace lathe
