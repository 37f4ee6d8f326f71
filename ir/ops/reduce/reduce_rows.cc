#include "dtypes/base/status.h"
#include "ir/ops/families.h"
#include "ir/ops/reduce/composed_rows.h"
#include "ir/ops/reduce/reduction.h"

namespace lathe {
namespace {

// Eager starts from 0: a sum of zeros is 0, whatever their signs.
OpsValue FromZero(OpsHandler& ops, OpsValue sum, const Expr&) {
  const DType dtype = ops.dtype(sum);
  return IsFloat(dtype) ? ops.Add(sum, ops.Constant(Scalar(0.0), dtype)) : sum;
}
OpsValue Mean(OpsHandler& ops, OpsValue sum, const Expr& count) {
  return ops.Div(FromZero(ops, sum, count), ops.IndexExpr(count, ops.dtype(sum)));
}

// Means are of the elements in the wide type, sums of those in the result's.
OpsValue ToAccumulate(OpsHandler& ops, OpsValue x, const ReductionDTypes& dtypes) {
  return ops.dtype(x) == dtypes.accumulate ? x : ops.Cast(x, dtypes.accumulate);
}

// NaN counts as 0.
OpsValue WithoutNan(OpsHandler& ops, OpsValue x, const ReductionDTypes& dtypes) {
  if (IsFloat(dtypes.result) && dtypes.result != dtypes.accumulate) x = ops.Cast(x, dtypes.result);
  OpsValue value = ToAccumulate(ops, x, dtypes);
  if (IsIntegral(dtypes.accumulate)) return value;
  return ops.Where(ops.IsNan(value), ops.Constant(0, dtypes.accumulate), value);
}

OpsValue IsNonZero(OpsHandler& ops, OpsValue x, const ReductionDTypes& dtypes) {
  return ops.Cast(ops.Ne(x, ops.Constant(0, ops.dtype(x))), dtypes.accumulate);
}

void AddSums(std::vector<OpRow>& rows) {
  const std::vector<ReductionPart> sum = {{ReduceKind::kSum, {}, FromZero}};
  const std::vector<ReductionPart> product = {{ReduceKind::kProd}};
  rows.push_back(Reduction({.schema = "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
                            .doc = "The sum of all elements; integers give i64.",
                            .dtypes = SumDTypes(1),
                            .parts = sum}));
  rows.push_back(
      Reduction({.schema = "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
                           "ScalarType? dtype=None) -> Tensor",
                 .doc = "The sum over dimensions (all when none is named); integers give i64.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = SumDTypes(3),
                 .parts = sum}));
  rows.push_back(
      Reduction({.schema = "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
                           "ScalarType? dtype=None) -> Tensor",
                 .doc = "The sum, NaN counted as 0.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = SumDTypes(3),
                 .parts = {{ReduceKind::kSum, WithoutNan, FromZero}}}));
  rows.push_back(
      Reduction({.schema = "aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
                 .doc = "The product of all elements; integers give i64.",
                 .dtypes = SumDTypes(1),
                 .parts = product}));
  rows.push_back(
      Reduction({.schema = "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
                           "ScalarType? dtype=None) -> Tensor",
                 .doc = "The product along a dimension; integers give i64.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = SumDTypes(3),
                 .parts = product}));
}

void AddMeans(std::vector<OpRow>& rows) {
  const std::vector<ReductionPart> mean = {{ReduceKind::kSum, ToAccumulate, Mean}};
  rows.push_back(
      Reduction({.schema = "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
                 .doc = "The mean of all elements; NaN of none.",
                 .dtypes = MeanDTypes(1),
                 .parts = mean}));
  rows.push_back(
      Reduction({.schema = "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
                           "ScalarType? dtype=None) -> Tensor",
                 .doc = "The mean over dimensions; NaN of none.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = MeanDTypes(3),
                 .parts = mean}));
}

void AddCounts(std::vector<OpRow>& rows) {
  const std::vector<ReductionPart> count = {{ReduceKind::kSum, IsNonZero}};
  rows.push_back(Reduction({.schema = "aten::count_nonzero(Tensor self, int? dim=None) -> Tensor",
                            .doc = "How many elements differ from 0.",
                            .dim = 1,
                            .dtypes = CountDTypes(),
                            .parts = count}));
  rows.push_back(
      Reduction({.schema = "aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
                 .doc = "How many elements differ from 0, over dimensions.",
                 .dim = 1,
                 .dtypes = CountDTypes(),
                 .parts = count}));
}

// any and all: "aten::any(Tensor self)", ".dim", ".dims".
void AddLogic(std::vector<OpRow>& rows, const std::string& name, const std::string& doc,
              ReduceKind kind) {
  auto element = [](OpsHandler& ops, OpsValue x, const ReductionDTypes&) {
    return ops.Cast(x, DType::kBool);
  };
  const std::vector<ReductionPart> part = {{kind, element}};
  rows.push_back(Reduction({.schema = "aten::" + name + "(Tensor self) -> Tensor",
                            .doc = doc,
                            .dtypes = LogicDTypes(),
                            .parts = part}));
  rows.push_back(Reduction({.schema = "aten::" + name +
                                      ".dim(Tensor self, int dim, bool keepdim=False) -> "
                                      "Tensor",
                            .doc = doc,
                            .dim = 1,
                            .keepdim = 2,
                            .dtypes = LogicDTypes(),
                            .parts = part}));
  rows.push_back(Reduction({.schema = "aten::" + name +
                                      ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
                                      "Tensor",
                            .doc = doc,
                            .dim = 1,
                            .keepdim = 2,
                            .dtypes = LogicDTypes(),
                            .parts = part,
                            .empty_dims_reduce_nothing = true}));
}

// amax, max, max.dim, argmax (or the minimum's).
void AddExtreme(std::vector<OpRow>& rows, const std::string& name, ReduceKind value,
                ReduceKind place) {
  rows.push_back(Reduction(
      {.schema = "aten::a" + name + "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       .doc = "The " + name + " over dimensions (all when none is named); NaN wins.",
       .dim = 1,
       .keepdim = 2,
       .dtypes = KeepDType(),
       .parts = {{value}},
       .refuses_empty = "a" + name}));
  // What compositions shift by: of no element the lowest value, for they then sum no element.
  rows.push_back(Reduction(
      {.schema = "lathe::a" + name + "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
       .doc = "The " + name + " over dimensions, also of no elements.",
       .dim = 1,
       .keepdim = 2,
       .dtypes = KeepDType(),
       .parts = {{value}}}));
  rows.push_back(Reduction({.schema = "aten::" + name + "(Tensor self) -> Tensor",
                            .doc = "The " + name + " of all elements; NaN wins.",
                            .dtypes = KeepDType(),
                            .parts = {{value}},
                            .refuses_empty = name}));
  rows.push_back(
      Reduction({.schema = "aten::" + name +
                           ".dim(Tensor self, int dim, bool keepdim=False) -> "
                           "(Tensor values, Tensor indices)",
                 .doc = "The " + name + " along a dimension and its first place; NaN wins.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = KeepDType(),
                 .parts = {{value}, {place}},
                 .refuses_empty = name}));
  rows.push_back(Reduction(
      {.schema = "aten::arg" + name + "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
       .doc = "The first place of the " + name +
              ", along a dimension or in the flattened tensor; NaN wins.",
       .dim = 1,
       .keepdim = 2,
       .dtypes = KeepDType(),
       .parts = {{place}},
       .refuses_empty = "arg" + name}));
}

}  // namespace

std::vector<OpRow> ReduceRows() {
  std::vector<OpRow> rows;
  AddSums(rows);
  AddMeans(rows);
  AddCounts(rows);
  AddLogic(rows, "any", "Whether one element differs from 0; false of none.", ReduceKind::kAny);
  AddLogic(rows, "all", "Whether all elements differ from 0; true of none.", ReduceKind::kAll);
  AddExtreme(rows, "max", ReduceKind::kMax, ReduceKind::kArgMax);
  AddExtreme(rows, "min", ReduceKind::kMin, ReduceKind::kArgMin);
  rows.push_back(
      Reduction({.schema = "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> "
                           "(Tensor min, Tensor max)",
                 .doc = "The smallest and the largest element; NaN wins.",
                 .dim = 1,
                 .keepdim = 2,
                 .dtypes = KeepDType(),
                 .parts = {{ReduceKind::kMin}, {ReduceKind::kMax}},
                 .refuses_empty = "aminmax"}));
  for (auto group : {ComposedReductionRows, QuantileRows, StatisticsRows, GradientRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
