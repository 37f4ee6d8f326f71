// Adaptive pooling: the input cut into a given number of windows, which differ in length by one.

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/pool/pool_rows.h"
#include "ir/ops/pool/window.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/loop_masks.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

// Window i of n over a dimension of `in` places: [i * in // n, ceil((i + 1) * in / n)).
struct Cut {
  Expr in, count;
  Expr Start(const Expr& i) const { return symbolic::FloorDiv(i * in, count); }
  Expr End(const Expr& i) const { return symbolic::CeilDiv((i + 1) * in, count); }
  bool IsEven(const ShapeEnv& shapes) const {
    return shapes.IsKnownEqual(symbolic::Mod(in, count), 0);
  }
  // Places of the longest window, or an upper bound.
  Expr Longest(const ShapeEnv& shapes) const {
    if (IsEven(shapes)) return shapes.Simplify(symbolic::FloorDiv(in, count));
    if (!in.AsInt() || !count.AsInt()) return symbolic::CeilDiv(in, count) + 1;
    int64_t longest = 0;
    for (int64_t i = 0; i < *count.AsInt(); ++i) {
      longest = std::max(longest, *End(i).AsInt() - *Start(i).AsInt());
    }
    return longest;
  }
};

absl::StatusOr<std::vector<Expr>> OutputSizes(const OpArgs& args, int spatial,
                                              const ShapeEnv& shapes) {
  const TensorType& input = args.Type(0);
  const int first = input.rank() - spatial;
  if (first != 1 && first != 2) {
    return InvalidArgument(args.schema().name, ": expected ", spatial + 1, "D or ", spatial + 2,
                           "D tensor, but got ", ToString(input));
  }
  std::vector<Expr> wanted = args.Ints(1);
  if (static_cast<int>(wanted.size()) != spatial) {
    return InvalidArgument(args.schema().name, ": output_size must be ", spatial, " integers");
  }
  std::vector<Expr> sizes = input.sizes;
  for (int d = 0; d < spatial; ++d) {
    if (symbolic::IsRefused(shapes, symbolic::Lt(wanted[d], 0)) ||
        symbolic::IsRefused(shapes, symbolic::Eq(input.sizes[first + d], 0))) {
      return InvalidArgument(args.schema().name,
                             ": output sizes must be non-negative and input "
                             "sizes non-zero, got ",
                             ToString(input), " and ", ToString(wanted));
    }
    sizes[first + d] = wanted[d];
  }
  return sizes;
}

std::vector<Cut> CutsOf(const TensorType& input, const std::vector<Expr>& sizes, int spatial) {
  std::vector<Cut> cuts;
  for (int d = input.rank() - spatial; d < input.rank(); ++d) {
    cuts.push_back({input.sizes[d], sizes[d]});
  }
  return cuts;
}

// The mean as a sum over the longest window, places past a shorter one masked out.
absl::StatusOr<std::vector<Lowered>> LowerAdaptiveAverage(const LowerContext& c, int spatial) {
  Value* input = c.args.Tensor(0);
  const std::vector<Cut> cuts = CutsOf(TypeOf(input), c.result().sizes, spatial);
  std::vector<bool> even;
  ReductionLoops loops;
  loops.kept_sizes = c.result().sizes;
  for (const Cut& cut : cuts) {
    even.push_back(cut.IsEven(c.shapes));
    loops.reduced_sizes.push_back(cut.Longest(c.shapes));
  }
  auto place = [=](OpsHandler& ops, Index kept, Index reduced, OpsValue& inside) {
    std::vector<Expr> index(kept.begin(), kept.end());
    const size_t first = kept.size() - cuts.size();
    for (size_t d = 0; d < cuts.size(); ++d) {
      const Expr i = kept[first + d];
      index[first + d] =
          (even[d] ? i * symbolic::FloorDiv(cuts[d].in, cuts[d].count) : cuts[d].Start(i)) +
          reduced[d];
      if (even[d]) continue;
      OpsValue below = IsBelow(ops, index[first + d], cuts[d].End(i));
      inside = inside.is_valid() ? ops.And(inside, below) : below;
    }
    return index;
  };
  auto body = [=](OpsHandler& ops, TensorReader& in, Index kept, Index reduced) {
    OpsValue inside;
    std::vector<Expr> index = place(ops, kept, reduced, inside);
    if (!inside.is_valid()) return in.Load(ops, input, index);
    return ops.Masked(
        inside, [&] { return in.Load(ops, input, index); }, 0);
  };
  auto divide = [=](OpsHandler& ops, OpsValue sum, Index kept) {
    Expr count = 1;
    const size_t first = kept.size() - cuts.size();
    for (size_t d = 0; d < cuts.size(); ++d) {
      const Expr i = kept[first + d];
      count = count * (even[d] ? symbolic::FloorDiv(cuts[d].in, cuts[d].count)
                               : cuts[d].End(i) - cuts[d].Start(i));
    }
    OpsValue divisor = ops.IndexExpr(count, ops.dtype(sum));
    return IsFloat(ops.dtype(sum)) ? ops.Div(sum, divisor) : ops.TruncDiv(sum, divisor);
  };
  std::optional<int64_t> area = symbolic::Product(loops.reduced_sizes).AsInt();
  if (area && *area <= kUnrolledTaps && *area > 0) {
    Dims longest;
    for (const Expr& size : loops.reduced_sizes) longest.push_back(*size.AsInt());
    return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
      OpsValue sum;
      ForEachIndex(longest, [&](const Position& tap) {
        OpsValue v = body(ops, in, index, std::vector<Expr>(tap.begin(), tap.end()));
        sum = sum.is_valid() ? ops.Add(sum, v) : v;
      });
      return divide(ops, sum, index);
    }}};
  }
  loops.kind = ReduceKind::kSum;
  loops.body = body;
  loops.finish = [=](OpsHandler& ops, TensorReader&, OpsValue sum, Index kept) {
    return divide(ops, sum, kept);
  };
  loops.kept_of_result = [](Index result) {
    return std::vector<Expr>(result.begin(), result.end());
  };
  return std::vector<Lowered>{std::move(loops)};
}

// Calls `visit(channel_base, places)` for every output element in row-major order.
template <typename F>
void ForEachHostWindow(const Tensor& input, const Dims& out_sizes, int spatial, F&& visit) {
  const int first = input.rank() - spatial;
  std::vector<int64_t> sizes(input.sizes().begin() + first, input.sizes().end());
  const int64_t area = CountElements(sizes);
  ForEachIndex(out_sizes, [&](const Position& p) {
    int64_t channel = 0;
    for (int d = 0; d < first; ++d) channel = channel * input.sizes()[d] + p[d];
    Dims lengths(spatial, 0);
    std::vector<int64_t> starts;
    for (int d = 0; d < spatial; ++d) {
      const int64_t in = sizes[d], n = out_sizes[first + d], i = p[first + d];
      starts.push_back(i * in / n);
      lengths[d] = ((i + 1) * in + n - 1) / n - starts[d];
    }
    std::vector<int64_t> places;
    ForEachIndex(lengths, [&](const Position& tap) {
      int64_t place = 0;
      for (int d = 0; d < spatial; ++d) place = place * sizes[d] + starts[d] + tap[d];
      places.push_back(place);
    });
    visit(channel * area, places);
  });
}

absl::StatusOr<std::vector<HostValue>> EvaluateAdaptiveAverage(const EvaluateContext& c,
                                                               int spatial) {
  const Tensor& input = c.args.Tensor(0);
  Tensor out = c.Allocate();
  const std::vector<double> x = ToVector<double>(input);
  std::vector<double> y;
  ForEachHostWindow(input, out.sizes(), spatial,
                    [&](int64_t base, const std::vector<int64_t>& places) {
                      double sum = 0;
                      for (int64_t place : places) sum += x[base + place];
                      y.push_back(sum / static_cast<double>(places.size()));
                    });
  FromVector<double>(y, out);
  return OneResult(out);
}

OpRow KernelRow(int spatial) {
  OpRow row;
  row.schema = absl::StrCat("aten::_adaptive_avg_pool", spatial, "d(Tensor self, SymInt[", spatial,
                            "] output_size) -> Tensor");
  row.doc = "The means of as many windows as asked for.";
  row.infer = [spatial](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, OutputSizes(c.args, spatial, c.shapes));
    const TensorType& input = c.args.Type(0);
    return std::vector<ValueType>{PooledType(input, std::move(sizes), input.dtype, c.shapes)};
  };
  row.lower = [spatial](const LowerContext& c) { return LowerAdaptiveAverage(c, spatial); };
  row.evaluate = [spatial](const EvaluateContext& c) {
    return EvaluateAdaptiveAverage(c, spatial);
  };
  return row;
}

// adaptive_avg_poolNd: one window is a mean over all of it.
OpRow CompositeRow(int spatial) {
  OpRow row;
  row.schema = absl::StrCat("aten::adaptive_avg_pool", spatial, "d(Tensor self, ",
                            spatial == 1 ? "int[" : "SymInt[", spatial, "] output_size) -> Tensor");
  row.doc = "The means of as many windows as asked for.";
  row.composite = true;
  row.decompose = [spatial](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    LATHE_RETURN_IF_ERROR(OutputSizes(args, spatial, b.shapes()).status());
    std::vector<Expr> wanted = args.Ints(1);
    Value* x = args.Tensor(0);
    bool is_global = spatial > 1;
    std::vector<Expr> dims;
    for (int d = 0; d < spatial; ++d) {
      is_global &= wanted[d] == 1;
      dims.push_back(d - spatial);
    }
    if (is_global) return OneArgument(b.Call("aten.mean.dim", {x, dims, true}));
    if (spatial > 1) {
      return OneArgument(
          b.Call(absl::StrCat("aten._adaptive_avg_pool", spatial, "d"), {x, wanted}));
    }
    wanted.insert(wanted.begin(), 1);
    Value* y = b.Call("aten._adaptive_avg_pool2d", {b.Call("aten.unsqueeze", {x, -2}), wanted});
    return OneArgument(b.Call("aten.squeeze.dim", {y, -2}));
  };
  return row;
}

// ---- adaptive_max_pool ----

// The maximum over the longest window, or its place within the channel; places past a shorter
// window count as lowest.
ReductionLoops AdaptiveMaxLoop(const LowerContext& c, int spatial, bool wants_place) {
  Value* input = c.args.Tensor(0);
  const TensorType type = TypeOf(input);
  const std::vector<Cut> cuts = CutsOf(type, c.result().sizes, spatial);
  const size_t first = static_cast<size_t>(type.rank() - spatial);
  std::vector<bool> even;
  ReductionLoops loops;
  loops.kept_sizes = c.result().sizes;
  loops.kind = wants_place ? ReduceKind::kArgMax : ReduceKind::kMax;
  for (const Cut& cut : cuts) {
    even.push_back(cut.IsEven(c.shapes));
    loops.reduced_sizes.push_back(cut.Longest(c.shapes));
  }
  const auto place = [=](Index kept, Index reduced) {
    std::vector<Expr> index(kept.begin(), kept.end());
    for (size_t d = 0; d < cuts.size(); ++d) {
      const Expr i = kept[first + d];
      index[first + d] =
          (even[d] ? i * symbolic::FloorDiv(cuts[d].in, cuts[d].count) : cuts[d].Start(i)) +
          reduced[d];
    }
    return index;
  };
  loops.body = [=](OpsHandler& ops, TensorReader& in, Index kept, Index reduced) {
    const std::vector<Expr> index = place(kept, reduced);
    OpsValue inside;
    for (size_t d = 0; d < cuts.size(); ++d) {
      if (even[d]) continue;
      OpsValue below = IsBelow(ops, index[first + d], cuts[d].End(kept[first + d]));
      inside = inside.is_valid() ? ops.And(inside, below) : below;
    }
    if (!inside.is_valid()) return in.Load(ops, input, index);
    return ops.Masked(
        inside, [&] { return in.Load(ops, input, index); }, SmallestOf(type.dtype));
  };
  loops.position = [=](Index kept, Index reduced) {
    const std::vector<Expr> index = place(kept, reduced);
    Expr flat = 0;
    for (size_t d = 0; d < cuts.size(); ++d) flat = flat * cuts[d].in + index[first + d];
    return flat;
  };
  loops.kept_of_result = [](Index result) {
    return std::vector<Expr>(result.begin(), result.end());
  };
  return loops;
}

// One dimension is two with a size of 1 in front.
absl::StatusOr<Arguments> AdaptiveMaxOfLines(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(OutputSizes(args, 1, b.shapes()).status());
  std::vector<Expr> wanted = args.Ints(1);
  wanted.insert(wanted.begin(), 1);
  Arguments results;
  for (Value* y :
       b.CallMany("aten.adaptive_max_pool2d", {b.Call("aten.unsqueeze", {args[0], -2}), wanted})) {
    Value* line = b.Call("aten.squeeze.dim", {y, -2});
    results.push_back(line == nullptr ? Argument() : Argument::Of(line));
  }
  return results;
}

OpRow AdaptiveMaxRow(int spatial) {
  OpRow row;
  row.schema = absl::StrCat("aten::adaptive_max_pool", spatial, "d(Tensor self, int[", spatial,
                            "] output_size) -> (Tensor, Tensor)");
  row.doc = "The largest elements of as many windows as asked for, and their places.";
  row.infer = [spatial](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, OutputSizes(c.args, spatial, c.shapes));
    const TensorType& input = c.args.Type(0);
    return std::vector<ValueType>{PooledType(input, sizes, input.dtype, c.shapes),
                                  PooledType(input, sizes, DType::kI64, c.shapes)};
  };
  row.lower = [spatial](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    return std::vector<Lowered>{AdaptiveMaxLoop(c, spatial, false),
                                AdaptiveMaxLoop(c, spatial, true)};
  };
  row.evaluate = [spatial](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& input = c.args.Tensor(0);
    Tensor values = c.Allocate(0), places = c.Allocate(1);
    VisitOrdered(input.dtype(), [&]<typename T>(TypeTag<T>) {
      const std::vector<T> x = ToVector<T>(input);
      std::vector<T> best;
      std::vector<int64_t> where;
      ForEachHostWindow(input, values.sizes(), spatial,
                        [&](int64_t base, const std::vector<int64_t>& window) {
                          int64_t chosen = window[0];
                          for (int64_t p : window) {
                            const T v = x[base + p];
                            if (v > x[base + chosen] || v != v) chosen = p;
                          }
                          best.push_back(x[base + chosen]);
                          where.push_back(chosen);
                        });
      FromVector<T>(best, values);
      FromVector<int64_t>(where, places);
    });
    return std::vector<HostValue>{values, places};
  };
  return row;
}

}  // namespace

std::vector<OpRow> AdaptivePoolRows() {
  std::vector<OpRow> rows;
  rows.push_back(KernelRow(2));
  rows.back().samples = {"aten._adaptive_avg_pool2d(f32[2, 3, 7, 8], [3, 4])",
                         "aten._adaptive_avg_pool2d(f32[3, 8, 8], [2, 4])"};
  rows.push_back(KernelRow(3));
  rows.back().samples = {"aten._adaptive_avg_pool3d(f32[2, 3, 4, 5, 6], [2, 2, 3])"};
  for (int n : {1, 2, 3}) rows.push_back(CompositeRow(n));
  rows[3].samples = {"aten.adaptive_avg_pool2d(f32[2, 3, 7, 8], [1, 1])"};
  rows.push_back(AdaptiveMaxRow(2));
  rows.back().samples = {"aten.adaptive_max_pool2d(f32[2, 3, 7, 8], [3, 4])"};
  rows.push_back(AdaptiveMaxRow(3));
  rows.emplace_back();
  rows.back().schema =
      "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)";
  rows.back().doc = "The largest elements of as many windows as asked for, and their places.";
  rows.back().composite = true;
  rows.back().decompose = AdaptiveMaxOfLines;
  rows.back().samples = {"aten.adaptive_max_pool1d(f32[2, 3, 7], [3])"};
  return rows;
}

}  // namespace lathe
