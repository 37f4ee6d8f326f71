// Reductions of segments: segment_reduce; and hash_tensor.

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// ---- segment_reduce(data, reduce, *, lengths, indices, offsets, axis, unsafe, initial) ----

Types InferSegments(const InferContext& c) {
  const TensorType& data = c.args.Type(0);
  Value *lengths = c.args.OptionalTensor(2), *offsets = c.args.OptionalTensor(4);
  if (lengths == nullptr && offsets == nullptr) {
    return Unimplemented("segment_reduce(): without lengths and offsets");
  }
  if (!IsFloat(data.dtype)) {
    return InvalidArgument("segment_reduce(): not implemented for ", Name(data.dtype));
  }
  std::vector<Expr> sizes = (lengths != nullptr ? lengths : offsets)->type.tensor().sizes;
  if (sizes.empty() || sizes.size() > data.sizes.size()) {
    return InvalidArgument("segment_reduce(): lengths and offsets have 1 to ", data.rank(),
                           " dimensions here");
  }
  if (lengths == nullptr) sizes.back() = sizes.back() - 1;
  sizes.insert(sizes.end(), data.sizes.begin() + static_cast<int64_t>(sizes.size()),
               data.sizes.end());
  return One(ContiguousType(data.dtype, std::move(sizes), data.device));
}

class SegmentReducer {
 public:
  SegmentReducer(std::string kind, std::optional<double> initial, DType dtype)
      : kind_(std::move(kind)), initial_(initial), dtype_(dtype) {}

  bool is_known() const {
    return kind_ == "max" || kind_ == "min" || kind_ == "sum" || kind_ == "mean" || kind_ == "prod";
  }
  double Start() const {
    if (initial_) return *initial_;
    const double infinity = std::numeric_limits<double>::infinity();
    return kind_ == "max" ? -infinity : kind_ == "min" ? infinity : kind_ == "prod" ? 1 : 0;
  }
  // Eager rounds every step.
  double Step(double sum, double v) const {
    if (kind_ == "max" || kind_ == "min") {
      if (std::isnan(sum) || std::isnan(v)) return std::isnan(sum) ? sum : v;
      return kind_ == "max" ? std::max(sum, v) : std::min(sum, v);
    }
    return Convert(Scalar(kind_ == "prod" ? sum * v : sum + v), dtype_).ToDouble();
  }
  double Finish(double sum, int64_t count) const {
    if (kind_ != "mean") return sum;
    if (count == 0) return initial_ ? sum : std::numeric_limits<double>::quiet_NaN();
    return sum / static_cast<double>(count);
  }

 private:
  std::string kind_;
  std::optional<double> initial_;
  DType dtype_;
};

// Lengths of the segments, of each outer position in turn.
std::vector<int64_t> SegmentLengths(const HostArgs& args, int64_t segments) {
  if (auto lengths = args.OptionalTensor(2)) return ToVector<int64_t>(*lengths);
  const std::vector<int64_t> offsets = ToVector<int64_t>(args.Tensor(4));
  std::vector<int64_t> lengths;
  for (size_t k = 0; k + 1 < offsets.size(); ++k) {
    if (static_cast<int64_t>(k) % (segments + 1) == segments) continue;
    lengths.push_back(offsets[k + 1] - offsets[k]);
  }
  return lengths;
}

Results EvaluateSegments(const EvaluateContext& c) {
  const Tensor& data = c.args.Tensor(0);
  std::optional<double> initial;
  if (auto number = c.args.OptionalNumber(7)) initial = number->ToDouble();
  const SegmentReducer reducer(c.args.String(1), initial, data.dtype());
  if (!reducer.is_known()) {
    return InvalidArgument("segment_reduce(): unknown reduction ", c.args.String(1));
  }
  Tensor out = c.Allocate();
  const int axis = (c.args.OptionalTensor(2) ? c.args.Tensor(2) : c.args.Tensor(4)).rank() - 1;
  const int64_t segments = out.sizes()[axis], size = data.sizes()[axis];
  const std::vector<int64_t> lengths = SegmentLengths(c.args, segments);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= data.sizes()[d];
  for (int d = axis + 1; d < data.rank(); ++d) inner *= data.sizes()[d];
  const std::vector<double> x = ToVector<double>(data);
  std::vector<double> y;
  for (int64_t o = 0; o < outer; ++o) {
    int64_t first = 0;
    for (int64_t s = 0; s < segments; ++s) {
      const int64_t length = lengths[o * segments + s];
      if (length < 0 || first + length > size) {
        return InvalidArgument("segment_reduce(): lengths do not add up to the size ", size);
      }
      for (int64_t i = 0; i < inner; ++i) {
        double sum = reducer.Start();
        for (int64_t k = first; k < first + length; ++k) {
          sum = reducer.Step(sum, x[(o * size + k) * inner + i]);
        }
        y.push_back(reducer.Finish(sum, length));
      }
      first += length;
    }
  }
  FromVector<double>(y, out);
  return OneResult(out);
}

// ---- hash_tensor(self, dim, *, keepdim, mode) ----

OpRow HashRow() {
  OpRow row;
  row.schema =
      "aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor";
  row.doc = "The exclusive or of the elements' bits: of integers in 64 bits, of floats as f64.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    LATHE_ASSIGN_OR_RETURN(int64_t mode, c.args.ConstantInt(3));
    if (mode != 0 || IsComplex(self.dtype)) {
      return InvalidArgument("hash_tensor: mode ", mode, " of ", Name(self.dtype));
    }
    LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, c.args.ConstantInts(1));
    LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, ReducedDims(wanted, self.rank()));
    return One(
        ContiguousType(DType::kU64, ReducedSizes(self.sizes, dims, c.args.Bool(2)), self.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    const Tensor& self = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, ReducedDims(c.args.Ints(1), self.rank()));
    Tensor out = c.Allocate();
    std::vector<uint64_t> bits;
    if (IsFloat(self.dtype())) {
      for (double v : ToVector<double>(self)) bits.push_back(std::bit_cast<uint64_t>(v));
    } else {
      bits = ToVector<uint64_t>(self);
    }
    std::vector<uint64_t> y(out.numel(), 0);
    size_t k = 0;
    ForEachIndex(self.sizes(), [&](const Position& p) {
      int64_t at = 0;
      for (size_t d = 0; d < p.size(); ++d) {
        if (std::find(dims.begin(), dims.end(), static_cast<int>(d)) != dims.end()) continue;
        at = at * self.sizes()[d] + p[d];
      }
      y[at] ^= bits[k++];
    });
    FromVector<uint64_t>(y, out);
    return OneResult(out);
  };
  row.samples = {"aten.hash_tensor(f32[3, 4], [1])"};
  return row;
}

}  // namespace

std::vector<OpRow> SegmentRows() {
  OpRow segments;
  segments.schema =
      "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? "
      "indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> "
      "Tensor";
  segments.doc = "Maxima, minima, sums, means or products of segments along a dimension.";
  segments.infer = InferSegments;
  segments.evaluate = EvaluateSegments;
  return {segments, HashRow()};
}

}  // namespace lathe
