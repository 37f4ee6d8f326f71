// Names of torch before torch.linalg, in terms of the newer ones.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

Decomposed DecomposeQr(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten.linalg_qr", {args[0], args.Bool(1) ? "reduced" : "complete"});
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(all[0]), Argument::Of(all[1])};
}

// svd(self, some, compute_uv): V itself, not its adjoint.
Decomposed DecomposeSvd(Builder& b, const OpArgs& args) {
  if (!args.Bool(2)) return Unimplemented("svd without vectors");
  auto all = b.CallMany("aten.linalg_svd", {args[0], !args.Bool(1)});
  LATHE_RETURN_IF_ERROR(b.status());
  Value* v = b.Call("aten.mH", {all[2]});
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(all[0]), Argument::Of(all[1]), Argument::Of(v)};
}

// cross(self, other, dim): the first dimension of size 3 where none is named.
Decomposed DecomposeCross(Builder& b, const OpArgs& args) {
  Expr dim = 0;
  if (!args.IsNone(2)) {
    dim = args.Int(2);
  } else {
    const std::vector<Expr>& sizes = args.Type(0).sizes;
    size_t d = 0;
    while (d < sizes.size() && !(sizes[d] == 3)) ++d;
    if (d == sizes.size()) return InvalidArgument("no dimension of size 3 in input");
    dim = static_cast<int64_t>(d);
  }
  return OneArgument(b.Call("aten.linalg_cross", {args[0], args[1]}, {{"dim", dim}}));
}

Decomposed DecomposeSolveEx(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten._linalg_solve_ex", {args[0], args[1]},
                        {{"left", args[2]}, {"check_errors", args[3]}});
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(all[0]), Argument::Of(all[3])};
}

}  // namespace

std::vector<OpRow> OlderRows() {
  return {
      CompositeRow("aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
                   "Orthogonal columns and a triangle whose product is the matrix.", DecomposeQr),
      CompositeRow("aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, "
                   "Tensor S, Tensor V)",
                   "Singular values and vectors.", DecomposeSvd),
      CompositeRow("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
                   "The cross product of vectors of three.", DecomposeCross,
                   {"aten.cross(f32[2, 3], f32[2, 3])"}),
      CompositeRow("aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool "
                   "check_errors=False) -> (Tensor result, Tensor info)",
                   "The solution of A X = B; info: the first zero pivot, or 0.", DecomposeSolveEx),
      CompositeRow(
          "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
          "The solution of A X = self from the factors of A.",
          [](Builder& b, const OpArgs& args) -> Decomposed {
            return OneArgument(b.Call("aten.linalg_lu_solve", {args[1], args[2], args[0]}));
          }),
      CompositeRow("aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor", "The pseudoinverse.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(b.Call("aten.linalg_pinv", {args[0], args[1], false}));
                   }),
      CompositeRow("aten::matrix_power(Tensor self, int n) -> Tensor",
                   "A square matrix multiplied by itself n times.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(b.Call("aten.linalg_matrix_power", {args[0], args[1]}));
                   }),
      CompositeRow("aten::matrix_exp(Tensor self) -> Tensor", "The exponential of square matrices.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(b.Call("aten.linalg_matrix_exp", {args[0]}));
                   }),
  };
}

}  // namespace lathe::linalg
