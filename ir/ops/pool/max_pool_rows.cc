// Max pooling: the largest element of each window, and where it stood.

#include <limits>
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
    .kernel = 1, .stride = 2, .padding = 3, .dilation = 4, .ceil_mode = 5};

OpsValue LoadTap(OpsHandler& ops, TensorReader& in, Value* input, const Tap& tap, DType dtype) {
  if (!tap.inside.is_valid()) return in.Load(ops, input, tap.index);
  return ops.Masked(
      tap.inside, [&] { return in.Load(ops, input, tap.index); }, SmallestOf(dtype));
}

ElementBody MaxValue(Value* input, Window window, std::vector<Expr> sizes, DType dtype) {
  return [=](OpsHandler& ops, TensorReader& in, Index index) {
    OpsValue most;
    ForEachTap(ops, window, sizes, index, [&](const Tap& tap) {
      OpsValue v = LoadTap(ops, in, input, tap, dtype);
      most = most.is_valid() ? ops.Maximum(most, v) : v;
    });
    return most;
  };
}

// The number of a place within its channel.
Expr PlaceOf(const std::vector<Expr>& index, const std::vector<Expr>& sizes, int spatial) {
  Expr place = 0;
  const size_t first = index.size() - spatial;
  for (size_t d = first; d < index.size(); ++d) place = place * sizes[d] + index[d];
  return place;
}

// The first place of the window that lies inside.
std::vector<Expr> FirstInside(const Window& window, Index index) {
  std::vector<Expr> place(index.begin(), index.end());
  const size_t first = index.size() - window.count();
  for (int d = 0; d < window.count(); ++d) {
    Expr& i = place[first + d];
    i = i * window.stride[d] - window.padding[d];
    if (window.padding[d] == 0) continue;
    Expr missing = symbolic::Max(-i, 0);
    i = i + (window.dilation[d] == 1
                 ? missing
                 : symbolic::CeilDiv(missing, window.dilation[d]) * window.dilation[d]);
  }
  return place;
}

// The place that eager reports: of the first maximum, except that a NaN always takes over.
ElementBody MaxPlace(Value* input, Window window, std::vector<Expr> sizes, DType dtype) {
  return [=](OpsHandler& ops, TensorReader& in, Index index) {
    OpsValue most = ops.Constant(SmallestOf(dtype), LoadedDType(dtype));
    OpsValue place = IndexValue(ops, PlaceOf(FirstInside(window, index), sizes, window.count()));
    ForEachTap(ops, window, sizes, index, [&](const Tap& tap) {
      OpsValue v = LoadTap(ops, in, input, tap, dtype);
      OpsValue takes = ops.Gt(v, most);
      if (IsFloat(dtype)) takes = ops.Or(takes, ops.IsNan(v));
      if (tap.inside.is_valid()) takes = ops.And(takes, tap.inside);
      most = ops.Where(takes, v, most);
      place = ops.Where(takes, IndexValue(ops, PlaceOf(tap.index, sizes, window.count())), place);
    });
    return place;
  };
}

// Large windows: loops over the window.
ReductionLoops MaxLoop(const LowerContext& c, const Window& window, bool wants_place) {
  Value* input = c.args.Tensor(0);
  const std::vector<Expr> sizes = TypeOf(input).sizes;
  const DType dtype = TypeOf(input).dtype;
  ReductionLoops loops;
  loops.kept_sizes = c.result().sizes;
  loops.reduced_sizes.assign(window.kernel.begin(), window.kernel.end());
  loops.kind = wants_place ? ReduceKind::kArgMax : ReduceKind::kMax;
  loops.body = [=](OpsHandler& ops, TensorReader& in, Index kept, Index reduced) {
    return LoadTap(ops, in, input, TapAt(ops, window, sizes, kept, reduced), dtype);
  };
  loops.position = [=](Index kept, Index reduced) {
    std::vector<Expr> place(kept.begin(), kept.end());
    const size_t first = kept.size() - window.count();
    for (int d = 0; d < window.count(); ++d) {
      place[first + d] =
          place[first + d] * window.stride[d] - window.padding[d] + reduced[d] * window.dilation[d];
    }
    return PlaceOf(place, sizes, window.count());
  };
  loops.kept_of_result = [](Index result) {
    return std::vector<Expr>(result.begin(), result.end());
  };
  return loops;
}

absl::Status CheckDType(const OpArgs& args) {
  const DType dtype = args.Type(0).dtype;
  if (!IsComplex(dtype) && !IsBool(dtype)) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": not implemented for ", Name(dtype));
}

OpRow WithIndices(int spatial) {
  OpRow row;
  const std::string n = absl::StrCat("int[", spatial, "] ");
  row.schema = absl::StrCat("aten::max_pool", spatial, "d_with_indices(Tensor self, ", n,
                            "kernel_size, ", n, "stride=[], ", n, "padding=0, ", n,
                            "dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)");
  row.doc = "The largest element of each window and its place within the channel.";
  row.infer = [spatial](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_RETURN_IF_ERROR(CheckDType(c.args));
    LATHE_ASSIGN_OR_RETURN(Window window, WindowOf(c.args, spatial, kArguments));
    LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, PooledSizes(c.args, window, c.shapes));
    const TensorType& input = c.args.Type(0);
    return std::vector<ValueType>{PooledType(input, sizes, input.dtype, c.shapes),
                                  PooledType(input, sizes, DType::kI64, c.shapes)};
  };
  row.lower = [spatial](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    LATHE_ASSIGN_OR_RETURN(Window window, WindowOf(c.args, spatial, kArguments));
    if (window.area() > kUnrolledTaps) {
      return std::vector<Lowered>{MaxLoop(c, window, false), MaxLoop(c, window, true)};
    }
    const TensorType& input = c.args.Type(0);
    return std::vector<Lowered>{
        PointwiseLoops{MaxValue(c.args.Tensor(0), window, input.sizes, input.dtype)},
        PointwiseLoops{MaxPlace(c.args.Tensor(0), window, input.sizes, input.dtype)}};
  };
  row.evaluate = [spatial](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& input = c.args.Tensor(0);
    Window window;
    auto numbers = [&](int i) {
      std::vector<int64_t> v = c.args.Ints(i);
      if (v.empty()) v = c.args.Ints(1);
      if (v.size() == 1) v.resize(spatial, v[0]);
      return v;
    };
    window.kernel = numbers(1);
    window.stride = numbers(2);
    window.padding = numbers(3);
    window.dilation = numbers(4);
    Tensor values = c.Allocate(0), places = c.Allocate(1);
    const int first = input.rank() - spatial;
    std::vector<int64_t> sizes(input.sizes().begin() + first, input.sizes().end());
    const int64_t area = CountElements(sizes);
    VisitOrdered(input.dtype(), [&]<typename T>(TypeTag<T>) {
      const std::vector<T> x = ToVector<T>(input);
      std::vector<T> best;
      std::vector<int64_t> where;
      ForEachIndex(values.sizes(), [&](const Position& p) {
        int64_t channel = 0;
        for (int d = 0; d < first; ++d) channel = channel * input.sizes()[d] + p[d];
        std::vector<int64_t> taps =
            HostTaps(window, sizes, std::vector<int64_t>(p.begin() + first, p.end()));
        int64_t chosen = taps[0];
        for (int64_t t : taps) {
          const T v = x[channel * area + t];
          if (v > x[channel * area + chosen] || v != v) chosen = t;
        }
        best.push_back(x[channel * area + chosen]);
        where.push_back(chosen);
      });
      FromVector<T>(best, values);
      FromVector<int64_t>(where, places);
    });
    return std::vector<HostValue>{values, places};
  };
  return row;
}

// One dimension is two with a size of 1 in front: values and places.
std::vector<Value*> OfLine(Builder& b, const OpArgs& args) {
  auto with_front = [&](int i, int64_t front) {
    std::vector<Expr> list = args.Ints(i);
    if (!list.empty()) list.insert(list.begin(), front);
    return list;
  };
  Value* x = b.Call("aten.unsqueeze", {args.Tensor(0), -2});
  std::vector<Value*> results = b.CallMany(
      "aten.max_pool2d_with_indices",
      {x, with_front(1, 1), with_front(2, 1), with_front(3, 0), with_front(4, 1), args[5]});
  for (Value*& y : results) y = b.Call("aten.squeeze.dim", {y, -2});
  results.resize(2);
  return results;
}

OpRow LineWithIndices() {
  OpRow row;
  row.schema =
      "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
      "padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)";
  row.doc = "The largest element of each window and its place.";
  row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    Arguments results;
    for (Value* y : OfLine(b, args)) results.push_back(y ? Argument::Of(y) : Argument());
    return results;
  };
  row.composite = true;
  row.samples = {"aten.max_pool1d_with_indices(f32[2, 3, 7], [3], [2], [1])"};
  return row;
}

// max_poolNd: the values alone.
OpRow ValuesAlone(int spatial) {
  OpRow row;
  const std::string n = absl::StrCat("int[", spatial, "] ");
  const bool is_1d = spatial == 1;
  row.schema = absl::StrCat("aten::max_pool", spatial, "d(Tensor self, ", n, "kernel_size, ", n,
                            "stride=[], ", n, "padding=0, ", n,
                            "dilation=1, bool ceil_mode=False) -> Tensor");
  row.doc = "The largest element of each window.";
  row.decompose = [is_1d, spatial](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    const std::string op = absl::StrCat("aten.max_pool", is_1d ? 2 : spatial, "d_with_indices");
    if (!is_1d) {
      return OneArgument(b.Call(op, {args[0], args[1], args[2], args[3], args[4], args[5]}));
    }
    return OneArgument(OfLine(b, args)[0]);
  };
  row.composite = true;
  return row;
}

}  // namespace

std::vector<OpRow> MaxPoolRows() {
  std::vector<OpRow> rows;
  rows.push_back(WithIndices(2));
  rows.back().samples = {
      "aten.max_pool2d_with_indices(f32[2, 3, 7, 8], [3, 3], [2, 2], [1, 1])",
      "aten.max_pool2d_with_indices(f32[3, 7, 8], [2, 3], [], [0, 1], [2, 1], true)"};
  rows.push_back(WithIndices(3));
  rows.back().samples = {"aten.max_pool3d_with_indices(f32[2, 3, 4, 5, 6], [2, 2, 2])"};
  for (int n : {1, 2, 3}) rows.push_back(ValuesAlone(n));
  rows.push_back(LineWithIndices());
  rows[2].samples = {"aten.max_pool1d(f32[2, 3, 7], [3], [2], [1])"};
  rows[3].samples = {"aten.max_pool2d(f32[2, 3, s0, 8], [3, 3], [2, 2], [1, 1])"};
  return rows;
}

}  // namespace lathe
