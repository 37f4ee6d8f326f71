// Quantiles of sorted lines.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/reduce/composed_rows.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// What quantile(self, q, dim, keepdim, *, interpolation) asks for.
struct Quantile {
  Value* lines = nullptr;   // sorted, along the last dimension
  Value* q = nullptr;       // 0 or 1 dimensions
  std::vector<Expr> sizes;  // of the result, without the dimension of q
  std::string interpolation;
  bool ignores_nan = false;
};

absl::Status CheckQuantile(const OpArgs& args, ShapeEnv& shapes) {
  const TensorType& self = args.Type(0);
  if (self.dtype != DType::kF32 && self.dtype != DType::kF64) {
    return InvalidArgument("quantile() input tensor must be either float or double dtype, got ",
                           Name(self.dtype));
  }
  for (const Expr& size : self.sizes) {
    if (symbolic::IsRefused(shapes, symbolic::Eq(size, 0))) {
      return InvalidArgument("quantile() input tensor must be non-empty");
    }
  }
  for (const char* known : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    if (args.String(4) == known) return absl::OkStatus();
  }
  return InvalidArgument(
      "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
      "got ",
      args.String(4));
}

// The lines to take quantiles of, sorted, and the sizes of the result.
absl::StatusOr<Quantile> QuantileOf(Builder& b, const OpArgs& args, Value* q, bool ignores_nan) {
  LATHE_RETURN_IF_ERROR(CheckQuantile(args, b.shapes()));
  const TensorType& self = args.Type(0);
  Quantile quantile{nullptr, q, self.sizes, args.String(4), ignores_nan};
  Value* x = args.Tensor(0);
  if (args.IsNone(2)) {
    quantile.sizes.assign(args.Bool(3) ? self.rank() : 0, 1);
    x = Reshape(b, x, {-1});
  } else {
    LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, self.rank()));
    if (self.rank() == 0) {
      x = Reshape(b, x, {1});
    } else {
      x = b.Call("aten.movedim.int", {x, dim, -1});
      quantile.sizes[dim] = 1;
      if (!args.Bool(3)) quantile.sizes.erase(quantile.sizes.begin() + dim);
    }
  }
  std::vector<Value*> sorted = b.CallMany("aten.sort", {x});
  LATHE_RETURN_IF_ERROR(b.status());
  std::vector<Expr> sizes = quantile.sizes;
  sizes.push_back(TypeOf(sorted[0]).sizes.back());
  quantile.lines = Reshape(b, sorted[0], sizes);
  LATHE_RETURN_IF_ERROR(b.status());
  return quantile;
}

// The places of the quantiles in each line, as numbers; the last place in a line that has a NaN.
Value* Ranks(Builder& b, const Quantile& quantile, Value* q) {
  Value* is_nan = b.Call("aten.isnan", {quantile.lines});
  const std::vector<Expr> last = {-1};
  if (!quantile.ignores_nan) {
    const Expr places = TypeOf(quantile.lines).sizes.back() - 1;
    Value* ranks = b.Call("aten.mul.Scalar", {q, places});
    Value* spoiled = b.Call("aten.any.dim", {is_nan, -1, true});
    return b.Call("aten.where.self", {spoiled, b.Call("aten.full_like", {ranks, places}), ranks});
  }
  Value* numbers =
      b.Call("aten.sum.dim_IntList", {b.Call("aten.logical_not", {is_nan}), last, true});
  Value* ranks = Mul(b, q, b.Call("aten.sub.Scalar", {numbers, Scalar(1)}));
  return b.Call("aten.clamp_min", {ranks, Scalar(0)});
}

Value* At(Builder& b, const Quantile& quantile, Value* ranks) {
  return b.Call("aten.gather", {quantile.lines, -1, CastTo(b, ranks, DType::kI64)});
}

// The values at (or between) the ranks: a line of quantiles for each line.
Value* Interpolated(Builder& b, const Quantile& quantile, Value* ranks) {
  const std::string& kind = quantile.interpolation;
  if (kind == "lower") return At(b, quantile, b.Call("aten.floor", {ranks}));
  if (kind == "higher") return At(b, quantile, b.Call("aten.ceil", {ranks}));
  if (kind == "nearest") return At(b, quantile, b.Call("aten.round", {ranks}));
  Value* below = b.Call("aten.floor", {ranks});
  Value* low = At(b, quantile, below);
  Value* high = At(b, quantile, b.Call("aten.ceil", {ranks}));
  if (kind == "midpoint") return b.Call("aten.lerp.Scalar", {low, high, Scalar(0.5)});
  return b.Call("aten.lerp.Tensor", {low, high, Sub(b, ranks, below)});
}

Decomposed Quantiles(Builder& b, const OpArgs& args, Value* q, bool ignores_nan) {
  LATHE_RETURN_IF_ERROR(b.status());
  const TensorType type = TypeOf(q);
  if (type.rank() > 1 || type.dtype != args.Type(0).dtype) {
    return InvalidArgument(
        "quantile() q must be a scalar or 1D tensor of the dtype of the input, got ",
        ToString(type));
  }
  LATHE_ASSIGN_OR_RETURN(Quantile quantile, QuantileOf(b, args, q, ignores_nan));
  std::vector<Expr> along(TypeOf(quantile.lines).rank(), 1);
  along.back() = NumElements(type);
  // One line of ranks for each line of numbers.
  Value* ranks = Ranks(b, quantile, Reshape(b, q, along));
  if (ranks == nullptr) return b.status();
  std::vector<Expr> sizes = TypeOf(quantile.lines).sizes;
  sizes.back() = along.back();
  ranks = b.Call("aten.expand", {ranks, sizes});
  Value* values = Interpolated(b, quantile, ranks);
  if (type.rank() == 1) {
    values = b.Call("aten.transpose.int", {b.Call("aten.unsqueeze", {values, 0}), 0, -1});
  }
  return OneArgument(b.Call("aten.squeeze.dim", {values, -1}));
}

OpRow QuantileRow(const std::string& name, bool ignores_nan) {
  return CompositeRow("aten::" + name +
                          "(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
                          "interpolation=\"linear\") -> Tensor",
                      "The values below which given parts of the elements lie.",
                      [ignores_nan](Builder& b, const OpArgs& args) {
                        return Quantiles(b, args, args.Tensor(1), ignores_nan);
                      });
}

OpRow ScalarQuantileRow(const std::string& name, bool ignores_nan) {
  return CompositeRow(
      "aten::" + name +
          ".scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
          "interpolation=\"linear\") -> Tensor",
      "The value below which a given part of the elements lies.",
      [ignores_nan](Builder& b, const OpArgs& args) -> Decomposed {
        const double q = args.Float(1);
        if (!(q >= 0 && q <= 1)) {
          return InvalidArgument("quantile() q must be in the range [0, 1] but got ", q);
        }
        const DType dtype = args.Type(0).dtype;
        Value* tensor = b.Call("aten.full", {std::vector<Expr>{}, Scalar(q)}, {{"dtype", dtype}});
        return Quantiles(b, args, tensor, ignores_nan);
      },
      {"aten." + name + ".scalar(f32[3, 5], 0.3, 1)"});
}

}  // namespace

std::vector<OpRow> QuantileRows() {
  std::vector<OpRow> rows;
  for (const char* name : {"quantile", "nanquantile"}) {
    const bool ignores_nan = std::string(name) == "nanquantile";
    rows.push_back(QuantileRow(name, ignores_nan));
    rows.push_back(ScalarQuantileRow(name, ignores_nan));
  }
  return rows;
}

}  // namespace lathe
