// Histograms over one dimension and several.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;
using Edges = std::vector<double>;

// Numbers rounded to a dtype.
struct Rounding {
  DType dtype;
  double operator()(double v) const { return Convert(Scalar(v), dtype).ToDouble(); }
};

// `bins` equal parts from low to high, counted from the nearer end.
Edges EqualParts(double low, double high, int64_t bins, Rounding r) {
  Edges edges;
  const double step = r(r(high - low) / static_cast<double>(bins));
  for (int64_t k = 0; k <= bins; ++k) {
    edges.push_back(k < (bins + 1) / 2 ? r(low + r(step * static_cast<double>(k)))
                                       : r(high - r(step * static_cast<double>(bins - k))));
  }
  return edges;
}

// The lowest and highest of some numbers, half a unit apart from a lone one.
absl::StatusOr<std::pair<double, double>> RangeOf(const std::vector<double>& x, Rounding r) {
  double low = 0, high = 0;
  if (!x.empty()) {
    low = *std::min_element(x.begin(), x.end());
    high = *std::max_element(x.begin(), x.end());
  }
  if (!std::isfinite(low) || !std::isfinite(high)) {
    return InvalidArgument("histogram: range of [", low, ", ", high, "] is not finite");
  }
  if (low == high) {
    low = r(low - 0.5);
    high = r(high + 0.5);
  }
  return std::make_pair(low, high);
}

// The part that holds v, the last one closed at both ends; -1: none.
int64_t PartOf(const Edges& edges, double v) {
  if (edges.size() < 2 || !(v >= edges.front() && v <= edges.back())) return -1;
  const int64_t k = std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1;
  return std::min<int64_t>(k, static_cast<int64_t>(edges.size()) - 2);
}

// Points of edges.size() numbers each.
std::vector<double> Count(const std::vector<double>& points, const std::vector<Edges>& edges,
                          const std::vector<double>& weights) {
  int64_t parts = 1;
  for (const Edges& e : edges) parts *= static_cast<int64_t>(e.size()) - 1;
  std::vector<double> counts(parts, 0);
  const size_t rank = edges.size(), n = points.size() / std::max<size_t>(rank, 1);
  for (size_t k = 0; k < n; ++k) {
    int64_t at = 0;
    for (size_t d = 0; d < rank && at >= 0; ++d) {
      const int64_t part = PartOf(edges[d], points[k * rank + d]);
      at = part < 0 ? -1 : at * (static_cast<int64_t>(edges[d].size()) - 1) + part;
    }
    if (at >= 0) counts[at] += weights.empty() ? 1 : weights[k];
  }
  return counts;
}

// Divided by their sum and by the volume of each part.
void ToDensity(std::vector<double>& counts, const std::vector<Edges>& edges) {
  double sum = 0;
  for (double v : counts) sum += v;
  for (size_t k = 0; k < counts.size(); ++k) {
    double volume = 1;
    size_t left = k;
    for (size_t d = edges.size(); d-- > 0;) {
      const size_t parts = edges[d].size() - 1, i = left % parts;
      left /= parts;
      volume *= edges[d][i + 1] - edges[d][i];
    }
    counts[k] /= sum * volume;
  }
}

std::vector<double> Weights(const HostArgs& args, int i) {
  const std::optional<Tensor> weight = args.OptionalTensor(i);
  return weight ? ToVector<double>(*weight) : std::vector<double>();
}

absl::Status CheckFloats(const InferContext& c) {
  if (IsFloat(c.args.Type(0).dtype)) return absl::OkStatus();
  return InvalidArgument(c.args.schema().name, ": not implemented for ",
                         Name(c.args.Type(0).dtype));
}

// The edges that bin counts and an optional range of 2 numbers a dimension give.
absl::StatusOr<std::vector<Edges>> EdgesOf(const std::vector<double>& points,
                                           const std::vector<int64_t>& bins,
                                           const std::vector<Scalar>& range, Rounding r) {
  if (!range.empty() && range.size() != 2 * bins.size()) {
    return InvalidArgument("histogram: expected 2 numbers of range a dimension, got ",
                           range.size());
  }
  std::vector<Edges> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    if (bins[d] <= 0) return InvalidArgument("histogram: bins must be > 0");
    std::vector<double> line;
    for (size_t k = d; k < points.size(); k += bins.size()) line.push_back(points[k]);
    if (!range.empty()) line = {range[2 * d].ToDouble(), range[2 * d + 1].ToDouble()};
    LATHE_ASSIGN_OR_RETURN(auto ends, RangeOf(line, r));
    edges.push_back(EqualParts(ends.first, ends.second, bins[d], r));
  }
  return edges;
}

OpRow BinCountRow() {
  OpRow row;
  row.schema =
      "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? "
      "weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)";
  row.doc = "How many elements lie in each of `bins` equal parts, and where these begin and end.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckFloats(c));
    const TensorType& self = c.args.Type(0);
    return std::vector<ValueType>{ContiguousType(self.dtype, {c.args.Int(1)}, self.device),
                                  ContiguousType(self.dtype, {c.args.Int(1) + 1}, self.device)};
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const std::vector<double> x = ToVector<double>(c.args.Tensor(0));
    LATHE_ASSIGN_OR_RETURN(std::vector<Edges> edges, EdgesOf(x, {c.args.Int(1)}, c.args.Numbers(2),
                                                             Rounding{c.args.Tensor(0).dtype()}));
    std::vector<double> counts = Count(x, edges, Weights(c.args, 3));
    if (c.args.Bool(4)) ToDensity(counts, edges);
    Tensor out = c.Allocate(0), ends = c.Allocate(1);
    FromVector<double>(counts, out);
    FromVector<double>(edges[0], ends);
    return std::vector<HostValue>{out, ends};
  };
  row.samples = {"aten.histogram.bin_ct(f32[9], 4)"};
  return row;
}

OpRow BinsRow() {
  OpRow row;
  row.schema =
      "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor bin_edges)";
  row.doc = "How many elements lie between neighbours of `bins`.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckFloats(c));
    const TensorType &self = c.args.Type(0), &bins = c.args.Type(1);
    return std::vector<ValueType>{ContiguousType(self.dtype, {NumElements(bins) - 1}, self.device),
                                  ContiguousType(self.dtype, {NumElements(bins)}, self.device)};
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const std::vector<Edges> edges = {ToVector<double>(c.args.Tensor(1))};
    std::vector<double> counts =
        Count(ToVector<double>(c.args.Tensor(0)), edges, Weights(c.args, 2));
    if (c.args.Bool(3)) ToDensity(counts, edges);
    Tensor out = c.Allocate(0), ends = c.Allocate(1);
    FromVector<double>(counts, out);
    FromVector<double>(edges[0], ends);
    return std::vector<HostValue>{out, ends};
  };
  return row;
}

const char* const kBins =
    "(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False)";

OpRow EdgesRow() {
  OpRow row;
  row.schema = absl::StrCat("aten::_histogramdd_bin_edges", kBins, " -> Tensor[]");
  row.doc = "Where the parts of a histogram of several dimensions begin and end.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckFloats(c));
    std::vector<ValueType> types;
    for (const Expr& bins : c.args.Ints(1)) {
      types.emplace_back(ContiguousType(c.args.Type(0).dtype, {bins + 1}, c.args.Type(0).device));
    }
    return types;
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    LATHE_ASSIGN_OR_RETURN(std::vector<Edges> edges,
                           EdgesOf(ToVector<double>(c.args.Tensor(0)), c.args.Ints(1),
                                   c.args.Numbers(2), Rounding{c.args.Tensor(0).dtype()}));
    std::vector<HostValue> results;
    for (size_t d = 0; d < edges.size(); ++d) {
      Tensor out = c.Allocate(static_cast<int>(d));
      FromVector<double>(edges[d], out);
      results.emplace_back(out);
    }
    return results;
  };
  return row;
}

OpRow SpaceCountRow() {
  OpRow row;
  row.schema = absl::StrCat("aten::_histogramdd_from_bin_cts", kBins, " -> Tensor");
  row.doc = "How many points lie in each part of a space cut into equal ones.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckFloats(c));
    return One(ContiguousType(c.args.Type(0).dtype, c.args.Ints(1), c.args.Type(0).device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const std::vector<double> x = ToVector<double>(c.args.Tensor(0));
    LATHE_ASSIGN_OR_RETURN(std::vector<Edges> edges, EdgesOf(x, c.args.Ints(1), c.args.Numbers(2),
                                                             Rounding{c.args.Tensor(0).dtype()}));
    std::vector<double> counts = Count(x, edges, Weights(c.args, 3));
    if (c.args.Bool(4)) ToDensity(counts, edges);
    Tensor out = c.Allocate();
    FromVector<double>(counts, out);
    return OneResult(out);
  };
  return row;
}

OpRow SpaceBinsRow() {
  OpRow row;
  row.schema =
      "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, "
      "bool density=False) -> Tensor";
  row.doc = "How many points lie in each part of a space cut at given places.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckFloats(c));
    std::vector<Expr> sizes;
    for (Value* bins : c.args.Tensors(1)) sizes.push_back(NumElements(bins->type.tensor()) - 1);
    return One(ContiguousType(c.args.Type(0).dtype, std::move(sizes), c.args.Type(0).device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    std::vector<Edges> edges;
    for (const Tensor& bins : c.args.Tensors(1)) edges.push_back(ToVector<double>(bins));
    std::vector<double> counts =
        Count(ToVector<double>(c.args.Tensor(0)), edges, Weights(c.args, 2));
    if (c.args.Bool(3)) ToDensity(counts, edges);
    Tensor out = c.Allocate();
    FromVector<double>(counts, out);
    return OneResult(out);
  };
  return row;
}

}  // namespace

std::vector<OpRow> HistogramRows() {
  return {BinCountRow(), BinsRow(), EdgesRow(), SpaceCountRow(), SpaceBinsRow()};
}

}  // namespace lathe
