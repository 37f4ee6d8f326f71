// One element of each sorted line: kthvalue, median, nanmedian; and the most frequent one: mode.

#include "ir/ops/sort/selection_rows.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/sort/lines.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

absl::Status CheckOrdered(const OpArgs& args) {
  if (!IsComplex(args.Type(0).dtype)) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": complex numbers have no order");
}

// Values and places of `x` sorted along `dim`.
struct Sorted {
  Value *values = nullptr, *places = nullptr;
};

Sorted SortLines(Builder& b, Value* x, int dim) {
  std::vector<Value*> results = b.CallMany("aten.sort", {x, dim, false});
  if (results.size() != 2) return {};
  return {results[0], results[1]};
}

// A dimension of size 1 dropped unless it is kept.
Value* Drop(Builder& b, Value* x, int dim, bool keepdim) {
  return keepdim ? x : b.Call("aten.squeeze.dim", {x, dim});
}

Arguments Both(Value* values, Value* places) {
  return {values ? Argument::Of(values) : Argument(), places ? Argument::Of(places) : Argument()};
}

// A number's line is itself.
Arguments OfScalar(Builder& b, Value* x) {
  Value* places = b.Call("aten.zeros_like", {x}, {{"dtype", DType::kI64}});
  return Both(Clone(b, x, MemoryFormat::kPreserve), places);
}

// ---- kthvalue ----

absl::StatusOr<std::vector<ValueType>> InferKthValue(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckOrdered(c.args));
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, self.rank()));
  std::vector<Expr> sizes = self.sizes;
  const Expr size = sizes.empty() ? Expr(1) : sizes[dim], k = c.args.Int(1);
  if (symbolic::IsRefused(c.shapes, symbolic::Or(symbolic::Lt(k, 1), symbolic::Gt(k, size)))) {
    return OutOfRange("kthvalue(): selected number k out of range for dimension ", dim);
  }
  if (!sizes.empty()) {
    sizes[dim] = 1;
    if (!c.args.Bool(3)) sizes.erase(sizes.begin() + dim);
  }
  return std::vector<ValueType>{ContiguousType(self.dtype, sizes, self.device),
                                ContiguousType(DType::kI64, sizes, self.device)};
}

absl::StatusOr<std::vector<Lowered>> LowerKthValue(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, c.args.Type(0).rank()));
  ExternLoops select;
  select.id = "kthvalue";
  select.attributes = absl::StrCat("dim=", dim);
  select.inputs = {c.args.Tensor(0)};
  select.contiguous_inputs = {true};
  select.integers = {c.args.Int(1)};
  return std::vector<Lowered>{std::move(select)};
}

// Where a selection by partitions leaves the k-th smallest element of order[low..high]. Among
// equal elements, eager names the one that this selection meets: the pivot is the median of the
// first, the middle and the last, and both sides stop at elements equal to it.
int64_t Selected(const Lines& lines, int64_t line, std::vector<int64_t>& order, int64_t low,
                 int64_t high, int64_t k) {
  const auto less = [&](int64_t i, int64_t j) {
    return ComesBefore(lines.Get(line, order[i]), lines.Get(line, order[j]));
  };
  const auto sort_two = [&](int64_t i, int64_t j) {
    if (less(j, i)) std::swap(order[i], order[j]);
  };
  if (high <= low) return order[k];
  if (high == low + 1) {
    sort_two(low, high);
    return order[k];
  }
  std::swap(order[(low + high) / 2], order[low + 1]);
  sort_two(low + 1, high);
  sort_two(low, high);
  sort_two(low + 1, low);
  int64_t up = low + 2, down = high - 1;
  for (;; ++up, --down) {
    while (less(up, low)) ++up;
    while (less(low, down)) --down;
    if (down < up) break;
    std::swap(order[up], order[down]);
  }
  std::swap(order[low], order[down]);
  if (down == k) return order[k];
  return down < k ? Selected(lines, line, order, down, high, k)
                  : Selected(lines, line, order, low, down - 1, k);
}

absl::StatusOr<std::vector<HostValue>> EvaluateKthValue(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(2), self.rank()));
  const Lines lines(self, dim);
  const int64_t k = c.args.Int(1);
  if (k < 1 || k > lines.length()) {
    return OutOfRange("kthvalue(): selected number k out of range for dimension ", dim);
  }
  Tensor values = c.Allocate(0), places = c.Allocate(1);
  for (int64_t line = 0; line < lines.count(); ++line) {
    std::vector<int64_t> order(lines.length());
    std::iota(order.begin(), order.end(), 0);
    const int64_t place = Selected(lines, line, order, 0, lines.length() - 1, k - 1);
    values.SetLinear(line, lines.Get(line, place));
    places.SetLinear(line, Scalar(place));
  }
  return std::vector<HostValue>{values, places};
}

// The lower middle of each line. A NaN wins, unless it is to be left out.
Decomposed MedianOf(Builder& b, Value* x, int dim, bool keepdim, bool skips_nan) {
  const Expr size = TypeOf(x).sizes[dim];
  const bool is_float = IsFloat(TypeOf(x).dtype);
  Sorted sorted = SortLines(b, x, dim);
  LATHE_RETURN_IF_ERROR(b.status());
  Value *values, *places;
  if (skips_nan && is_float) {
    // NaN comes last: the middle of the numbers before.
    Value* numbers = b.Call("aten.logical_not", {b.Call("aten.isnan", {x})});
    Value* count = b.Call("aten.sum.dim_IntList", {numbers, std::vector<Expr>{dim}, true});
    Value* last = b.Call("aten.clamp_min", {AddScalar(b, count, Scalar(-1)), Scalar(0)});
    Value* middle = b.Call("aten.floor_divide.Scalar", {last, Scalar(2)});
    values = b.Call("aten.gather", {sorted.values, dim, middle});
    places = b.Call("aten.gather", {sorted.places, dim, middle});
  } else {
    // Where the size is a symbol, no line of 0 elements has a middle: selecting it is refused.
    const auto at = [&](Value* line, const Expr& k) {
      return b.Call("aten.unsqueeze", {b.Call("aten.select.int", {line, dim, k}), dim});
    };
    const Expr middle = symbolic::Max(symbolic::FloorDiv(size - 1, 2), 0);
    values = at(sorted.values, middle);
    places = at(sorted.places, middle);
    if (is_float) {
      Value* largest = at(sorted.values, symbolic::Max(size - 1, 0));
      Value* has_nan = b.Call("aten.isnan", {largest});
      values = b.Call("aten.where.self", {has_nan, largest, values});
      places = b.Call("aten.where.self", {has_nan, b.Call("aten.argmax", {x, dim, true}), places});
    }
  }
  values = Clone(b, Drop(b, values, dim, keepdim), MemoryFormat::kContiguous);
  places = Clone(b, Drop(b, places, dim, keepdim), MemoryFormat::kContiguous);
  return Both(values, places);
}

DecomposeFunction DecomposeMedianDim(bool skips_nan) {
  return [skips_nan](Builder& b, const OpArgs& args) -> Decomposed {
    LATHE_RETURN_IF_ERROR(CheckOrdered(args));
    Value* x = args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(1));
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, TypeOf(x).rank()));
    if (TypeOf(x).rank() == 0) return OfScalar(b, x);
    if (TypeOf(x).sizes[dim] == 0) {
      return OutOfRange(args.schema().name, ": expected reduction dim ", dim,
                        " to have non-zero size");
    }
    return MedianOf(b, x, dim, args.Bool(2), skips_nan);
  };
}

DecomposeFunction DecomposeMedianAll(bool skips_nan) {
  return [skips_nan](Builder& b, const OpArgs& args) -> Decomposed {
    LATHE_RETURN_IF_ERROR(CheckOrdered(args));
    Value* x = args.Tensor(0);
    const DType dtype = TypeOf(x).dtype;
    const Scalar none = IsFloat(dtype) ? Scalar(std::nan("")) : Scalar(INT64_MIN);
    const Expr count = NumElements(TypeOf(x));
    if (count == 0) {
      return OneArgument(b.Call("aten.full", {std::vector<Expr>{}, none}, {{"dtype", dtype}}));
    }
    Value* line = Reshape(b, x, {-1});
    if (!b.shapes().IsKnownTrue(symbolic::Gt(count, 0))) {
      // The median of no elements is that of `none`.
      const std::vector<Expr> pad = {0, symbolic::Max(1 - count, 0)};
      line = b.Call("aten.constant_pad_nd", {line, pad, Convert(none, dtype)});
    }
    LATHE_ASSIGN_OR_RETURN(Arguments both, MedianOf(b, line, 0, false, skips_nan));
    return Arguments{both[0]};
  };
}

// ---- mode ----

absl::StatusOr<std::vector<ValueType>> InferMode(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckOrdered(c.args));
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, self.rank()));
  std::vector<Expr> sizes = self.sizes;
  if (!sizes.empty()) {
    if (sizes[dim] == 0) {
      return OutOfRange("mode(): expected reduction dim ", dim, " to have non-zero size");
    }
    sizes[dim] = 1;
    if (!c.args.Bool(2)) sizes.erase(sizes.begin() + dim);
  }
  return std::vector<ValueType>{ContiguousType(self.dtype, sizes, self.device),
                                ContiguousType(DType::kI64, sizes, self.device)};
}

// The smallest of the most frequent values, and the place where it stands last.
absl::StatusOr<std::vector<HostValue>> EvaluateMode(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), self.rank()));
  Tensor values = c.Allocate(0), places = c.Allocate(1);
  const Lines lines(self, dim);
  for (int64_t line = 0; line < lines.count(); ++line) {
    const std::vector<int64_t> order = StableOrder(lines, line, false);
    int64_t best = 0, run = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const bool same = k > 0 && lines.Get(line, order[k]) == lines.Get(line, order[k - 1]);
      run = same ? run + 1 : 1;
      if (run <= best) continue;
      best = run;
      values.SetLinear(line, lines.Get(line, order[k]));
      places.SetLinear(line, Scalar(order[k]));
    }
  }
  return std::vector<HostValue>{values, places};
}

}  // namespace

std::vector<OpRow> SelectionRows() {
  const std::string both = ") -> (Tensor values, Tensor indices)";
  std::vector<OpRow> rows;
  OpRow kthvalue;
  kthvalue.schema = "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False" + both;
  kthvalue.doc = "The k-th smallest element of each line, and its place.";
  kthvalue.infer = InferKthValue;
  kthvalue.lower = LowerKthValue;
  kthvalue.evaluate = EvaluateKthValue;
  kthvalue.samples = {"aten.kthvalue(f32[3, 5], 2)", "aten.kthvalue(u8[7, 2], 3, 0, true)"};
  rows.push_back(std::move(kthvalue));
  for (bool skips_nan : {false, true}) {
    const std::string name = skips_nan ? "nanmedian" : "median";
    rows.push_back(DecomposedRow(absl::StrCat("aten::", name, "(Tensor self) -> Tensor"),
                                 "The lower middle of all elements.", DecomposeMedianAll(skips_nan),
                                 {absl::StrCat("aten.", name, "(f32[3, 5])")}));
    rows.push_back(DecomposedRow(
        absl::StrCat("aten::", name, ".dim(Tensor self, int dim, bool keepdim=False", both),
        "The lower middle of each line, and its place.", DecomposeMedianDim(skips_nan),
        {absl::StrCat("aten.", name, ".dim(f32[3, 5], 1)")}));
  }
  OpRow mode;
  mode.schema = "aten::mode(Tensor self, int dim=-1, bool keepdim=False" + both;
  mode.doc = "The smallest of the most frequent elements of each line, and its last place.";
  mode.infer = InferMode;
  mode.evaluate = EvaluateMode;
  mode.samples = {"aten.mode(i64[3, 5])"};
  rows.push_back(std::move(mode));
  return rows;
}

}  // namespace lathe
