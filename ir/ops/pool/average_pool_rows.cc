// Average pooling: the mean of each window.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/pool/pool_rows.h"
#include "ir/ops/pool/window.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/loop_masks.h"

namespace lathe {
namespace {

constexpr WindowArguments kArguments = {
    .kernel = 1, .stride = 2, .padding = 3, .dilation = -1, .ceil_mode = 4};

// What the sum of a window is divided by.
struct Divisor {
  bool count_include_pad = true;
  int64_t override = 0;  // 0: none

  // Places of the window: inside the padded input, or inside the input alone.
  Expr At(const Window& window, const std::vector<Expr>& sizes, Index index) const {
    if (override != 0) return override;
    Expr count = 1;
    const size_t first = index.size() - window.count();
    for (int d = 0; d < window.count(); ++d) {
      const Expr& in = sizes[first + d];
      Expr start = index[first + d] * window.stride[d] - window.padding[d];
      Expr end = start + window.kernel[d];
      const bool can_pass_end = window.padding[d] > 0 || window.ceil_mode;
      if (count_include_pad) {
        if (window.ceil_mode) end = symbolic::Min(end, in + window.padding[d]);
      } else {
        if (window.padding[d] > 0) start = symbolic::Max(start, 0);
        if (can_pass_end) end = symbolic::Min(end, in);
      }
      count = count * (end - start);
    }
    return count;
  }
};

Divisor DivisorOf(const OpArgs& args) {
  Divisor divisor;
  divisor.count_include_pad = args.Bool(5);
  if (args.size() > 6) divisor.override = args.OptionalInt(6).value_or(0).AsInt().value_or(0);
  return divisor;
}

absl::Status CheckDivisor(const OpArgs& args) {
  if (args.size() <= 6 || args.IsNone(6)) return absl::OkStatus();
  LATHE_ASSIGN_OR_RETURN(int64_t divisor, args.ConstantInt(6));
  if (divisor == 0) return InvalidArgument(args.schema().name, ": divisor must be not zero");
  return absl::OkStatus();
}

OpsValue LoadOrZero(OpsHandler& ops, TensorReader& in, Value* input, const Tap& tap) {
  if (!tap.inside.is_valid()) return in.Load(ops, input, tap.index);
  return ops.Masked(
      tap.inside, [&] { return in.Load(ops, input, tap.index); }, 0);
}

absl::StatusOr<std::vector<Lowered>> LowerAverage(const LowerContext& c, int spatial) {
  LATHE_ASSIGN_OR_RETURN(Window window, WindowOf(c.args, spatial, kArguments));
  Value* input = c.args.Tensor(0);
  const std::vector<Expr> sizes = TypeOf(input).sizes;
  const Divisor divisor = DivisorOf(c.args);
  if (IsIntegral(TypeOf(input).dtype)) {
    return Unimplemented(c.args.schema().name, " of integers inside a loop");
  }
  auto divide = [=](OpsHandler& ops, OpsValue sum, Index index) {
    return ops.Div(sum, ops.IndexExpr(divisor.At(window, sizes, index), ops.dtype(sum)));
  };
  if (window.area() <= kUnrolledTaps) {
    return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
      OpsValue sum;
      ForEachTap(ops, window, sizes, index, [&](const Tap& tap) {
        OpsValue v = LoadOrZero(ops, in, input, tap);
        sum = sum.is_valid() ? ops.Add(sum, v) : v;
      });
      return divide(ops, sum, index);
    }}};
  }
  ReductionLoops loops;
  loops.kept_sizes = c.result().sizes;
  loops.reduced_sizes.assign(window.kernel.begin(), window.kernel.end());
  loops.kind = ReduceKind::kSum;
  loops.body = [=](OpsHandler& ops, TensorReader& in, Index kept, Index reduced) {
    return LoadOrZero(ops, in, input, TapAt(ops, window, sizes, kept, reduced));
  };
  loops.finish = [=](OpsHandler& ops, TensorReader&, OpsValue sum, Index kept) {
    return divide(ops, sum, kept);
  };
  loops.kept_of_result = [](Index result) {
    return std::vector<Expr>(result.begin(), result.end());
  };
  return std::vector<Lowered>{std::move(loops)};
}

absl::StatusOr<std::vector<HostValue>> EvaluateAverage(const EvaluateContext& c, int spatial) {
  const Tensor& input = c.args.Tensor(0);
  auto numbers = [&](int i) {
    std::vector<int64_t> v = c.args.Ints(i);
    if (v.empty()) v = c.args.Ints(1);
    if (v.size() == 1) v.resize(spatial, v[0]);
    return v;
  };
  Window window;
  window.kernel = numbers(1);
  window.stride = numbers(2);
  window.padding = numbers(3);
  window.dilation.assign(spatial, 1);
  const bool include_pad = c.args.Bool(5);
  const int64_t divisor = c.args.size() > 6 ? c.args.OptionalInt(6).value_or(0) : 0;
  Tensor out = c.Allocate();
  const int first = input.rank() - spatial;
  std::vector<int64_t> sizes(input.sizes().begin() + first, input.sizes().end());
  const int64_t area = CountElements(sizes);
  const std::vector<double> x = ToVector<double>(input);
  std::vector<double> y;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    int64_t channel = 0, padded = 1;
    for (int d = 0; d < first; ++d) channel = channel * input.sizes()[d] + p[d];
    for (int d = 0; d < spatial; ++d) {
      const int64_t start = p[first + d] * window.stride[d] - window.padding[d];
      padded *= std::min(start + window.kernel[d], sizes[d] + window.padding[d]) - start;
    }
    std::vector<int64_t> taps =
        HostTaps(window, sizes, std::vector<int64_t>(p.begin() + first, p.end()));
    double sum = 0;
    for (int64_t t : taps) sum += x[channel * area + t];
    const double count = divisor != 0  ? static_cast<double>(divisor)
                         : include_pad ? static_cast<double>(padded)
                                       : static_cast<double>(taps.size());
    const double mean = sum / count;
    // Integers truncate, as C++ divides.
    y.push_back(mean);
  });
  FromVector<double>(y, out);
  return OneResult(out);
}

OpRow AverageRow(int spatial) {
  const std::string n = absl::StrCat("int[", spatial, "] ");
  OpRow row;
  row.schema = absl::StrCat("aten::avg_pool", spatial, "d(Tensor self, ", n, "kernel_size, ", n,
                            "stride=[], ", n,
                            "padding=0, bool ceil_mode=False, bool count_include_pad=True, int? "
                            "divisor_override=None) -> Tensor");
  row.doc = "The mean of each window; places in the padding count as zeros, or not at all.";
  row.infer = [spatial](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_RETURN_IF_ERROR(CheckDivisor(c.args));
    LATHE_ASSIGN_OR_RETURN(Window window, WindowOf(c.args, spatial, kArguments));
    LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, PooledSizes(c.args, window, c.shapes));
    return std::vector<ValueType>{
        PooledType(c.args.Type(0), sizes, c.args.Type(0).dtype, c.shapes)};
  };
  row.lower = [spatial](const LowerContext& c) { return LowerAverage(c, spatial); };
  row.evaluate = [spatial](const EvaluateContext& c) { return EvaluateAverage(c, spatial); };
  return row;
}

// One dimension is two with a size of 1 in front.
OpRow AverageRow1d() {
  OpRow row;
  row.schema =
      "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool "
      "ceil_mode=False, bool count_include_pad=True) -> Tensor";
  row.doc = "The mean of each window.";
  row.composite = true;
  row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    auto with_front = [&](int i, int64_t front) {
      std::vector<Expr> list = args.Ints(i);
      if (!list.empty()) list.insert(list.begin(), front);
      return list;
    };
    Value* x = b.Call("aten.unsqueeze", {args.Tensor(0), -2});
    Value* y = b.Call("aten.avg_pool2d",
                      {x, with_front(1, 1), with_front(2, 1), with_front(3, 0), args[4], args[5]});
    return OneArgument(b.Call("aten.squeeze.dim", {y, -2}));
  };
  row.samples = {"aten.avg_pool1d(f32[2, 3, 7], [3], [2], [1])"};
  return row;
}

}  // namespace

std::vector<OpRow> AveragePoolRows() {
  std::vector<OpRow> rows;
  rows.push_back(AverageRow(2));
  rows.back().samples = {"aten.avg_pool2d(f32[2, 3, 7, 8], [3, 3], [2, 2], [1, 1])",
                         "aten.avg_pool2d(f32[2, 3, 7, 8], [2, 2], [2, 2], [0, 0], true, false)",
                         "aten.avg_pool2d(f32[3, 7, 8], [2, 3], [], [1, 1], true, true, 5)"};
  rows.push_back(AverageRow(3));
  rows.back().samples = {"aten.avg_pool3d(f32[2, 3, 4, 5, 6], [2, 2, 2])"};
  rows.push_back(AverageRow1d());
  return rows;
}

}  // namespace lathe
