// Binary search in sorted sequences: searchsorted, bucketize.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "dtypes/promotion.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// Number of sequence elements below x (right: not above x), among n from `first`, read in the
// order of `sorter` when there is one.
template <typename T>
int64_t Search(const T* sequence, const int64_t* sorter, int64_t n, T x, bool right) {
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T v = sequence[sorter ? sorter[middle] : middle];
    // As eager asks: no NaN is past anything, and nothing is past a NaN.
    if (right ? !(v > x) : !(v >= x)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <typename T>
void SearchAll(const Tensor& sequence, const std::vector<T>& s, const std::optional<Tensor>& sorter,
               const std::vector<T>& values, bool right, const Tensor& out) {
  std::vector<int64_t> order;
  if (sorter) order = ToVector<int64_t>(*sorter);
  const int64_t n = sequence.sizes().back();
  // Rows of the sequence go with rows of the values; a vector serves all.
  const int64_t rows = n == 0 ? 1 : static_cast<int64_t>(s.size()) / n;
  const int64_t per_row = rows == 0 ? 0 : static_cast<int64_t>(values.size()) / rows;
  std::vector<int64_t> found;
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t row =
        sequence.rank() == 1 || per_row == 0 ? 0 : static_cast<int64_t>(k) / per_row;
    const int64_t first = sequence.rank() == 1 ? 0 : row * n;
    found.push_back(
        Search<T>(s.data() + first, sorter ? order.data() + first : nullptr, n, values[k], right));
  }
  FromVector<int64_t>(found, out);
}

// A number to search for counts as a tensor of what it and the sequence promote to.
Value* NumberTensor(Builder& b, const OpArgs& args, int i, DType sequence) {
  const bool is_float = IsFloat(NumberType(args, i));
  DType dtype = sequence;
  if (IsBool(sequence)) dtype = is_float ? DType::kF32 : DType::kI64;
  if (IsInteger(sequence) && is_float) dtype = DType::kF32;
  return b.Call("aten.scalar_tensor", {args[i]}, {{"dtype", dtype}});
}

// Numbers of one type whose order is that of the integers, of u64 and of signed ones alike.
std::vector<__int128> WideIntegers(const Tensor& tensor) {
  if (tensor.dtype() == DType::kU64) {
    const std::vector<uint64_t> values = ToVector<uint64_t>(tensor);
    return {values.begin(), values.end()};
  }
  const std::vector<int64_t> values = ToVector<int64_t>(tensor);
  return {values.begin(), values.end()};
}

absl::Status RunSearch(const Tensor& sequence, const std::optional<Tensor>& sorter,
                       const Tensor& values, bool right, const Tensor& out) {
  if (IsFloat(sequence.dtype()) || IsFloat(values.dtype())) {
    SearchAll(sequence, ToVector<double>(sequence), sorter, ToVector<double>(values), right, out);
  } else if (sequence.dtype() == DType::kU64 || values.dtype() == DType::kU64) {
    SearchAll(sequence, WideIntegers(sequence), sorter, WideIntegers(values), right, out);
  } else {
    SearchAll(sequence, ToVector<int64_t>(sequence), sorter, ToVector<int64_t>(values), right, out);
  }
  return absl::OkStatus();
}

DType ResultDType(bool is_i32) { return is_i32 ? DType::kI32 : DType::kI64; }

// ---- As loops: the same halving, as many times as the sequence needs ----

constexpr int64_t kLongest = int64_t{1} << 30;

// The dtype that both are compared in; nullopt where none holds them exactly.
std::optional<DType> ComparedIn(DType x, DType y) {
  if (IsComplex(x) || IsComplex(y)) return std::nullopt;
  if (IsFloat(x) || IsFloat(y)) return x == y ? LoadedDType(x) : DType::kF64;
  if (x == y && BitWidth(x) >= 8 && !IsBool(x)) return x;
  if (x == DType::kU64 || y == DType::kU64) return std::nullopt;
  return DType::kI64;
}

absl::StatusOr<std::vector<Lowered>> LowerSearch(Value* sequence, Value* values, Value* sorter,
                                                 bool right) {
  const TensorType &s = TypeOf(sequence), &v = TypeOf(values);
  const std::optional<int64_t> length = s.rank() == 0 ? std::nullopt : s.sizes.back().AsInt();
  const std::optional<DType> compared = ComparedIn(s.dtype, v.dtype);
  if (!length || *length > kLongest || !compared) {
    return Unimplemented("a search in a sequence of symbolic size");
  }
  return std::vector<Lowered>{PointwiseLoops{
      [=, n = *length, dtype = *compared](OpsHandler& ops, TensorReader& in, Index index) {
        const auto number = [&](int64_t k) { return ops.Constant(Scalar(k), DType::kI64); };
        const OpsValue x = ops.Cast(in.Load(ops, values, index), dtype);
        std::vector<Expr> place;
        if (TypeOf(sequence).rank() > 1) place.assign(index.begin(), index.end() - 1);
        place.emplace_back(0);
        OpsValue low = number(0), high = number(n);
        for (int64_t left = n; left > 0; left /= 2) {
          const OpsValue middle = ops.ShiftRight(ops.Add(low, high), number(1));
          const OpsValue goes_on = ops.Lt(low, high);
          const OpsValue element = ops.Masked(
              goes_on,
              [&] {
                place.back() = ops.Indirect(middle, n);
                if (sorter != nullptr) place.back() = ops.Indirect(in.Load(ops, sorter, place), n);
                return ops.Cast(in.Load(ops, sequence, place), dtype);
              },
              Scalar(0));
          const OpsValue is_past = right ? ops.Gt(element, x) : ops.Ge(element, x);
          const OpsValue is_before = ops.And(goes_on, ops.LogicalNot(is_past));
          low = ops.Where(is_before, ops.Add(middle, number(1)), low);
          high = ops.Where(ops.And(goes_on, is_past), middle, high);
        }
        return low;
      }}};
}

OpRow BucketizeRow() {
  OpRow row;
  row.schema =
      "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool "
      "right=False) -> Tensor";
  row.doc = "The number of boundaries below each element.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& boundaries = c.args.Type(1);
    if (boundaries.rank() != 1) {
      return InvalidArgument("boundaries tensor must be 1 dimension, but got ",
                             ToString(boundaries));
    }
    return One(
        ContiguousType(ResultDType(c.args.Bool(2)), c.args.Type(0).sizes, boundaries.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    Tensor out = c.Allocate();
    LATHE_RETURN_IF_ERROR(
        RunSearch(c.args.Tensor(1), std::nullopt, c.args.Tensor(0), c.args.Bool(3), out));
    return OneResult(out);
  };
  row.lower = [](const LowerContext& c) {
    return LowerSearch(c.args.Tensor(1), c.args.Tensor(0), nullptr, c.args.Bool(3));
  };
  row.samples = {"aten.bucketize.Tensor(f32[3, 4], f32[5])"};
  return row;
}

OpRow BucketizeNumberRow() {
  OpRow row;
  row.schema =
      "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool "
      "right=False) -> Tensor";
  row.doc = "The number of boundaries below a number.";
  row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    Value* number = NumberTensor(b, args, 0, args.Type(1).dtype);
    return OneArgument(b.Call("aten.bucketize.Tensor", {number, args[1]},
                              {{"out_int32", args.Bool(2)}, {"right", args.Bool(3)}}));
  };
  return row;
}

OpRow SearchSortedNumberRow() {
  OpRow row;
  row.schema =
      "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
      "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor";
  row.doc = "The place in a sorted sequence where a number would stand.";
  row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    if (args.Type(0).rank() > 1) {
      return InvalidArgument("searchsorted: a number needs a sequence of 1 dimension, got ",
                             ToString(args.Type(0)));
    }
    Value* number = NumberTensor(b, args, 1, args.Type(0).dtype);
    return OneArgument(b.Call("aten.searchsorted.Tensor", {args[0], number},
                              {{"out_int32", args.Bool(2)},
                               {"right", args.Bool(3)},
                               {"side", args[4]},
                               {"sorter", args[5]}}));
  };
  return row;
}

OpRow SearchSortedRow() {
  OpRow row;
  row.schema =
      "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
      "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor";
  row.doc = "The place in a sorted sequence where each element would stand.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& sequence = c.args.Type(0);
    if (!c.args.IsNone(4) && c.args.String(4) != "left" && c.args.String(4) != "right") {
      return InvalidArgument("side can only be 'left' or 'right' but got ", c.args.String(4));
    }
    if (sequence.rank() == 0) {
      return InvalidArgument("searchsorted: boundaries tensor should have positive dimension, got ",
                             ToString(sequence));
    }
    bool fits = sequence.rank() == 1 || c.args.Type(1).rank() == sequence.rank();
    for (int d = 0; fits && sequence.rank() > 1 && d < sequence.rank() - 1; ++d) {
      fits =
          !symbolic::IsRefused(c.shapes, symbolic::Ne(sequence.sizes[d], c.args.Type(1).sizes[d]));
    }
    if (!fits) {
      return InvalidArgument(
          "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
          "tensor and input value tensor must match, but we got boundaries tensor ",
          ToString(sequence), " and input value tensor ", ToString(c.args.Type(1)));
    }
    return One(ContiguousType(ResultDType(c.args.Bool(2)), c.args.Type(1).sizes, sequence.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> Results {
    Tensor out = c.Allocate();
    const bool right = c.args.Bool(3) || (!c.args.IsNone(4) && c.args.String(4) == "right");
    LATHE_RETURN_IF_ERROR(
        RunSearch(c.args.Tensor(0), c.args.OptionalTensor(5), c.args.Tensor(1), right, out));
    return OneResult(out);
  };
  row.lower = [](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    const bool right = c.args.Bool(3) || (!c.args.IsNone(4) && c.args.String(4) == "right");
    return LowerSearch(c.args.Tensor(0), c.args.Tensor(1), c.args.OptionalTensor(5), right);
  };
  row.samples = {"aten.searchsorted.Tensor(f32[5], f32[3, 4])"};
  return row;
}

}  // namespace

std::vector<OpRow> SearchRows() {
  return {BucketizeRow(), BucketizeNumberRow(), SearchSortedRow(), SearchSortedNumberRow()};
}

}  // namespace lathe
