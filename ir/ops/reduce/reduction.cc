#include "ir/ops/reduce/reduction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/wide.h"
#include "ir/ops/columns/column_handler.h"
#include "ir/ops/host_call.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

struct Plan {
  std::vector<int> dims;  // reduced, sorted
  bool keepdim = false;
  ReductionDTypes dtypes;
};

bool IsArgument(ReduceKind kind) {
  return kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
}

absl::StatusOr<std::vector<int>> DimsOf(const ReductionSpec& spec, const OpArgs& args, int rank) {
  if (spec.dim < 0 || args.IsNone(spec.dim)) return ReducedDims({}, rank);
  if (!args[spec.dim].is_list()) {
    LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(spec.dim));
    return ReducedDims({dim}, rank);
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, args.ConstantInts(spec.dim));
  if (dims.empty() && spec.empty_dims_reduce_nothing) return std::vector<int>();
  return ReducedDims(dims, rank);
}

absl::StatusOr<Plan> PlanOf(const ReductionSpec& spec, const OpArgs& args) {
  Plan plan;
  const TensorType& self = args.Type(0);
  LATHE_ASSIGN_OR_RETURN(plan.dims, DimsOf(spec, args, self.rank()));
  plan.keepdim = spec.keepdim >= 0 && args.Bool(spec.keepdim);
  LATHE_ASSIGN_OR_RETURN(plan.dtypes, spec.dtypes(args));
  return plan;
}

// `is_empty`: whether a size is 0.
absl::Status RefuseEmpty(const ReductionSpec& spec, const Plan& plan, const TensorType& self,
                         const std::function<bool(const Expr&)>& is_empty) {
  if (spec.refuses_empty.empty()) return absl::OkStatus();
  for (int d : plan.dims) {
    if (!is_empty(self.sizes[d])) continue;
    return InvalidArgument(spec.refuses_empty, "(): Expected reduction dim ", d,
                           " to have non-zero size.");
  }
  return absl::OkStatus();
}

DType ResultDType(const Plan& plan, const ReductionPart& part) {
  return IsArgument(part.kind) ? DType::kI64 : plan.dtypes.result;
}

absl::StatusOr<std::vector<ValueType>> Infer(const ReductionSpec& spec, const InferContext& c) {
  absl::StatusOr<Plan> plan = PlanOf(spec, c.args);
  if (!plan.ok()) return Annotate(plan.status(), c.args.schema().name);
  const TensorType& self = c.args.Type(0);
  LATHE_RETURN_IF_ERROR(RefuseEmpty(spec, *plan, self, [&](const Expr& size) {
    return symbolic::IsRefused(c.shapes, symbolic::Eq(size, 0));
  }));
  std::vector<ValueType> results;
  for (const ReductionPart& part : spec.parts) {
    results.push_back(ContiguousType(ResultDType(*plan, part),
                                     ReducedSizes(self.sizes, plan->dims, plan->keepdim),
                                     self.device));
  }
  return results;
}

// Eager converts elements of `stored` to the result's dtype before it sums them in a wider one.
OpsValue ElementOf(const ReductionPart& part, OpsHandler& ops, OpsValue value, DType stored,
                   const ReductionDTypes& dtypes) {
  if (part.element) return part.element(ops, value, dtypes);
  const bool narrows = IsFloat(dtypes.result) && dtypes.result != dtypes.accumulate;
  if (narrows && stored != dtypes.result) value = ops.Cast(value, dtypes.result);
  return ops.dtype(value) == dtypes.accumulate ? value : ops.Cast(value, dtypes.accumulate);
}

bool IsReduced(const Plan& plan, int d) {
  return std::find(plan.dims.begin(), plan.dims.end(), d) != plan.dims.end();
}

// The input's index from the kept and the reduced ones.
std::vector<Expr> JoinIndex(const Plan& plan, int rank, Index kept, Index reduced) {
  std::vector<Expr> index;
  size_t next_kept = 0, next_reduced = 0;
  for (int d = 0; d < rank; ++d) {
    index.push_back(IsReduced(plan, d) ? reduced[next_reduced++] : kept[next_kept++]);
  }
  return index;
}

Lowered LowerPart(const ReductionPart& part, const Plan& plan, Value* input) {
  const TensorType& type = input->type.tensor();
  int rank = type.rank();
  std::vector<Expr> kept_sizes, reduced_sizes;
  for (int d = 0; d < rank; ++d) {
    (IsReduced(plan, d) ? reduced_sizes : kept_sizes).push_back(type.sizes[d]);
  }
  Expr count = symbolic::Product(reduced_sizes);
  // Nothing is reduced: every element by itself.
  if (plan.dims.empty()) {
    PointwiseLoops loops;
    loops.body = [part, plan, input, count](OpsHandler& ops, TensorReader& in, Index index) {
      if (IsArgument(part.kind)) return ops.Constant(0, DType::kI64);
      OpsValue value =
          ElementOf(part, ops, in.Load(ops, input, index), input->type.tensor().dtype, plan.dtypes);
      return part.finish ? part.finish(ops, value, count) : value;
    };
    return loops;
  }
  ReductionLoops loops;
  loops.kept_sizes = std::move(kept_sizes);
  loops.reduced_sizes = reduced_sizes;
  loops.kind = part.kind;
  loops.body = [part, plan, input, rank](OpsHandler& ops, TensorReader& in, Index kept,
                                         Index reduced) {
    OpsValue value = in.Load(ops, input, JoinIndex(plan, rank, kept, reduced));
    return ElementOf(part, ops, value, input->type.tensor().dtype, plan.dtypes);
  };
  loops.position = [reduced_sizes](Index, Index reduced) {
    Expr position = 0;
    for (size_t k = 0; k < reduced_sizes.size(); ++k) {
      position = position * reduced_sizes[k] + reduced[k];
    }
    return position;
  };
  if (part.finish) {
    loops.finish = [part, count](OpsHandler& ops, TensorReader&, OpsValue reduced, Index) {
      return part.finish(ops, reduced, count);
    };
  }
  loops.kept_of_result = [plan, rank](Index result) {
    if (!plan.keepdim) return std::vector<Expr>(result.begin(), result.end());
    std::vector<Expr> kept;
    for (int d = 0; d < rank; ++d) {
      if (!IsReduced(plan, d)) kept.push_back(result[d]);
    }
    return kept;
  };
  return loops;
}

absl::StatusOr<std::vector<Lowered>> Lower(const ReductionSpec& spec, const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(Plan plan, PlanOf(spec, c.args));
  if (IsComplex(c.args.Type(0).dtype) || IsComplex(plan.dtypes.accumulate)) {
    return Unimplemented(c.args.schema().name, ": complex numbers are not computed in loops");
  }
  std::vector<Lowered> lowered;
  for (const ReductionPart& part : spec.parts) {
    lowered.push_back(LowerPart(part, plan, c.args.Tensor(0)));
  }
  return lowered;
}

// ---- The reference: one result element after the other ----

// Whether `b` takes the place of `a` in a maximum (or minimum): larger, or the first NaN.
bool Beats(double b, double a, bool is_max) {
  if (std::isnan(a)) return false;
  return std::isnan(b) || (is_max ? b > a : b < a);
}
bool Beats(int64_t b, int64_t a, bool is_max, DType dtype) {
  return is_max ? IntLess(a, b, dtype) : IntLess(b, a, dtype);
}

// The place of the extreme value; the column is not empty.
int64_t ExtremePlace(const Column& column, bool is_max) {
  int64_t best = 0;
  for (size_t k = 1; k < column.floats.size(); ++k) {
    if (Beats(column.floats[k], column.floats[best], is_max)) best = static_cast<int64_t>(k);
  }
  for (size_t k = 1; k < column.integers.size(); ++k) {
    if (Beats(column.integers[k], column.integers[best], is_max, column.dtype)) {
      best = static_cast<int64_t>(k);
    }
  }
  return best;
}

template <typename T, typename Combine>
std::vector<T> FoldValues(const std::vector<T>& values, T start, Combine combine) {
  T total = start;
  for (const T& value : values) total = combine(total, value);
  return {total};
}

Column FoldSum(const Column& column) {
  Column result;
  result.dtype = column.dtype;
  if (IsComplex(column.dtype)) {
    result.complexes = FoldValues(column.complexes, {}, std::plus<>());
  } else if (IsFloat(column.dtype)) {
    result.floats = FoldValues(column.floats, 0.0, std::plus<>());
  } else {
    result.integers = FoldValues(column.integers, int64_t{0},
                                 [&](int64_t a, int64_t b) { return WrapAdd(a, b, column.dtype); });
  }
  return result;
}

Column FoldProduct(const Column& column) {
  Column result;
  result.dtype = column.dtype;
  if (IsComplex(column.dtype)) {
    result.complexes = FoldValues(column.complexes, {1.0, 0.0}, std::multiplies<>());
  } else if (IsFloat(column.dtype)) {
    result.floats = FoldValues(column.floats, 1.0, std::multiplies<>());
  } else {
    result.integers = FoldValues(column.integers, int64_t{1},
                                 [&](int64_t a, int64_t b) { return WrapMul(a, b, column.dtype); });
  }
  return result;
}

Column FoldColumn(ReduceKind kind, const Column& column) {
  Column result;
  result.dtype = column.dtype;
  switch (kind) {
    case ReduceKind::kSum:
      return FoldSum(column);
    case ReduceKind::kProd:
      return FoldProduct(column);
    case ReduceKind::kAny:
      result.integers = FoldValues(column.integers, int64_t{0}, std::bit_or<>());
      return result;
    case ReduceKind::kAll:
      result.integers = FoldValues(column.integers, int64_t{1}, std::bit_and<>());
      return result;
    case ReduceKind::kArgMax:
    case ReduceKind::kArgMin:
      result.dtype = DType::kI64;
      result.integers = {ExtremePlace(column, kind == ReduceKind::kArgMax)};
      return result;
    case ReduceKind::kMax:
    case ReduceKind::kMin: {
      int64_t place = ExtremePlace(column, kind == ReduceKind::kMax);
      if (!column.floats.empty()) result.floats = {column.floats[place]};
      if (!column.integers.empty()) result.integers = {column.integers[place]};
      return result;
    }
  }
  LATHE_UNREACHABLE();
}

// Storage positions of all indexes over the given dimensions, row-major.
std::vector<int64_t> Positions(const Tensor& tensor, const std::vector<int>& dims) {
  std::vector<int64_t> positions = {0};
  for (int d : dims) {
    std::vector<int64_t> next;
    next.reserve(positions.size() * tensor.sizes()[d]);
    for (int64_t base : positions) {
      for (int64_t i = 0; i < tensor.sizes()[d]; ++i)
        next.push_back(base + i * tensor.strides()[d]);
    }
    positions = std::move(next);
  }
  return positions;
}

absl::StatusOr<Tensor> EvaluatePart(const ReductionPart& part, const Plan& plan, const Tensor& self,
                                    const EvaluateContext& c, int k) {
  Tensor result = c.Allocate(k);
  std::vector<int> kept_dims;
  for (int d = 0; d < self.rank(); ++d) {
    if (!IsReduced(plan, d)) kept_dims.push_back(d);
  }
  std::vector<int64_t> reduced = Positions(self, plan.dims);
  std::vector<int64_t> kept = Positions(self, kept_dims);
  Expr count = static_cast<int64_t>(reduced.size());
  for (size_t e = 0; e < kept.size(); ++e) {
    std::vector<int64_t> positions = reduced;
    for (int64_t& position : positions) position += kept[e];
    ColumnHandler elements(static_cast<int64_t>(positions.size()));
    OpsValue value = elements.Input(GatherColumn(self, positions));
    value = ElementOf(part, elements, value, self.dtype(), plan.dtypes);
    if (!elements.status().ok()) return elements.status();
    ColumnHandler one(1);
    OpsValue total = one.Input(FoldColumn(part.kind, elements.column(value)));
    if (part.finish) total = part.finish(one, total, count);
    if (!one.status().ok()) return one.status();
    WriteColumn(one.column(total), result, static_cast<int64_t>(e));
  }
  return result;
}

absl::StatusOr<std::vector<HostValue>> Evaluate(const ReductionSpec& spec,
                                                const EvaluateContext& c) {
  Graph graph("call", std::make_shared<ExprContext>());
  LATHE_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                         ToGraphArguments(c.args.schema(), c.args, graph, nullptr));
  const OpArgs args(c.args.schema(), arguments);
  LATHE_ASSIGN_OR_RETURN(Plan plan, PlanOf(spec, args));
  LATHE_RETURN_IF_ERROR(
      RefuseEmpty(spec, plan, args.Type(0), [](const Expr& size) { return size == Expr(0); }));
  std::vector<HostValue> results;
  for (size_t k = 0; k < spec.parts.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(
        Tensor result, EvaluatePart(spec.parts[k], plan, c.args.Tensor(0), c, static_cast<int>(k)));
    results.push_back(std::move(result));
  }
  return results;
}

std::optional<DType> RequestedDType(const OpArgs& args, int i) {
  return i < 0 ? std::nullopt : args.OptionalDType(i);
}

}  // namespace

ReductionDTypeRule KeepDType() {
  return [](const OpArgs& args) -> absl::StatusOr<ReductionDTypes> {
    DType dtype = args.Type(0).dtype;
    return ReductionDTypes{LoadedDType(dtype), dtype};
  };
}

ReductionDTypeRule SumDTypes(int dtype) {
  return [dtype](const OpArgs& args) -> absl::StatusOr<ReductionDTypes> {
    DType self = args.Type(0).dtype;
    DType result = RequestedDType(args, dtype).value_or(IsIntegral(self) ? DType::kI64 : self);
    DType accumulate = LoadedDType(result);
    // Sums and products of narrow integers are those of i64, wrapped at the end.
    if (IsInteger(result) && result != DType::kU64) accumulate = DType::kI64;
    return ReductionDTypes{accumulate, result};
  };
}

ReductionDTypeRule MeanDTypes(int dtype) {
  return [dtype](const OpArgs& args) -> absl::StatusOr<ReductionDTypes> {
    DType result = RequestedDType(args, dtype).value_or(args.Type(0).dtype);
    if (IsIntegral(result)) {
      return InvalidArgument(
          "mean(): could not infer output dtype. Input dtype must be either a floating point or "
          "complex dtype. Got: ",
          Name(result));
    }
    return ReductionDTypes{LoadedDType(result), result};
  };
}

ReductionDTypeRule LogicDTypes() {
  return [](const OpArgs& args) -> absl::StatusOr<ReductionDTypes> {
    DType self = args.Type(0).dtype;
    return ReductionDTypes{DType::kBool, self == DType::kU8 ? DType::kU8 : DType::kBool};
  };
}

ReductionDTypeRule CountDTypes() {
  return [](const OpArgs&) -> absl::StatusOr<ReductionDTypes> {
    return ReductionDTypes{DType::kI64, DType::kI64};
  };
}

OpRow Reduction(ReductionSpec spec) {
  auto shared = std::make_shared<const ReductionSpec>(std::move(spec));
  OpRow row;
  row.schema = shared->schema;
  row.doc = shared->doc;
  row.samples = shared->samples;
  row.infer = [shared](const InferContext& c) { return Infer(*shared, c); };
  row.lower = [shared](const LowerContext& c) { return Lower(*shared, c); };
  row.evaluate = [shared](const EvaluateContext& c) { return Evaluate(*shared, c); };
  return row;
}

}  // namespace lathe
