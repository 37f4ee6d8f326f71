// Windows of signal processing, and the frequencies of a transform: one formula over the index.

#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/create/create_rows.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;
using Named = std::vector<std::pair<std::string, CallArgument>>;

struct Window {
  int64_t length = 0;
  bool periodic = true;  // as if one element longer, which is left out
  DType dtype = DType::kF32;
};

absl::StatusOr<Window> WindowOf(const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(args, DType::kF32));
  LATHE_ASSIGN_OR_RETURN(int64_t length, args.ConstantInt(0));
  const int periodic = ArgumentNamed(args.schema(), "periodic");
  Window window{length, periodic < 0 || args.Bool(periodic), options.dtype};
  if (!IsFloat(window.dtype)) {
    return InvalidArgument(args.schema().name, ": expects floating point dtypes, got ",
                           Name(window.dtype));
  }
  constexpr int64_t kLongest = int64_t{1} << 31;
  if (length < 0 || length > kLongest) {
    return InvalidArgument(args.schema().name, ": requires a window_length from 0 to 2^31, got ",
                           length);
  }
  return window;
}

// n, the number of an element.
Value* Numbers(Builder& b, const Window& w) {
  return b.Call("aten.arange", {w.length + (w.periodic ? 1 : 0)}, {{"dtype", w.dtype}});
}

// a - b cos(2 pi n / (N - 1)) + c cos(4 pi n / (N - 1))
Value* Cosines(Builder& b, const Window& w, double a, double first, double second) {
  const double last = static_cast<double>(w.length + (w.periodic ? 1 : 0) - 1);
  Value* n = Numbers(b, w);
  const auto cosine = [&](double times, double factor) {
    Value* angle = MulScalar(b, n, Scalar(times * std::numbers::pi / last));
    return MulScalar(b, b.Call("aten.cos", {angle}), Scalar(factor));
  };
  Value* sum = AddScalar(b, cosine(2, -first), Scalar(a));
  return second == 0 ? sum : Add(b, sum, cosine(4, second));
}

// A triangle from 0 to 1 and back.
Value* Triangle(Builder& b, const Window& w) {
  const double last = static_cast<double>(w.length + (w.periodic ? 1 : 0) - 1);
  Value* rising = MulScalar(b, Numbers(b, w), Scalar(2 / last));
  Value* falling = b.Call("aten.rsub.Scalar", {rising, Scalar(2)});
  return b.Call("aten.minimum", {rising, falling});
}

// i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1.
Value* Kaiser(Builder& b, const Window& w, double beta) {
  const double last = static_cast<double>(w.length + (w.periodic ? 1 : 0) - 1);
  Value* x = AddScalar(b, MulScalar(b, Numbers(b, w), Scalar(2 / last)), Scalar(-1));
  Value* inside =
      b.Call("aten.clamp_min", {b.Call("aten.rsub.Scalar", {Mul(b, x, x), Scalar(1)}), Scalar(0)});
  Value* top = b.Call("aten.i0", {MulScalar(b, b.Call("aten.sqrt", {inside}), Scalar(beta))});
  Value* bottom = b.Call(
      "aten.i0", {b.Call("aten.full", {std::vector<Expr>{}, Scalar(beta)}, {{"dtype", w.dtype}})});
  return Div(b, top, bottom);
}

using Shape = std::function<Value*(Builder& b, const OpArgs& args, const Window& w)>;

OpRow WindowRow(const std::string& name, const std::string& parameters, Shape shape) {
  return DecomposedRow(WithOptions("aten::" + name + "(int window_length" + parameters),
                       "A window over a signal.",
                       [shape](Builder& b, const OpArgs& args) -> Decomposed {
                         LATHE_ASSIGN_OR_RETURN(Window w, WindowOf(args));
                         if (w.length < 2) {
                           return OneArgument(b.Call("aten.ones", {std::vector<Expr>{w.length}},
                                                     {{"dtype", w.dtype}}));
                         }
                         Value* window = shape(b, args, w);
                         if (w.periodic) {
                           window = Clone(b, b.Call("aten.slice.Tensor", {window, 0, 0, w.length}),
                                          MemoryFormat::kContiguous);
                         }
                         return OneArgument(window);
                       },
                       {"aten." + name + "(5" + (parameters.empty() ? "" : ", true") + ")"});
}

void AddWindow(std::vector<OpRow>& rows, const std::string& name, const Shape& shape) {
  rows.push_back(WindowRow(name, "", shape));
  rows.push_back(WindowRow(name + ".periodic", ", bool periodic", shape));
}

double FloatNamed(const OpArgs& args, const std::string& name, double otherwise) {
  const int i = ArgumentNamed(args.schema(), name);
  return i < 0 ? otherwise : args.Float(i);
}

// fftfreq(n, d): k / (n d), the second half negative where both signs are wanted.
Decomposed Frequencies(Builder& b, const OpArgs& args, bool is_half) {
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(args, DType::kF32));
  LATHE_ASSIGN_OR_RETURN(int64_t n, args.ConstantInt(0));
  if (n < 0 || n > (int64_t{1} << 31) || !IsFloat(options.dtype)) {
    return InvalidArgument(args.schema().name, ": expected a size of at least 0 and floats, got ",
                           n, " and ", Name(options.dtype));
  }
  const Named named = {{"dtype", options.dtype}};
  const Scalar step(1.0 / (static_cast<double>(n) * args.Float(1)));
  if (is_half) return OneArgument(MulScalar(b, b.Call("aten.arange", {n / 2 + 1}, named), step));
  Value* low = b.Call("aten.arange", {(n + 1) / 2}, named);
  Value* high = b.Call("aten.arange.start", {-(n / 2), 0}, named);
  return OneArgument(
      MulScalar(b, b.Call("aten.cat", {CallArgument(std::vector<Value*>{low, high})}), step));
}

}  // namespace

std::vector<OpRow> WindowRows() {
  std::vector<OpRow> rows;
  AddWindow(rows, "hann_window",
            [](Builder& b, const OpArgs&, const Window& w) { return Cosines(b, w, 0.5, 0.5, 0); });
  const Shape hamming = [](Builder& b, const OpArgs& args, const Window& w) {
    return Cosines(b, w, FloatNamed(args, "alpha", 0.54), FloatNamed(args, "beta", 0.46), 0);
  };
  AddWindow(rows, "hamming_window", hamming);
  rows.push_back(
      WindowRow("hamming_window.periodic_alpha", ", bool periodic, float alpha", hamming));
  rows.push_back(WindowRow("hamming_window.periodic_alpha_beta",
                           ", bool periodic, float alpha, float beta", hamming));
  AddWindow(rows, "blackman_window", [](Builder& b, const OpArgs&, const Window& w) {
    return Cosines(b, w, 0.42, 0.5, 0.08);
  });
  AddWindow(rows, "bartlett_window",
            [](Builder& b, const OpArgs&, const Window& w) { return Triangle(b, w); });
  const Shape kaiser = [](Builder& b, const OpArgs& args, const Window& w) {
    return Kaiser(b, w, FloatNamed(args, "beta", 12));
  };
  AddWindow(rows, "kaiser_window", kaiser);
  rows.push_back(WindowRow("kaiser_window.beta", ", bool periodic, float beta", kaiser));
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].schema.find("alpha") != std::string::npos ||
        rows[k].schema.find("beta") != std::string::npos) {
      rows[k].samples.clear();
    }
  }
  for (bool is_half : {false, true}) {
    rows.push_back(DecomposedRow(
        WithOptions(absl::StrCat("aten::fft_", is_half ? "r" : "", "fftfreq(int n, float d=1.0")),
        "The frequencies of a transform of n samples.",
        [is_half](Builder& b, const OpArgs& args) { return Frequencies(b, args, is_half); },
        {absl::StrCat("aten.fft_", is_half ? "r" : "", "fftfreq(5)")}));
  }
  return rows;
}

}  // namespace lathe
