// Orders along a dimension. Sorts are stable, NaN is the largest value.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/families.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/sort/lines.h"
#include "ir/ops/sort/selection_rows.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// Where a row's schema has its arguments; -1: absent.
struct SortArguments {
  int dim, descending;
};

TensorType WithDType(TensorType type, DType dtype) {
  type.dtype = dtype;
  type.offset = 0;
  return type;
}

absl::StatusOr<int> DimOf(const OpArgs& args, int i) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(i));
  return WrapDim(dim, args.Type(0).rank());
}

absl::Status RefuseComplex(const OpArgs& args) {
  if (!IsComplex(args.Type(0).dtype)) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": complex numbers have no order");
}

InferFunction InferSort(SortArguments at) {
  return [at](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(RefuseComplex(c.args));
    LATHE_RETURN_IF_ERROR(DimOf(c.args, at.dim).status());
    const TensorType& x = c.args.Type(0);
    TensorType values = ContiguousType(x.dtype, x.sizes, x.device);
    values.strides = PreservedStrides(x, c.shapes);
    return std::vector<ValueType>{values, WithDType(values, DType::kI64)};
  };
}

LowerFunction LowerSort(SortArguments at) {
  return [at](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args, at.dim));
    ExternLoops sort;
    sort.id = "sort";
    sort.attributes =
        absl::StrCat("dim=", dim, ";descending=", c.args.Bool(at.descending) ? "true" : "false");
    sort.inputs = {c.args.Tensor(0)};
    sort.contiguous_inputs = {true};
    return std::vector<Lowered>{std::move(sort)};
  };
}

EvaluateFunction EvaluateSort(SortArguments at) {
  return [at](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& x = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(at.dim), x.rank()));
    Tensor values = c.Allocate(0), indices = c.Allocate(1);
    const Lines in(x, dim), out(values, dim), where(indices, dim);
    for (int64_t line = 0; line < in.count(); ++line) {
      const std::vector<int64_t> order = StableOrder(in, line, c.args.Bool(at.descending));
      for (int64_t k = 0; k < in.length(); ++k) {
        out.Set(line, k, in.Get(line, order[k]));
        where.Set(line, k, Scalar(order[k]));
      }
    }
    return std::vector<HostValue>{values, indices};
  };
}

OpRow SortRow(std::string schema, SortArguments at, std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "Values in order along a dimension, and where each was. Stable; NaN is the largest.";
  row.infer = InferSort(at);
  row.lower = LowerSort(at);
  row.evaluate = EvaluateSort(at);
  row.samples = std::move(samples);
  return row;
}

// argsort, msort: one result of sort.
OpRow OneResultRow(std::string schema, std::string doc, SortArguments at, int result,
                   std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.composite = true;
  row.decompose = [at, result](Builder& b,
                               const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    const Argument dim = at.dim < 0 ? Argument::Int(0) : args[at.dim];
    const bool descending = at.descending >= 0 && args.Bool(at.descending);
    std::vector<Value*> both =
        b.CallMany("aten.sort.stable", {args.Tensor(0)},
                   {{"stable", true}, {"dim", dim}, {"descending", descending}});
    LATHE_RETURN_IF_ERROR(b.status());
    return std::vector<Argument>{Argument::Of(both[result])};
  };
  row.samples = std::move(samples);
  return row;
}

Types InferTopK(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(RefuseComplex(c.args));
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args, 2));
  TensorType values = c.args.Type(0);
  const Expr k = c.args.Int(1);
  if (values.rank() > 0) {
    if (symbolic::IsRefused(c.shapes, symbolic::Gt(k, values.sizes[dim])) ||
        symbolic::IsRefused(c.shapes, symbolic::Lt(k, 0))) {
      return OutOfRange("topk: selected index k out of range: k is ", symbolic::ToString(k),
                        ", dimension ", dim, " of ", ToString(values), " has ",
                        symbolic::ToString(values.sizes[dim]));
    }
    values.sizes[dim] = k;
  }
  values = ContiguousType(values.dtype, values.sizes, values.device);
  return std::vector<ValueType>{values, WithDType(values, DType::kI64)};
}

OpRow TopKRow() {
  OpRow row;
  row.schema =
      "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
      "(Tensor values, Tensor indices)";
  row.doc =
      "The k largest (or smallest) elements along a dimension, in order, and where they were.";
  row.infer = InferTopK;
  row.lower = [](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args, 2));
    ExternLoops topk;
    topk.id = "topk";
    topk.attributes = absl::StrCat("dim=", dim, ";largest=", c.args.Bool(3) ? "true" : "false");
    topk.inputs = {c.args.Tensor(0)};
    topk.contiguous_inputs = {true};
    topk.integers = {c.args.Int(1)};
    return std::vector<Lowered>{std::move(topk)};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& x = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(2), x.rank()));
    Tensor values = c.Allocate(0), indices = c.Allocate(1);
    const Lines in(x, dim), out(values, dim), where(indices, dim);
    if (out.length() > in.length()) return OutOfRange("topk: selected index k out of range");
    for (int64_t line = 0; line < in.count(); ++line) {
      const std::vector<int64_t> order = StableOrder(in, line, c.args.Bool(3));
      for (int64_t k = 0; k < out.length(); ++k) {
        out.Set(line, k, in.Get(line, order[k]));
        where.Set(line, k, Scalar(order[k]));
      }
    }
    return std::vector<HostValue>{values, indices};
  };
  row.samples = {"aten.topk(f32[4, 9], 3)", "aten.topk(i32[9], 2, 0, largest=false)"};
  return row;
}

}  // namespace

std::vector<OpRow> SortRows() {
  std::vector<OpRow> rows;
  rows.push_back(SortRow(
      "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
      "indices)",
      {1, 2}, {"aten.sort(f32[3, 7])", "aten.sort(i64[5, 4], 0, descending=true)"}));
  rows.push_back(SortRow(
      "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
      "(Tensor values, Tensor indices)",
      {2, 3}, {"aten.sort.stable(f32[3, 7], stable=true)"}));
  rows.push_back(OneResultRow(
      "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
      "Where the elements of sort(self) were.", {1, 2}, 1, {"aten.argsort(f32[3, 7])"}));
  rows.push_back(OneResultRow(
      "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
      "Tensor",
      "Where the elements of a stable sort were.", {2, 3}, 1,
      {"aten.argsort.stable(f32[3, 7], stable=true)"}));
  rows.push_back(OneResultRow("aten::msort(Tensor self) -> Tensor",
                              "Sorted along the first dimension.", {-1, -1}, 0,
                              {"aten.msort(f32[7, 3])"}));
  rows.push_back(TopKRow());
  for (auto group : {SelectionRows, UniqueRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
