#include "ir/ops/reduce/composed_rows.h"

#include <cmath>
#include <limits>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/opmath.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

using Results = absl::StatusOr<std::vector<Argument>>;

Argument DimList(const std::vector<int>& dims) {
  std::vector<Expr> items(dims.begin(), dims.end());
  return Argument::Ints(items);
}

// The reduced dimensions that argument `i` (an optional list) names.
absl::StatusOr<std::vector<int>> Dims(const OpArgs& args, int i) {
  std::vector<int64_t> dims;
  if (!args.IsNone(i)) {
    LATHE_ASSIGN_OR_RETURN(dims, args.ConstantInts(i));
  }
  return ReducedDims(dims, args.Type(0).rank());
}

// ---- Variance ----

struct Moments {
  Value* variance = nullptr;  // in the computing dtype
  Value* mean = nullptr;
};

// count - correction, not below 0, as a number argument.
CallArgument Divisor(const Expr& count, const Scalar& correction) {
  if (count.AsInt()) {
    double value = static_cast<double>(*count.AsInt()) - correction.ToDouble();
    return CallArgument(std::fmax(value, 0.0));
  }
  return CallArgument(symbolic::Max(count - Expr(correction.ToInt()), 0));
}

// Two passes: the mean, then the mean square distance from it.
absl::StatusOr<Moments> TwoPassMoments(Builder& b, Value* self, const std::vector<int>& dims,
                                       const Scalar& correction, bool keepdim) {
  const TensorType& type = self->type.tensor();
  if (!IsFloat(type.dtype)) {
    return InvalidArgument("std and var only support floating point and complex dtypes, not ",
                           Name(type.dtype));
  }
  std::vector<Expr> reduced;
  for (int d : dims) reduced.push_back(type.sizes[d]);
  Expr count = symbolic::Product(reduced);
  if (!count.AsInt() && correction.ToDouble() != std::floor(correction.ToDouble())) {
    return Unimplemented("var: a fractional correction with symbolic sizes");
  }
  Moments moments;
  Value* x = ToOpmath(b, self);
  Value* mean = b.Call("aten.mean.dim", {x, DimList(dims), true});
  Value* distance = b.Call("aten.sub.Tensor", {x, mean});
  Value* squares = b.Call("aten.mul.Tensor", {distance, distance});
  Value* sum = b.Call("aten.sum.dim_IntList", {squares, DimList(dims), keepdim});
  moments.variance = b.Call("aten.div.Scalar", {sum, Divisor(count, correction)});
  moments.mean =
      keepdim ? mean : b.Call("aten.view", {mean, ReducedSizes(type.sizes, dims, false)});
  return moments;
}

// Which results of {var or std, mean} a row gives.
DecomposeFunction VarianceOf(bool is_std, bool with_mean) {
  return [=](Builder& b, const OpArgs& args) -> Results {
    LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, Dims(args, 1));
    Scalar correction = args.IsNone(2) ? Scalar(1) : args.Number(2);
    LATHE_ASSIGN_OR_RETURN(Moments moments,
                           TwoPassMoments(b, args.Tensor(0), dims, correction, args.Bool(3)));
    DType dtype = args.Type(0).dtype;
    Value* value = is_std ? b.Call("aten.sqrt", {moments.variance}) : moments.variance;
    std::vector<Argument> results = {Argument::Of(ToDType(b, value, dtype))};
    if (with_mean) results.push_back(Argument::Of(ToDType(b, moments.mean, dtype)));
    return results;
  };
}

// "unbiased" overloads in terms of ".correction".
DecomposeFunction Unbiased(std::string target, int dim, int unbiased, int keepdim) {
  return [=](Builder& b, const OpArgs& args) -> Results {
    std::vector<CallArgument> positional = {args.Tensor(0)};
    positional.push_back(dim < 0 ? CallArgument(Argument::None()) : CallArgument(args[dim]));
    std::vector<Value*> values = b.CallMany(target, std::move(positional),
                                            {{"correction", args.Bool(unbiased) ? 1 : 0},
                                             {"keepdim", keepdim >= 0 && args.Bool(keepdim)}});
    std::vector<Argument> results;
    for (Value* value : values) results.push_back(Argument::Of(value));
    return results;
  };
}

std::vector<OpRow> VarianceRows() {
  std::vector<OpRow> rows;
  for (const char* name : {"var", "std", "var_mean", "std_mean"}) {
    std::string base = name;
    bool is_std = base.substr(0, 3) == "std", with_mean = base.size() > 3;
    std::string result = with_mean ? "(Tensor, Tensor)" : "Tensor";
    std::string target = "aten." + base + ".correction";
    std::string doc = is_std ? "The standard deviation" : "The variance";
    if (with_mean) doc += " and the mean";
    rows.push_back(DecomposedRow("aten::" + base +
                                     ".correction(Tensor self, int[1]? dim=None, *, "
                                     "Scalar? correction=None, bool keepdim=False) -> " +
                                     result,
                                 doc + ", divided by count - correction (1 by default).",
                                 VarianceOf(is_std, with_mean)));
    rows.push_back(CompositeRow("aten::" + base + "(Tensor self, bool unbiased=True) -> " + result,
                                doc + " of all elements.", Unbiased(target, -1, 1, -1)));
    rows.push_back(CompositeRow("aten::" + base +
                                    ".dim(Tensor self, int[1]? dim, bool unbiased=True, "
                                    "bool keepdim=False) -> " +
                                    result,
                                doc + " over dimensions.", Unbiased(target, 1, 2, 3)));
  }
  return rows;
}

// ---- Logarithm of a sum of exponentials ----

Results LogSumExp(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, Dims(args, 1));
  bool keepdim = args.Bool(2);
  DType dtype = ToFloatType(args.Type(0).dtype);
  Value* x = ToOpmath(b, ToDType(b, args.Tensor(0), dtype));
  bool is_empty = false;
  for (int d : dims) is_empty |= args.Type(0).sizes[d] == Expr(0);
  if (is_empty) {
    Value* sum = b.Call("aten.sum.dim_IntList", {b.Call("aten.exp", {x}), DimList(dims), keepdim});
    return std::vector<Argument>{Argument::Of(ToDType(b, b.Call("aten.log", {sum}), dtype))};
  }
  // Infinite maxima are not subtracted: inf - inf is NaN.
  Value* largest = b.Call("lathe.amax", {x, DimList(dims), true});
  Value* is_infinite = b.Call(
      "aten.eq.Scalar", {b.Call("aten.abs", {largest}), std::numeric_limits<double>::infinity()});
  Value* shift = b.Call("aten.masked_fill.Scalar", {largest, is_infinite, 0});
  Value* exponentials = b.Call("aten.exp", {b.Call("aten.sub.Tensor", {x, shift})});
  Value* sum = b.Call("aten.sum.dim_IntList", {exponentials, DimList(dims), keepdim});
  if (!keepdim) shift = b.Call("aten.view", {shift, ReducedSizes(args.Type(0).sizes, dims, false)});
  Value* result = b.Call("aten.add.Tensor", {b.Call("aten.log", {sum}), shift});
  return std::vector<Argument>{Argument::Of(ToDType(b, result, dtype))};
}

// ---- Norms ----

Value* Norm(Builder& b, Value* x, double order, const Argument& dims, bool keepdim) {
  auto reduce = [&](const char* op, Value* v) { return b.Call(op, {v, dims, keepdim}); };
  if (order == 0) {
    Value* is_nonzero = ToDType(b, b.Call("aten.ne.Scalar", {x, 0}), x->type.tensor().dtype);
    return reduce("aten.sum.dim_IntList", is_nonzero);
  }
  if (order == 2) {
    Value* sum = reduce("aten.sum.dim_IntList", b.Call("aten.mul.Tensor", {x, x}));
    return b.Call("aten.sqrt", {sum});
  }
  Value* magnitude = b.Call("aten.abs", {x});
  if (order == 1) return reduce("aten.sum.dim_IntList", magnitude);
  if (std::isinf(order)) return reduce(order > 0 ? "aten.amax" : "aten.amin", magnitude);
  Value* sum = reduce("aten.sum.dim_IntList", b.Call("aten.pow.Tensor_Scalar", {magnitude, order}));
  return b.Call("aten.pow.Tensor_Scalar", {sum, 1 / order});
}

Results VectorNorm(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, Dims(args, 2));
  DType dtype = args.OptionalDType(4).value_or(args.Type(0).dtype);
  if (!IsFloat(dtype)) {
    return InvalidArgument("linalg.vector_norm: expected a floating point input, got ",
                           Name(dtype));
  }
  Value* x = ToOpmath(b, ToDType(b, args.Tensor(0), dtype));
  if (x == nullptr) return b.status();
  Value* norm = Norm(b, x, args.Number(1).ToDouble(), DimList(dims), args.Bool(3));
  return std::vector<Argument>{Argument::Of(ToDType(b, norm, dtype))};
}

// The overloads of aten.norm; argument positions, -1 for absent ones.
DecomposeFunction NormOf(int order, int dim, int keepdim, int dtype) {
  return [=](Builder& b, const OpArgs& args) -> Results {
    Scalar p = args.IsNone(order) ? Scalar(2) : args.Number(order);
    std::vector<CallArgument> positional = {args.Tensor(0), p};
    positional.push_back(dim < 0 ? CallArgument(Argument::None()) : CallArgument(args[dim]));
    positional.push_back(keepdim >= 0 && args.Bool(keepdim));
    std::vector<std::pair<std::string, CallArgument>> named;
    if (dtype >= 0) named.push_back({"dtype", args[dtype]});
    return std::vector<Argument>{
        Argument::Of(b.Call("aten.linalg_vector_norm", std::move(positional), named))};
  };
}

Results Dist(Builder& b, const OpArgs& args) {
  Value* difference =
      b.Call("aten.sub.Tensor", {ToOpmath(b, args.Tensor(0)), ToOpmath(b, args.Tensor(1))});
  Value* norm = b.Call("aten.linalg_vector_norm", {difference, args.Number(2)});
  LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedType(args, {0, 1}));
  return std::vector<Argument>{Argument::Of(ToDType(b, norm, dtype))};
}

std::vector<OpRow> NormRows() {
  const std::string doc = "The p-norm: the p-th root of the sum of |x|^p.";
  return {
      DecomposedRow("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, "
                    "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                    doc + " 0: the number of non-zeros; +-inf: the largest or smallest |x|.",
                    VectorNorm),
      DecomposedRow("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", doc,
                    NormOf(1, -1, -1, -1)),
      DecomposedRow(
          "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", doc,
          NormOf(1, -1, -1, 2)),
      DecomposedRow(
          "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) "
          "-> Tensor",
          doc, NormOf(1, 2, 3, -1)),
      DecomposedRow(
          "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, "
          "*, ScalarType dtype) -> Tensor",
          doc, NormOf(1, 2, 3, 4)),
      DecomposedRow("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
                    "The p-norm of self - other.", Dist),
  };
}

// ---- Others ----

Results Trace(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != 2) {
    return InvalidArgument("trace: expected a matrix, but got tensor with dim ",
                           args.Type(0).rank());
  }
  Value* diagonal = b.Call("aten.diagonal", {args.Tensor(0)});
  return std::vector<Argument>{Argument::Of(b.Call("aten.sum", {diagonal}))};
}

// Each element against all test elements.
Results IsIn(Builder& b, const OpArgs& args) {
  Value* elements = b.Call("aten.unsqueeze", {args.Tensor(0), -1});
  Value* tests = b.Call("aten.reshape", {args.Tensor(1), std::vector<Expr>{-1}});
  Value* found = b.Call("aten.any.dim", {b.Call("aten.eq.Tensor", {elements, tests}), -1});
  if (args.Bool(3)) found = b.Call("aten.logical_not", {found});
  return std::vector<Argument>{Argument::Of(found)};
}

Results IsInScalar(Builder& b, const OpArgs& args) {
  const char* op = args.Bool(3) ? "aten.ne.Scalar" : "aten.eq.Scalar";
  return std::vector<Argument>{Argument::Of(b.Call(op, {args.Tensor(0), args[1]}))};
}

Results IsInOfScalar(Builder& b, const OpArgs& args) {
  Value* found = b.Call("aten.any", {b.Call("aten.eq.Scalar", {args.Tensor(1), args[0]})});
  if (args.Bool(3)) found = b.Call("aten.logical_not", {found});
  return std::vector<Argument>{Argument::Of(found)};
}

// nansum over the number of numbers.
Results NanMean(Builder& b, const OpArgs& args) {
  if (!IsFloat(args.Type(0).dtype)) {
    return InvalidArgument("nanmean(): expected input to have floating point dtype but got ",
                           Name(args.Type(0).dtype));
  }
  Value* sum = b.Call("aten.nansum", {args[0], args[1], args[2]}, {{"dtype", args[3]}});
  Value* numbers = b.Call("aten.logical_not", {b.Call("aten.isnan", {args[0]})});
  Value* count = b.Call("aten.sum.dim_IntList", {numbers, args[1], args[2]});
  return std::vector<Argument>{Argument::Of(b.Call("aten.div.Tensor", {sum, count}))};
}

// The sum over what broadcasting from `size` would repeat.
Results SumToSize(Builder& b, const OpArgs& args) {
  const std::vector<Expr> sizes = args.Type(0).sizes, wanted = args.Ints(1);
  const int extra = static_cast<int>(sizes.size()) - static_cast<int>(wanted.size());
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
    const bool sums = d < extra || (wanted[d - extra] == Expr(1) && sizes[d] != Expr(1));
    if (sums) dims.push_back(d);
    if (extra < 0 || (!sums && b.shapes().IsKnownTrue(symbolic::Ne(sizes[d], wanted[d - extra])))) {
      return InvalidArgument("sum_to_size: ", ToString(args.Type(0)),
                             " does not come from broadcasting the wanted size");
    }
  }
  if (dims.empty()) return std::vector<Argument>{args[0]};
  Value* sum = b.Call("aten.sum.dim_IntList", {args[0], DimList(dims), true});
  if (extra > 0) sum = b.Call("aten.view", {sum, wanted});
  return std::vector<Argument>{Argument::Of(sum)};
}

// The older names of aminmax; `dim` and `keepdim` where the schema has them.
Results OlderAminmax(Builder& b, const OpArgs& args) {
  std::vector<std::pair<std::string, CallArgument>> named;
  if (args.size() > 1) named = {{"dim", args[1]}, {"keepdim", args[2]}};
  std::vector<Argument> results;
  for (Value* value : b.CallMany("aten.aminmax", {args[0]}, named)) {
    results.push_back(Argument::Of(value));
  }
  return results;
}

// Whether a tensor of one bool is true.
Results Item(Builder& b, Value* condition) {
  Value* number = b.Call("aten._local_scalar_dense", {condition});
  Value* truth = b.Call("operator.ne", {number, 0});
  LATHE_RETURN_IF_ERROR(b.status());
  return std::vector<Argument>{Argument::Of(truth)};
}

Results Equal(Builder& b, const OpArgs& args) {
  const TensorType &self = args.Type(0), &other = args.Type(1);
  bool same = self.rank() == other.rank();
  for (int d = 0; same && d < self.rank(); ++d) {
    same = !b.shapes().IsKnownTrue(symbolic::Ne(self.sizes[d], other.sizes[d]));
  }
  if (!same) return std::vector<Argument>{Argument::Bool(false)};
  return Item(b, b.Call("aten.all", {b.Call("aten.eq.Tensor", {args[0], args[1]})}));
}

Results AllClose(Builder& b, const OpArgs& args) {
  Value* close = b.Call("aten.isclose", {args[0], args[1], args[2], args[3], args[4]});
  return Item(b, b.Call("aten.all", {close}));
}

// Slices along `dim` whose norm passes maxnorm are scaled down to it.
Results Renorm(Builder& b, const OpArgs& args) {
  const TensorType& type = args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t given, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(given, type.rank()));
  std::vector<int> dims;
  for (int d = 0; d < type.rank(); ++d) {
    if (d != dim) dims.push_back(d);
  }
  Value* x = ToOpmath(b, args.Tensor(0));
  double largest = args.Number(3).ToDouble();
  Value* norm = b.Call("aten.linalg_vector_norm", {x, args.Number(1), DimList(dims), true});
  Value* scale =
      b.Call("aten.mul.Scalar",
             {b.Call("aten.reciprocal", {b.Call("aten.add.Scalar", {norm, 1e-7})}), largest});
  Value* passes = b.Call("aten.gt.Scalar", {norm, largest});
  Value* factor = b.Call("aten.where.ScalarOther", {passes, scale, 1.0});
  Value* result = b.Call("aten.mul.Tensor", {x, factor});
  return std::vector<Argument>{Argument::Of(ToDType(b, result, type.dtype))};
}

// grad * output - output * sum(grad * output)
Results SoftmaxBackward(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(2));
  Value* output = ToOpmath(b, args.Tensor(1));
  Value* product = b.Call("aten.mul.Tensor", {ToOpmath(b, args.Tensor(0)), output});
  Value* sum = b.Call("aten.sum.dim_IntList", {product, std::vector<Expr>{dim}, true});
  Value* result = b.Call("aten.sub.Tensor", {product, b.Call("aten.mul.Tensor", {output, sum})});
  return std::vector<Argument>{Argument::Of(ToDType(b, result, *args.OptionalDType(3)))};
}

// grad - exp(output) * sum(grad)
Results LogSoftmaxBackward(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(2));
  Value* grad = ToOpmath(b, args.Tensor(0));
  Value* sum = b.Call("aten.sum.dim_IntList", {grad, std::vector<Expr>{dim}, true});
  Value* exponential = b.Call("aten.exp", {ToOpmath(b, args.Tensor(1))});
  Value* result = b.Call("aten.sub.Tensor", {grad, b.Call("aten.mul.Tensor", {exponential, sum})});
  return std::vector<Argument>{Argument::Of(ToDType(b, result, *args.OptionalDType(3)))};
}

std::vector<OpRow> BackwardRows() {
  const std::string arguments =
      "(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor";
  return {
      DecomposedRow("aten::_softmax_backward_data" + arguments, "The derivative of softmax.",
                    SoftmaxBackward),
      DecomposedRow("aten::_log_softmax_backward_data" + arguments,
                    "The derivative of log_softmax.", LogSoftmaxBackward),
  };
}

}  // namespace

std::vector<OpRow> ComposedReductionRows() {
  std::vector<OpRow> rows = VarianceRows();
  for (OpRow& row : NormRows()) rows.push_back(std::move(row));
  for (OpRow& row : BackwardRows()) rows.push_back(std::move(row));
  rows.push_back(DecomposedRow("aten::equal(Tensor self, Tensor other) -> bool",
                               "Whether sizes and all elements are equal.", Equal));
  rows.push_back(
      DecomposedRow("aten::allclose(Tensor self, Tensor other, float rtol=1e-05, "
                    "float atol=1e-08, bool equal_nan=False) -> bool",
                    "Whether all elements are equal within tolerances.", AllClose));
  rows.push_back(
      DecomposedRow("aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
                    "Slices along dim whose p-norm passes maxnorm are scaled down to it.", Renorm));
  rows.push_back(
      DecomposedRow("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                    "log of the sum of exp, without overflow.", LogSumExp));
  rows.push_back(
      DecomposedRow("aten::trace(Tensor self) -> Tensor", "The sum of the diagonal.", Trace));
  rows.push_back(
      DecomposedRow("aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, "
                    "bool assume_unique=False, bool invert=False) -> Tensor",
                    "Whether each element is among the test elements.", IsIn));
  rows.push_back(
      DecomposedRow("aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, "
                    "bool assume_unique=False, bool invert=False) -> Tensor",
                    "Whether each element is the test element.", IsInScalar));
  rows.push_back(
      DecomposedRow("aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, "
                    "bool assume_unique=False, bool invert=False) -> Tensor",
                    "Whether the number is among the test elements.", IsInOfScalar));
  rows.push_back(
      CompositeRow("aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
                   "ScalarType? dtype=None) -> Tensor",
                   "The mean of what is not NaN.", NanMean));
  for (const char* arguments :
       {"(Tensor self)", ".dim(Tensor self, int dim, bool keepdim=False)"}) {
    rows.push_back(CompositeRow(std::string("aten::_aminmax") + arguments + " -> (Tensor, Tensor)",
                                "The smallest and the largest element.", OlderAminmax));
  }
  rows.push_back(CompositeRow("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor",
                              "The sum over what broadcasting from size would repeat.", SumToSize));
  return rows;
}

}  // namespace lathe
