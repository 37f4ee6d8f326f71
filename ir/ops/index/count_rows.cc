// Counts and other rare ops on indices: evaluated, or composed of common ones.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "runtime/tensor/available_memory.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// Results as long as the data say are asked for before they are allocated: ResourceExhausted where
// `count` elements of so many bytes each need more memory than there is.
absl::Status CheckCountFits(absl::string_view op, int64_t count, int64_t bytes_each) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, bytes_each, &bytes)) bytes = INT64_MAX;
  if (bytes < INT64_MAX && FitsMemory(bytes)) return absl::OkStatus();
  return OutOfMemory(absl::StrCat(op, ": a result of ", count, " elements"), bytes);
}

// ---- bincount(self, weights, minlength) ----

DType CountDType(Value* weights) {
  if (weights == nullptr) return DType::kI64;
  return TypeOf(weights).dtype == DType::kF32 ? DType::kF32 : DType::kF64;
}

OpRow BincountRow() {
  OpRow row;
  row.schema = "aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor";
  row.doc = "How often each number occurs, or the sum of its weights.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    if (self.rank() != 1 || !IsIntegral(self.dtype)) {
      return InvalidArgument("bincount only supports 1-d non-negative integral inputs, got ",
                             ToString(self));
    }
    if (symbolic::IsRefused(c.shapes, symbolic::Lt(c.args.Int(2), 0))) {
      return InvalidArgument("minlength should be >= 0");
    }
    const int64_t least = std::max<int64_t>(c.shapes.RangeOf(c.args.Int(2)).lower, 0);
    Expr count = c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node),
                                        symbolic::Range{least, symbolic::Range::kMax});
    return One(ContiguousType(CountDType(c.args.OptionalTensor(1)), {count}, self.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const std::vector<int64_t> x = ToVector<int64_t>(c.args.Tensor(0));
    const std::optional<Tensor> weights = c.args.OptionalTensor(1);
    const int64_t wanted = c.args.Int(2);
    int64_t largest = -1;
    for (int64_t v : x) {
      if (v < 0) return InvalidArgument("bincount only supports 1-d non-negative integral inputs");
      largest = std::max(largest, v);
    }
    // The sums and the result.
    LATHE_RETURN_IF_ERROR(CheckCountFits("bincount", std::max(largest, wanted - 1), 16));
    const int64_t count = std::max(wanted, largest + 1);
    const DType dtype = c.results[0].tensor().dtype;
    std::vector<double> sums(count, 0);
    std::vector<double> w(x.size(), 1);
    if (weights) w = ToVector<double>(*weights);
    if (w.size() != x.size()) {
      return InvalidArgument("bincount: weights should be 1-d and have the same length as input");
    }
    for (size_t k = 0; k < x.size(); ++k) sums[x[k]] += w[k];
    Tensor out = Tensor::Empty(dtype, {count});
    FromVector<double>(sums, out);
    return OneResult(out);
  };
  return row;
}

// ---- repeat_interleave(repeats) ----

OpRow RepeatInterleaveRow() {
  OpRow row;
  row.schema =
      "aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor";
  row.doc = "Each place number as often as it says there.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& repeats = c.args.Type(0);
    if (repeats.rank() != 1 || !IsInteger(repeats.dtype)) {
      return InvalidArgument("repeat_interleave only accept 1D integer vector as repeat, got ",
                             ToString(repeats));
    }
    Expr count = c.args.OptionalInt(1)
                     ? *c.args.OptionalInt(1)
                     : c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node),
                                              symbolic::Range{0, symbolic::Range::kMax});
    return One(ContiguousType(repeats.dtype, {count}, repeats.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& repeats = c.args.Tensor(0);
    const std::vector<int64_t> counts = ToVector<int64_t>(repeats);
    int64_t total = 0;
    for (int64_t times : counts) {
      if (times < 0) return InvalidArgument("repeats can not be negative");
      if (__builtin_add_overflow(total, times, &total)) total = INT64_MAX;
    }
    // The list of places and the result.
    LATHE_RETURN_IF_ERROR(CheckCountFits("repeat_interleave", total, 16));
    std::vector<int64_t> places;
    int64_t k = 0;
    for (int64_t times : counts) {
      places.insert(places.end(), times, k++);
    }
    Tensor out = Tensor::Empty(repeats.dtype(), {static_cast<int64_t>(places.size())});
    FromVector<int64_t>(places, out);
    return OneResult(out);
  };
  return row;
}

// ---- histc(self, bins, min, max) ----

OpRow HistcRow() {
  OpRow row;
  row.schema = "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor";
  row.doc = "How many elements lie in each of `bins` equal parts of a range.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    if (!IsFloat(self.dtype)) {
      return InvalidArgument("histogram: not implemented for ", Name(self.dtype));
    }
    if (symbolic::IsRefused(c.shapes, symbolic::Le(c.args.Int(1), 0))) {
      return InvalidArgument("torch.histc(): bins must be > 0");
    }
    return One(ContiguousType(self.dtype, {c.args.Int(1)}, self.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const DType dtype = c.args.Tensor(0).dtype();
    // Eager computes with numbers of the tensor's own type throughout.
    const auto rounded = [dtype](double v) { return Convert(Scalar(v), dtype).ToDouble(); };
    const std::vector<double> x = ToVector<double>(c.args.Tensor(0));
    const int64_t bins = c.args.Int(1);
    double low = rounded(c.args.Number(2).ToDouble()), high = rounded(c.args.Number(3).ToDouble());
    if (low == high && !x.empty()) {
      low = *std::min_element(x.begin(), x.end());
      high = *std::max_element(x.begin(), x.end());
    }
    if (low == high) {
      low = rounded(low - 1);
      high = rounded(high + 1);
    }
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
      return InvalidArgument("torch.histc: range of [", low, ", ", high, "] is not finite");
    }
    // The counts and the result.
    LATHE_RETURN_IF_ERROR(CheckCountFits("histc", bins, 16));
    std::vector<double> counts(bins, 0);
    for (double v : x) {
      if (!(v >= low && v <= high)) continue;
      const double steps = rounded(rounded(v - low) * static_cast<double>(bins));
      const int64_t k = static_cast<int64_t>(rounded(steps / rounded(high - low)));
      counts[std::min(k, bins - 1)] += 1;
    }
    Tensor out = c.Allocate();
    FromVector<double>(counts, out);
    return OneResult(out);
  };
  return row;
}

// ---- embedding_renorm: rows longer than max_norm made that long ----

OpRow RenormRow() {
  OpRow row;
  row.schema =
      "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> "
      "Tensor";
  row.doc = "The table with the rows that the indices name scaled down to max_norm.";
  row.infer = [](const InferContext& c) -> Types { return One(c.args.Type(0)); };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const Tensor& self = c.args.Tensor(0);
    const int64_t width = self.sizes()[1];
    const double most = c.args.Float(2), p = c.args.Float(3);
    std::vector<double> x = ToVector<double>(self);
    std::vector<int64_t> indices = ToVector<int64_t>(c.args.Tensor(1));
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    for (int64_t i : indices) {
      if (i < 0 || i >= self.sizes()[0]) return OutOfRange("index ", i, " is out of range");
      double norm = 0;
      for (int64_t k = 0; k < width; ++k) {
        const double v = std::fabs(x[i * width + k]);
        norm = std::isinf(p) ? std::max(norm, v) : norm + std::pow(v, p);
      }
      if (!std::isinf(p)) norm = std::pow(norm, 1 / p);
      if (norm <= most) continue;
      for (int64_t k = 0; k < width; ++k) x[i * width + k] *= most / (norm + 1e-7);
    }
    Tensor out = c.Allocate();
    FromVector<double>(x, out);
    return OneResult(out);
  };
  return row;
}

// ---- _chunk_cat: each tensor cut into chunks along a dimension, chunk k of all side by side ----

absl::StatusOr<Arguments> DecomposeChunkCat(Builder& b, const OpArgs& args) {
  std::vector<Value*> tensors = args.Tensors(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t chunks, args.ConstantInt(2));
  if (tensors.empty() || chunks <= 0) {
    return InvalidArgument("_chunk_cat: expects tensors and num_chunks > 0");
  }
  // Dimensions from `dim` on become two, whatever the tensor's rank.
  LATHE_ASSIGN_OR_RETURN(wanted, WrapDim(wanted, TypeOf(tensors[0]).rank()));
  std::vector<Value*> parts;
  for (Value* t : tensors) {
    const TensorType type = TypeOf(t);
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, type.rank()));
    const Expr chunk = symbolic::CeilDiv(type.sizes[dim], chunks);
    const Expr missing = b.shapes().Simplify(chunk * chunks - type.sizes[dim]);
    std::vector<Expr> pad(2 * (type.rank() - dim), 0);
    pad.back() = missing;
    if (!(missing == 0)) t = b.Call("aten.constant_pad_nd", {t, pad, Scalar(0)});
    std::vector<Expr> sizes(type.sizes.begin(), type.sizes.begin() + dim);
    sizes.push_back(chunks);
    sizes.push_back(chunk * symbolic::Product(absl::MakeConstSpan(type.sizes).subspan(dim + 1)));
    parts.push_back(Reshape(b, t, sizes));
  }
  return OneArgument(b.Call("aten.cat", {CallArgument(parts), wanted + 1}));
}

}  // namespace

std::vector<OpRow> CountRows() {
  std::vector<OpRow> rows;
  rows.push_back(BincountRow());
  rows.push_back(RepeatInterleaveRow());
  rows.push_back(HistcRow());
  rows.push_back(RenormRow());
  OpRow chunks;
  chunks.schema = "aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor";
  chunks.doc = "Tensors cut into chunks, the k-th chunks of all side by side.";
  chunks.decompose = DecomposeChunkCat;
  rows.push_back(std::move(chunks));
  return rows;
}

}  // namespace lathe
