// Numerical derivatives along dimensions: gradient.

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

Value* Places(Builder& b, Value* x, int dim, int64_t start, int64_t end) {
  return b.Call("aten.slice.Tensor", {x, dim, start, end});
}

// Central differences over even steps; at the ends to one side, over two places or three. In the
// order in which eager rounds: integers wrap where they are subtracted or doubled, before the
// fractions or the division make floats of them.
Value* EvenGradient(Builder& b, Value* x, int dim, const Scalar& spacing, int64_t order) {
  const auto at = [&](int64_t k) {
    return b.Call("aten.unsqueeze", {b.Call("aten.select.int", {x, dim, k}), dim});
  };
  const auto over = [&](Value* difference, const Scalar& step) {
    return b.Call("aten.div.Scalar", {difference, step});
  };
  Value* middle =
      over(over(Sub(b, Places(b, x, dim, 2, INT64_MAX), Places(b, x, dim, 0, -2)), spacing), 2);
  Value *first, *last;
  if (order == 1) {
    first = Sub(b, at(1), at(0));
    last = Sub(b, at(-1), at(-2));
  } else {
    const auto scaled = [&](int64_t k, const Scalar& by) { return MulScalar(b, at(k), by); };
    first = Sub(b, Add(b, scaled(0, -1.5), scaled(1, 2)), scaled(2, 0.5));
    last = Add(b, Sub(b, scaled(-3, 0.5), scaled(-2, 2)), scaled(-1, 1.5));
  }
  first = over(first, spacing);
  last = over(last, spacing);
  return b.Call("aten.cat", {CallArgument(std::vector<Value*>{first, middle, last}), dim});
}

// The dimensions that `argument` names: a list, a number, or all.
absl::StatusOr<std::vector<int>> DimsOf(const OpArgs& args, int argument) {
  const int rank = args.Type(0).rank();
  std::vector<int64_t> given;
  if (args.IsNone(argument)) {
    for (int d = 0; d < rank; ++d) given.push_back(d);
  } else if (args[argument].is_list()) {
    LATHE_ASSIGN_OR_RETURN(given, args.ConstantInts(argument));
  } else {
    LATHE_ASSIGN_OR_RETURN(int64_t one, args.ConstantInt(argument));
    given.push_back(one);
  }
  std::vector<int> dims;
  for (int64_t d : given) {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(d, rank));
    dims.push_back(dim);
  }
  return dims;
}

// (self, *, [spacing], dim, edge_order)
Decomposed Gradient(Builder& b, const OpArgs& args, int spacing, int dim, int order) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, DimsOf(args, dim));
  LATHE_ASSIGN_OR_RETURN(int64_t edge, args.ConstantInt(order));
  const TensorType& self = args.Type(0);
  if ((edge != 1 && edge != 2) || self.rank() == 0) {
    return InvalidArgument("torch.gradient only supports edge_order=1 and edge_order=2, and ",
                           "dimensions to go along, got ", edge, " and ", ToString(self));
  }
  if (self.dtype == DType::kU8 || self.dtype == DType::kBool) {
    return InvalidArgument("torch.gradient does not support ", Name(self.dtype),
                           ": convert the input to a signed or a float type first");
  }
  std::vector<Scalar> steps(dims.size(), Scalar(1));
  if (spacing >= 0 && args[spacing].is_list()) {
    steps = args.Numbers(spacing);
  } else if (spacing >= 0 && !args.IsNone(spacing)) {
    steps.assign(dims.size(), args.Number(spacing));
  }
  if (steps.size() != dims.size()) {
    return InvalidArgument("torch.gradient expected spacing to be a number or one for each of ",
                           dims.size(), " dimensions, got ", steps.size());
  }
  Arguments results;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (symbolic::IsRefused(b.shapes(), symbolic::Lt(self.sizes[dims[k]], edge + 1))) {
      return InvalidArgument("torch.gradient expected each dimension size to be at least ",
                             edge + 1, ", got ", ToString(self));
    }
    Value* gradient = EvenGradient(b, args.Tensor(0), dims[k], steps[k], edge);
    results.push_back(gradient == nullptr ? Argument() : Argument::Of(gradient));
  }
  return results;
}

OpRow GradientRow(const std::string& overload, const std::string& arguments, int spacing, int dim) {
  return CompositeRow(
      absl::StrCat("aten::gradient.", overload, "(Tensor self, *, ", arguments,
                   ", int edge_order=1) -> Tensor[]"),
      "Differences between neighbours over the steps between them.",
      [=](Builder& b, const OpArgs& args) { return Gradient(b, args, spacing, dim, dim + 1); }, {});
}

}  // namespace

std::vector<OpRow> GradientRows() {
  return {
      GradientRow("scalarint", "Scalar? spacing=None, int? dim=None", 1, 2),
      GradientRow("scalararray", "Scalar spacing, int[] dim", 1, 2),
      GradientRow("array", "int[] dim", -1, 1),
      GradientRow("scalarrayint", "Scalar[] spacing, int? dim=None", 1, 2),
      GradientRow("scalarrayarray", "Scalar[] spacing, int[] dim", 1, 2),
  };
}

}  // namespace lathe
