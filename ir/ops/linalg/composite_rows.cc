// The names that users call: each is a part of a factorisation's results.

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/view/compose.h"

namespace lathe::linalg {
namespace {

using Decomposed = absl::StatusOr<Arguments>;
using Named = std::vector<std::pair<std::string, CallArgument>>;

// A message when `info` has an error: the row of ATen that does so.
void Check(Builder& b, Value* info, const char* name) {
  if (info == nullptr) return;
  b.CallMany("aten._linalg_check_errors", {info, name}, {{"is_matrix", TypeOf(info).rank() == 0}});
}

Arguments Pick(const std::vector<Value*>& values, std::initializer_list<size_t> which) {
  Arguments arguments;
  for (size_t k : which) {
    arguments.push_back(k < values.size() ? Argument::Of(values[k]) : Argument());
  }
  return arguments;
}

// Results `which` of `op` of the first argument; an info at `info` is checked.
OpRow PartRow(std::string schema, std::string doc, const char* op, std::vector<size_t> which,
              int info = -1) {
  return CompositeRow(std::move(schema), std::move(doc),
                      [=](Builder& b, const OpArgs& args) -> Decomposed {
                        std::vector<Value*> all = b.CallMany(op, {args.Tensor(0)});
                        LATHE_RETURN_IF_ERROR(b.status());
                        if (info >= 0) Check(b, all[info], args.schema().name.c_str());
                        Arguments results;
                        for (size_t k : which) results.push_back(Argument::Of(all[k]));
                        return results;
                      });
}

Decomposed DecomposeCholesky(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten.linalg_cholesky_ex", {args.Tensor(0)}, {{"upper", args.Bool(1)}});
  LATHE_RETURN_IF_ERROR(b.status());
  Check(b, all[1], "linalg.cholesky");
  return Pick(all, {0});
}

Decomposed DecomposeSolve(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten._linalg_solve_ex", {args.Tensor(0), args.Tensor(1)},
                        {{"left", args.Bool(2)}});
  LATHE_RETURN_IF_ERROR(b.status());
  Check(b, all[3], "torch.linalg.solve");
  return Pick(all, {0});
}

Decomposed DecomposeLogdet(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten._linalg_slogdet", {args.Tensor(0)});
  LATHE_RETURN_IF_ERROR(b.status());
  Value* negative = b.Call("aten.eq.Scalar", {all[0], Scalar(-1.0)});
  Value* nan = b.Call("aten.full_like", {all[1], Scalar(std::numeric_limits<double>::quiet_NaN())});
  return OneArgument(b.Call("aten.where.self", {negative, nan, all[1]}));
}

Decomposed DecomposeLuFactor(Builder& b, const OpArgs& args) {
  auto all = b.CallMany("aten.linalg_lu_factor_ex", {args.Tensor(0)}, {{"pivot", args.Bool(1)}});
  LATHE_RETURN_IF_ERROR(b.status());
  return Pick(all, {0, 1});
}

Value* Number(Builder& b, double v) {
  return b.Call("aten.full", {std::vector<Expr>{}, Scalar(v)}, {{"dtype", DType::kF64}});
}

Decomposed DecomposePinv(Builder& b, const OpArgs& args) {
  return OneArgument(b.Call("aten.linalg_pinv.atol_rtol_tensor", {args.Tensor(0)},
                            {{"rtol", Number(b, args.Float(1))}, {"hermitian", args.Bool(2)}}));
}

Decomposed DecomposePinvTolerances(Builder& b, const OpArgs& args) {
  Named named = {{"hermitian", args.Bool(3)}};
  if (auto atol = args.OptionalFloat(1)) named.emplace_back("atol", Number(b, *atol));
  if (auto rtol = args.OptionalFloat(2)) named.emplace_back("rtol", Number(b, *rtol));
  return OneArgument(
      b.Call("aten.linalg_pinv.atol_rtol_tensor", {args.Tensor(0)}, std::move(named)));
}

Decomposed DecomposePower(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t n, args.ConstantInt(1));
  Value* base = args.Tensor(0);
  if (n < 0) base = b.Call("aten.linalg_inv", {base});
  if (n == 0) {
    Value* one = b.Call("aten.eye", {TypeOf(base).sizes.back()}, {{"dtype", TypeOf(base).dtype}});
    return OneArgument(
        Clone(b, b.Call("aten.expand", {one, TypeOf(base).sizes}), MemoryFormat::kContiguous));
  }
  Value* result = nullptr;
  for (uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n); left != 0;
       left >>= 1) {
    if (left & 1) result = result == nullptr ? base : b.Call("aten.matmul", {result, base});
    if (left > 1) base = b.Call("aten.matmul", {base, base});
  }
  if (n == 1) result = Clone(b, result, MemoryFormat::kPreserve);
  return OneArgument(result);
}

// Products of more and more columns of x behind one of ones; integers of any width become i64.
Decomposed DecomposeVander(Builder& b, const OpArgs& args) {
  const TensorType& type = args.Type(0);
  if (type.rank() != 1) {
    return InvalidArgument("torch.vander: x must be a one-dimensional tensor, got ",
                           ToString(type));
  }
  const Expr rows = type.sizes[0], columns = args.OptionalInt(1).value_or(rows);
  Value* x = args.Tensor(0);
  if (!IsFloat(type.dtype) && !IsComplex(type.dtype)) x = CastTo(b, x, DType::kI64);
  if (columns == 0) return OneArgument(b.Call("aten.new_empty", {x, std::vector<Expr>{rows, 0}}));
  Value* column = b.Call("aten.unsqueeze", {x, 1});
  Value* factors = b.Call("aten.expand", {column, std::vector<Expr>{rows, columns - 1}});
  Value* ones = b.Call("aten.new_ones", {x, std::vector<Expr>{rows, 1}});
  Value* all = b.Call("aten.cat", {std::vector<Value*>{ones, factors}, 1});
  Value* powers = b.Call("aten.cumprod", {all, 1});
  return OneArgument(args.Bool(2) ? powers : b.Call("aten.flip", {powers, std::vector<Expr>{1}}));
}

}  // namespace

std::vector<OpRow> CompositeRows() {
  return {
      CompositeRow("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
                   "The triangular factor of positive-definite matrices; others are refused.",
                   DecomposeCholesky),
      PartRow("aten::linalg_inv(Tensor A) -> Tensor", "The inverse; singular input is refused.",
              "aten.linalg_inv_ex", {0}, 1),
      PartRow("aten::inverse(Tensor self) -> Tensor", "The inverse; singular input is refused.",
              "aten.linalg_inv_ex", {0}, 1),
      PartRow("aten::linalg_det(Tensor A) -> Tensor", "The determinant.", "aten._linalg_det", {0}),
      PartRow("aten::det(Tensor self) -> Tensor", "The determinant.", "aten._linalg_det", {0}),
      PartRow("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
              "The determinant's sign and the logarithm of its size.", "aten._linalg_slogdet",
              {0, 1}),
      PartRow("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
              "The determinant's sign and the logarithm of its size.", "aten._linalg_slogdet",
              {0, 1}),
      CompositeRow("aten::logdet(Tensor self) -> Tensor",
                   "The logarithm of the determinant; NaN where that is negative.",
                   DecomposeLogdet),
      CompositeRow("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
                   "The solution of A X = B, or X A = B; singular A is refused.", DecomposeSolve),
      CompositeRow("aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> "
                   "(Tensor U, Tensor S, Tensor Vh)",
                   "Singular values and vectors.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     auto all = b.CallMany("aten._linalg_svd", {args.Tensor(0), args.Bool(1)});
                     return Pick(all, {0, 1, 2});
                   }),
      CompositeRow(
          "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
          "Singular values, largest first.",
          [](Builder& b, const OpArgs& args) -> Decomposed {
            return Pick(b.CallMany("aten._linalg_svd", {args.Tensor(0), false, false}), {1});
          }),
      CompositeRow(
          "aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor "
          "eigenvectors)",
          "Eigenvalues of Hermitian matrices and their vectors.",
          [](Builder& b, const OpArgs& args) -> Decomposed {
            auto all = b.CallMany("aten._linalg_eigh", {args.Tensor(0), args.String(1).c_str()});
            return Pick(all, {0, 1});
          }),
      CompositeRow("aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
                   "Eigenvalues of Hermitian matrices.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     auto all = b.CallMany("aten._linalg_eigh",
                                           {args.Tensor(0), args.String(1).c_str(), false});
                     return Pick(all, {0});
                   }),
      CompositeRow("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor "
                   "pivots)",
                   "L and U in one matrix, rows swapped as pivots says.", DecomposeLuFactor),
      CompositeRow("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
                   "The pseudoinverse.", DecomposePinv),
      CompositeRow("aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? "
                   "rtol=None, bool hermitian=False) -> Tensor",
                   "The pseudoinverse.", DecomposePinvTolerances),
      CompositeRow("aten::vander(Tensor x, SymInt? N=None, bool increasing=False) -> Tensor",
                   "The powers of each element: N - 1 to 0, or 0 to N - 1.", DecomposeVander,
                   {"aten.vander(f32[3])", "aten.vander(i32[4], 3, true)"}),
      CompositeRow("aten::linalg_matrix_power(Tensor self, int n) -> Tensor",
                   "A square matrix multiplied by itself n times.", DecomposePower),
  };
}

}  // namespace lathe::linalg
