// The cross product of vectors of three.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

Types InferCross(const InferContext& c) {
  const TensorType &x = c.args.Type(0), &y = c.args.Type(1);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  if (x.rank() != y.rank() || x.rank() == 0) {
    return InvalidArgument("linalg.cross: inputs must have the same number of dimensions, got ",
                           ToString(x), " and ", ToString(y));
  }
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, x.rank()));
  for (const TensorType* t : {&x, &y}) {
    if (symbolic::IsRefused(c.shapes, symbolic::Ne(t->sizes[dim], 3))) {
      return InvalidArgument("linalg.cross: inputs dimension ", wanted, " must have length 3, got ",
                             ToString(x), " and ", ToString(y));
    }
  }
  LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedType(c.args, {0, 1}));
  if (IsBool(dtype)) return InvalidArgument("linalg.cross: not implemented for bool");
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, BroadcastSizes({x, y}, c.shapes));
  return std::vector<ValueType>{ContiguousType(dtype, std::move(sizes), x.device)};
}

absl::StatusOr<std::vector<Lowered>> LowerCross(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  const TensorType result = c.result();
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, result.rank()));
  Value *x = c.args.Tensor(0), *y = c.args.Tensor(1);
  const DType compute = LoadedDType(result.dtype);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
    auto load = [&](Value* t, int64_t step) {
      std::vector<Expr> at(index.begin(), index.end());
      at[dim] = symbolic::Mod(at[dim] + step, 3);
      OpsValue v = in.Load(ops, t, BroadcastIndex(t->type.tensor(), result.sizes, at));
      return ops.Cast(v, compute);
    };
    // Every operation rounds in halves.
    auto product = [&](OpsValue a, OpsValue b) {
      OpsValue v = ops.Mul(a, b);
      return compute == result.dtype ? v : ops.Cast(ops.Cast(v, result.dtype), compute);
    };
    return ops.Sub(product(load(x, 1), load(y, 2)), product(load(x, 2), load(y, 1)));
  }}};
}

Results EvaluateCross(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(2), out.rank()));
  const Tensor x = BroadcastTo(c.args.Tensor(0), out.sizes());
  const Tensor y = BroadcastTo(c.args.Tensor(1), out.sizes());
  int64_t inner = 1;
  for (int d = dim + 1; d < out.rank(); ++d) inner *= out.sizes()[d];
  VisitWide(out.dtype(), [&]<typename T>(TypeTag<T>) {
    const std::vector<T> a = ToVector<T>(x), b = ToVector<T>(y);
    auto rounded = [&](T v) {
      if constexpr (std::is_same_v<T, double>) {
        return Convert(Scalar(v), out.dtype()).ToDouble();
      } else {
        return v;
      }
    };
    auto times = [&](T u, T v) -> T {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(u) * static_cast<uint64_t>(v));
      } else {
        return rounded(u * v);
      }
    };
    auto minus = [](T u, T v) -> T {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(u) - static_cast<uint64_t>(v));
      } else {
        return u - v;
      }
    };
    std::vector<T> z(a.size());
    for (size_t k = 0; k < a.size(); ++k) {
      const int64_t component = static_cast<int64_t>(k) / inner % 3;
      const size_t first = k - component * inner;
      const size_t p = first + (component + 1) % 3 * inner, q = first + (component + 2) % 3 * inner;
      z[k] = minus(times(a[p], b[q]), times(a[q], b[p]));
    }
    FromVector<T>(z, out);
  });
  return OneResult(out);
}

}  // namespace

std::vector<OpRow> CrossRows() {
  OpRow cross;
  cross.schema = "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor";
  cross.doc = "The cross product along a dimension of three.";
  cross.infer = InferCross;
  cross.lower = LowerCross;
  cross.evaluate = EvaluateCross;
  cross.samples = {"aten.linalg_cross(f32[4, 3], f32[1, 3])",
                   "aten.linalg_cross(i32[3, 2], i32[3, 2], dim=0)"};
  return {cross};
}

}  // namespace lathe::linalg
