// Covariance and integrals of samples: cov, corrcoef, trapezoid, cumulative_trapezoid.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/reduce/composed_rows.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// ---- cov(self, *, correction, fweights, aweights), corrcoef(self) ----

Value* SumAll(Builder& b, Value* x) { return b.Call("aten.sum", {x}); }

// The weight of each observation; nullptr for even ones.
Value* Weights(Builder& b, Value* counts, Value* importance) {
  if (counts == nullptr || importance == nullptr) return counts ? counts : importance;
  return Mul(b, counts, importance);
}

absl::StatusOr<Value*> Covariance(Builder& b, Value* x, int64_t correction, Value* counts,
                                  Value* importance) {
  if (TypeOf(x).rank() > 2 || IsBool(TypeOf(x).dtype) || IsComplex(TypeOf(x).dtype)) {
    return InvalidArgument("cov(): expected input to have two or fewer dimensions of numbers, got ",
                           ToString(TypeOf(x)));
  }
  if (TypeOf(x).rank() < 2) x = Reshape(b, x, {1, -1});
  LATHE_RETURN_IF_ERROR(b.status());
  for (Value* w : {counts, importance}) {
    if (w == nullptr) continue;
    if (TypeOf(w).rank() > 1 ||
        symbolic::IsRefused(b.shapes(), symbolic::Ne(NumElements(TypeOf(w)), TypeOf(x).sizes[1]))) {
      return InvalidArgument("cov(): expected one weight an observation, got ", ToString(TypeOf(w)),
                             " for ", ToString(TypeOf(x)));
    }
  }
  Value* weights = Weights(b, counts, importance);
  const auto weighted = [&](Value* v) { return weights == nullptr ? v : Mul(b, v, weights); };
  const std::vector<Expr> observations = {1};
  Value* sums = b.Call("aten.sum.dim_IntList", {weighted(x), observations, true});
  Value *mean, *norm;
  if (weights == nullptr) {
    const Expr count = TypeOf(x).sizes[1];
    mean = b.Call("aten.div.Scalar", {sums, count});
    norm = b.Call("aten.scalar_tensor", {symbolic::Max(count - correction, 0)},
                  {{"dtype", DType::kI64}});
  } else {
    Value* total = SumAll(b, weights);
    mean = Div(b, sums, total);
    Value* taken = nullptr;
    if (importance != nullptr && correction != 0) {
      taken =
          Div(b, MulScalar(b, SumAll(b, Mul(b, weights, importance)), Scalar(correction)), total);
    }
    norm = taken != nullptr ? Sub(b, total, taken)
                            : b.Call("aten.sub.Scalar", {total, Scalar(correction)});
    norm = b.Call("aten.clamp_min", {norm, Scalar(0)});
  }
  Value* centred = Sub(b, x, mean);
  Value* other = weighted(centred);
  if (other == nullptr || centred == nullptr) return b.status();
  if (TypeOf(other).dtype != TypeOf(centred).dtype) {
    centred = CastTo(b, centred, TypeOf(other).dtype);
  }
  Value* products = b.Call("aten.mm", {centred, b.Call("aten.t", {other})});
  Value* result = b.Call("aten.squeeze", {Div(b, products, norm)});
  LATHE_RETURN_IF_ERROR(b.status());
  return result;
}

Decomposed DecomposeCov(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t correction, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(
      Value * result,
      Covariance(b, args.Tensor(0), correction, args.OptionalTensor(2), args.OptionalTensor(3)));
  return OneArgument(result);
}

Decomposed DecomposeCorrelation(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(Value * c, Covariance(b, args.Tensor(0), 1, nullptr, nullptr));
  if (TypeOf(c).rank() == 0) return OneArgument(Div(b, c, c));
  Value* deviation = b.Call("aten.sqrt", {b.Call("aten.diagonal", {c})});
  c = Div(b, c, b.Call("aten.unsqueeze", {deviation, 1}));
  c = Div(b, c, b.Call("aten.unsqueeze", {deviation, 0}));
  return OneArgument(b.Call("aten.clamp", {c, Scalar(-1), Scalar(1)}));
}

// ---- trapezoid, cumulative_trapezoid ----

// Neighbours along a dimension, and the distances between them: a number, or a tensor.
struct Strips {
  int dim = 0;
  Value *left = nullptr, *right = nullptr;
  Value* widths = nullptr;
  Scalar width = Scalar(1);
};

// (y, *, dx, dim), or (y, x, *, dim)
absl::StatusOr<Strips> StripsOf(Builder& b, const OpArgs& args) {
  const bool has_x = args.schema().arguments[1].type == SchemaArgument::Type::kTensor;
  Value* y = args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, TypeOf(y).rank()));
  if (TypeOf(y).rank() == 0 || IsBool(TypeOf(y).dtype)) {
    return InvalidArgument("trapezoid: expected numbers of at least one dimension, got ",
                           ToString(TypeOf(y)));
  }
  const auto sides = [&](Value* v, int d) {
    return std::pair(b.Call("aten.slice.Tensor", {v, d, 0, -1}),
                     b.Call("aten.slice.Tensor", {v, d, 1, INT64_MAX}));
  };
  Strips strips;
  strips.dim = dim;
  std::tie(strips.left, strips.right) = sides(y, dim);
  if (!has_x) {
    strips.width = args.Number(1);
    return strips;
  }
  Value* x = args.Tensor(1);
  const TensorType type = TypeOf(x);
  if (IsBool(type.dtype) || type.rank() == 0) {
    return InvalidArgument("trapezoid: expected x to be numbers of at least one dimension, got ",
                           ToString(type));
  }
  std::vector<Expr> sizes(std::max(TypeOf(y).rank() - type.rank(), 0), 1);
  if (type.rank() == 1) {
    // Places along the dimension of y.
    sizes.assign(TypeOf(y).rank(), 1);
    sizes[dim] = type.sizes[0];
  } else {
    sizes.insert(sizes.end(), type.sizes.begin(), type.sizes.end());
  }
  auto [low, high] = sides(Reshape(b, x, sizes), dim);
  strips.widths = Sub(b, high, low);
  LATHE_RETURN_IF_ERROR(b.status());
  return strips;
}

Value* Areas(Builder& b, const Strips& s) {
  Value* heights = Add(b, s.left, s.right);
  if (s.widths != nullptr) return Mul(b, heights, s.widths);
  return s.width == Scalar(1) ? heights : MulScalar(b, heights, s.width);
}

Decomposed DecomposeTrapezoid(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(Strips strips, StripsOf(b, args));
  Value* sum = b.Call("aten.sum.dim_IntList", {Areas(b, strips), std::vector<Expr>{strips.dim}});
  return OneArgument(b.Call("aten.div.Scalar", {sum, Scalar(2.0)}));
}

Decomposed DecomposeCumulativeTrapezoid(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(Strips strips, StripsOf(b, args));
  Value* sums = b.Call("aten.cumsum", {Areas(b, strips), strips.dim});
  return OneArgument(b.Call("aten.div.Scalar", {sums, Scalar(2.0)}));
}

}  // namespace

std::vector<OpRow> StatisticsRows() {
  std::vector<OpRow> rows = {
      CompositeRow("aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? "
                   "aweights=None) -> Tensor",
                   "The covariances of variables (rows) over observations (columns).", DecomposeCov,
                   {"aten.cov(f32[3, 5])"}),
      CompositeRow("aten::corrcoef(Tensor self) -> Tensor",
                   "The correlations of variables (rows) over observations (columns).",
                   DecomposeCorrelation, {"aten.corrcoef(f32[3, 5])"}),
  };
  for (const char* name : {"trapezoid", "trapz"}) {
    const std::string dx = std::string(name) == "trapz" ? "float" : "Scalar";
    rows.push_back(CompositeRow(
        absl::StrCat("aten::", name, ".dx(Tensor y, *, ", dx, " dx=1, int dim=-1) -> Tensor"),
        "The integral by the trapezoids between even samples.", DecomposeTrapezoid,
        {absl::StrCat("aten.", name, ".dx(f32[3, 5])")}));
    rows.push_back(CompositeRow(
        absl::StrCat("aten::", name, ".x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"),
        "The integral by the trapezoids between samples at x.", DecomposeTrapezoid,
        {absl::StrCat("aten.", name, ".x(f32[3, 5], f32[5])")}));
  }
  rows.push_back(
      CompositeRow("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
                   "The running integral by the trapezoids between even samples.",
                   DecomposeCumulativeTrapezoid, {"aten.cumulative_trapezoid.dx(f32[3, 5])"}));
  rows.push_back(CompositeRow(
      "aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
      "The running integral by the trapezoids between samples at x.", DecomposeCumulativeTrapezoid,
      {"aten.cumulative_trapezoid.x(f32[3, 5], f32[5])"}));
  return rows;
}

}  // namespace lathe
