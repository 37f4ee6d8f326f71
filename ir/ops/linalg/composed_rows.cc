// Operators that are written with the factorisations.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"

namespace lathe::linalg {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

Expr Side(const Value* a) { return TypeOf(a).sizes.back(); }

Value* Identity(Builder& b, const Value* like) {
  return b.Call("aten.eye", {Side(like)},
                {{"dtype", TypeOf(like).dtype}, {"device", Argument::Of(TypeOf(like).device)}});
}

Value* Transposed(Builder& b, Value* a) { return b.Call("aten.transpose.int", {a, -2, -1}); }

Value* Adjoint(Builder& b, Value* a) {
  Value* t = Transposed(b, a);
  if (t == nullptr || !IsComplex(TypeOf(t).dtype)) return t;
  return b.Call("aten.conj_physical", {t});
}

// Dense with the last two dimensions column by column.
Value* ColumnByColumn(Builder& b, Value* a) {
  Value* turned = Transposed(b, a);
  if (turned == nullptr) return nullptr;
  return Transposed(b, Clone(b, turned, MemoryFormat::kContiguous));
}

Value* SolveTriangle(Builder& b, Value* a, Value* rhs, bool upper, bool unit = false) {
  return b.Call("aten.linalg_solve_triangular", {a, rhs},
                {{"upper", upper}, {"unitriangular", unit}});
}

void CheckInfo(Builder& b, Value* info, const std::string& message) {
  if (info == nullptr) return;
  Value* fine = b.Call("aten.all", {b.Call("aten.eq.Scalar", {info, Scalar(0)})});
  b.CallMany("aten._assert_async.msg", {fine, message.c_str()});
}

Arguments All(const std::vector<Value*>& values) {
  Arguments arguments;
  for (Value* v : values) arguments.push_back(v != nullptr ? Argument::Of(v) : Argument());
  return arguments;
}

// ---- Errors ----

Decomposed DecomposeCheckErrors(Builder& b, const OpArgs& args) {
  CheckInfo(b, args.Tensor(0),
            absl::StrCat(args.String(1),
                         ": the factorization could not be completed: the input is singular, or "
                         "not positive-definite where that is needed"));
  return Arguments{};
}

// ---- Cholesky ----

Decomposed DecomposeCholesky(Builder& b, const OpArgs& args) {
  if (b.shapes().IsKnownTrue(symbolic::Eq(NumElements(args.Type(0)), 0))) {
    return OneArgument(Clone(b, args.Tensor(0), MemoryFormat::kContiguous));
  }
  std::vector<Value*> factor =
      b.CallMany("aten.linalg_cholesky_ex", {args.Tensor(0)}, {{"upper", args.Bool(1)}});
  LATHE_RETURN_IF_ERROR(b.status());
  CheckInfo(b, factor[1],
            absl::StrCat(args.schema().name,
                         ": the factorization could not be completed because the input is not "
                         "positive-definite"));
  return OneArgument(factor[0]);
}

// x of L L^H x = rhs, or U^H U x = rhs.
Value* SolveCholesky(Builder& b, Value* factor, Value* rhs, bool upper) {
  Value* adjoint = Adjoint(b, factor);
  Value* half = SolveTriangle(b, upper ? adjoint : factor, rhs, false);
  return SolveTriangle(b, upper ? factor : adjoint, half, true);
}

Decomposed DecomposeCholeskySolve(Builder& b, const OpArgs& args) {
  return OneArgument(SolveCholesky(b, args.Tensor(1), args.Tensor(0), args.Bool(2)));
}

Decomposed DecomposeCholeskyInverse(Builder& b, const OpArgs& args) {
  Value* factor = args.Tensor(0);
  return OneArgument(SolveCholesky(b, factor, Identity(b, factor), args.Bool(1)));
}

// ---- By LU ----

struct Lu {
  Value *lu = nullptr, *pivots = nullptr, *info = nullptr;
};

Lu FactorLu(Builder& b, Value* a) {
  std::vector<Value*> factors = b.CallMany("aten.linalg_lu_factor_ex", {a});
  if (factors.size() != 3) return {};
  return {factors[0], factors[1], factors[2]};
}

bool IsVectorCase(const TensorType& a, const TensorType& b) {
  if (b.rank() == 1) return true;
  if (a.rank() - 1 != b.rank()) return false;
  for (int d = 0; d < b.rank(); ++d) {
    if (!(a.sizes[d] == b.sizes[d])) return false;
  }
  return true;
}

Value* SolveLu(Builder& b, const Lu& f, Value* rhs, bool left) {
  return b.Call("aten.linalg_lu_solve", {f.lu, f.pivots, rhs}, {{"left", left}});
}

Decomposed DecomposeSolve(Builder& b, const OpArgs& args) {
  Value *a = args.Tensor(0), *rhs = args.Tensor(1);
  const bool left = args.Bool(2), is_vector = IsVectorCase(TypeOf(a), TypeOf(rhs));
  const Lu f = FactorLu(b, a);
  if (args.Bool(3))
    CheckInfo(b, f.info, "linalg.solve: The solver failed because the input matrix is singular");
  Value* x = SolveLu(b, f, is_vector ? b.Call("aten.unsqueeze", {rhs, -1}) : rhs, left);
  LATHE_RETURN_IF_ERROR(b.status());
  if (is_vector) {
    x = b.Call("aten.squeeze.dim", {x, -1});
    LATHE_RETURN_IF_ERROR(b.status());
    // Eager lays vectors out as if they were matrices.
    x = TypeOf(x).rank() >= 2 ? ColumnByColumn(b, x) : Clone(b, x, MemoryFormat::kContiguous);
  }
  return All({x, f.lu, f.pivots, f.info});
}

Decomposed DecomposeInverse(Builder& b, const OpArgs& args) {
  Value* a = args.Tensor(0);
  const Lu f = FactorLu(b, a);
  if (args.Bool(1))
    CheckInfo(b, f.info,
              "linalg.inv: The diagonal element is zero, the inversion could not be completed "
              "because the input matrix is singular");
  return All({SolveLu(b, f, Identity(b, a), true), f.info});
}

// 1 or -1: whether an odd number of rows was swapped.
Value* SwapSign(Builder& b, const Lu& f) {
  if (f.pivots == nullptr) return nullptr;
  Value* places = b.Call("aten.arange.start", {1, Side(f.pivots) + 1}, {{"dtype", DType::kI32}});
  Value* swapped = b.Call("aten.ne.Tensor", {f.pivots, places});
  Value* count = b.Call("aten.sum.dim_IntList", {swapped, std::vector<Expr>{-1}});
  Value* odd = b.Call("aten.remainder.Scalar", {count, Scalar(2)});
  Value* sign = AddScalar(b, MulScalar(b, odd, Scalar(-2)), Scalar(1));
  return CastTo(b, sign, TypeOf(f.lu).dtype);
}

Value* Diagonal(Builder& b, Value* a) { return b.Call("aten.diagonal", {a, 0, -2, -1}); }

Decomposed DecomposeDet(Builder& b, const OpArgs& args) {
  const Lu f = FactorLu(b, args.Tensor(0));
  LATHE_RETURN_IF_ERROR(b.status());
  Value* product = b.Call("aten.prod.dim_int", {Diagonal(b, f.lu), -1});
  return All({Mul(b, product, SwapSign(b, f)), f.lu, f.pivots});
}

Decomposed DecomposeSlogdet(Builder& b, const OpArgs& args) {
  const Lu f = FactorLu(b, args.Tensor(0));
  LATHE_RETURN_IF_ERROR(b.status());
  Value* diagonal = Diagonal(b, f.lu);
  Value* sign = b.Call("aten.prod.dim_int", {b.Call("aten.sgn", {diagonal}), -1});
  Value* logs = b.Call("aten.log", {b.Call("aten.abs", {diagonal})});
  Value* sum = b.Call("aten.sum.dim_IntList", {logs, std::vector<Expr>{-1}});
  return All({Mul(b, sign, SwapSign(b, f)), sum, f.lu, f.pivots});
}

Decomposed DecomposeLu(Builder& b, const OpArgs& args) {
  std::vector<Value*> f =
      b.CallMany("aten.linalg_lu_factor_ex", {args.Tensor(0)}, {{"pivot", args.Bool(1)}});
  LATHE_RETURN_IF_ERROR(b.status());
  return All(b.CallMany("aten.lu_unpack", {f[0], f[1], true, args.Bool(1)}));
}

// ---- QR ----

Decomposed DecomposeQr(Builder& b, const OpArgs& args) {
  Value* a = args.Tensor(0);
  const std::string mode = args.String(1);
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    return InvalidArgument("qr received unrecognized mode '", mode,
                           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  }
  std::vector<Value*> f = b.CallMany("aten.geqrf", {a});
  LATHE_RETURN_IF_ERROR(b.status());
  const TensorType type = TypeOf(a);
  const Expr m = type.sizes[type.rank() - 2], n = type.sizes[type.rank() - 1];
  const Expr k = symbolic::Min(m, n);
  Value* top = mode == "complete" ? f[0] : b.Call("aten.slice.Tensor", {f[0], -2, 0, k});
  Value* r = ColumnByColumn(b, b.Call("aten.triu", {top}));
  if (mode == "r") {
    Value* none = b.Call("aten.new_empty", {a, std::vector<Expr>{0}});
    return All({none, r});
  }
  Value* reflectors = b.Call("aten.slice.Tensor", {f[0], -1, 0, k});
  if (mode == "complete") {
    // Columns of zeros for the rest of Q.
    reflectors = b.Call("aten.constant_pad_nd",
                        {reflectors, std::vector<Expr>{0, b.shapes().Simplify(m - k)}, Scalar(0)});
  }
  return All({b.Call("aten.linalg_householder_product", {reflectors, f[1]}), r});
}

// ---- triangular_solve(self, A, upper, transpose, unitriangular) ----

Decomposed DecomposeTriangularSolve(Builder& b, const OpArgs& args) {
  Value *rhs = args.Tensor(0), *a = args.Tensor(1);
  const bool upper = args.Bool(2), transpose = args.Bool(3), unit = args.Bool(4);
  Value* left = transpose ? Transposed(b, a) : a;
  Value* x = SolveTriangle(b, left, rhs, upper != transpose, unit);
  if (x == nullptr) return b.status();
  Value* copy = a;
  const std::vector<Expr> leading = LeadingSizes(TypeOf(x), 2);
  copy = b.Call("aten.expand", {a, Extended(leading, {Side(a), Side(a)})});
  return All({x, ColumnByColumn(b, copy)});
}

// ---- linalg_pinv.atol_rtol_tensor(self, *, atol, rtol, hermitian) ----

Decomposed DecomposePinv(Builder& b, const OpArgs& args) {
  Value* a = args.Tensor(0);
  const TensorType type = TypeOf(a);
  const DType real = RealType(type.dtype);
  const Expr m = type.sizes[type.rank() - 2], n = type.sizes[type.rank() - 1];
  Value *atol = args.OptionalTensor(1), *rtol = args.OptionalTensor(2);
  auto number = [&](const Scalar& v) {
    return b.Call("aten.full", {std::vector<Expr>{}, v}, {{"dtype", real}});
  };
  if (rtol == nullptr) {
    const double epsilon = real == DType::kF64 ? 0x1p-52 : 0x1p-23;
    const auto size = symbolic::Max(m, n).AsInt();
    if (!size) return Unimplemented("linalg_pinv: a default tolerance of symbolic sizes");
    rtol = number(Scalar(epsilon * static_cast<double>(*size)));
    if (atol != nullptr) {
      Value* given = b.Call("aten.gt.Scalar", {atol, Scalar(0)});
      rtol = b.Call("aten.where.self", {given, number(Scalar(0.0)), rtol});
    }
  }
  if (atol == nullptr) atol = number(Scalar(0.0));
  Value *left, *sizes, *right;  // a = left * diag(sizes) * right
  if (args.Bool(3)) {
    std::vector<Value*> f = b.CallMany("aten._linalg_eigh", {a});
    LATHE_RETURN_IF_ERROR(b.status());
    left = f[1];
    sizes = f[0];
    right = Adjoint(b, f[1]);
  } else {
    std::vector<Value*> f = b.CallMany("aten._linalg_svd", {a});
    LATHE_RETURN_IF_ERROR(b.status());
    left = f[0];
    sizes = f[1];
    right = f[2];
  }
  if (TypeOf(sizes).sizes.back() == 0) {
    return OneArgument(b.Call("aten.new_zeros", {a, Extended(LeadingSizes(type, 2), {n, m})}));
  }
  Value* magnitude = b.Call("aten.abs", {sizes});
  Value* largest = b.Call("lathe.amax", {magnitude, std::vector<Expr>{-1}, true});
  Value* least = b.Call("aten.maximum", {b.Call("aten.unsqueeze", {atol, -1}),
                                         Mul(b, b.Call("aten.unsqueeze", {rtol, -1}), largest)});
  Value* counts = b.Call("aten.gt.Tensor", {magnitude, least});
  Value* inverse = b.Call("aten.where.self", {counts, b.Call("aten.reciprocal", {sizes}),
                                              b.Call("aten.zeros_like", {sizes})});
  Value* scaled =
      Mul(b, Adjoint(b, right), CastTo(b, b.Call("aten.unsqueeze", {inverse, -2}), type.dtype));
  return OneArgument(b.Call("aten.matmul", {scaled, Adjoint(b, left)}));
}

}  // namespace

std::vector<OpRow> ComposedRows() {
  std::vector<OpRow> rows = {
      DecomposedRow("aten::cholesky(Tensor self, bool upper=False) -> Tensor",
                    "The triangular factor of positive-definite matrices; others are refused.",
                    DecomposeCholesky, {"aten.cholesky(f64[1, 1])"}),
      DecomposedRow("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
                    "The solution of A X = self from the Cholesky factor of A.",
                    DecomposeCholeskySolve, {"aten.cholesky_solve(f64[1, 2], f64[1, 1])"}),
      DecomposedRow("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
                    "The inverse of A from its Cholesky factor.", DecomposeCholeskyInverse,
                    {"aten.cholesky_inverse(f64[1, 1])"}),
      DecomposedRow("aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool "
                    "check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
                    "The solution of A X = B, or X A = B, and the factors of A.", DecomposeSolve,
                    {"aten._linalg_solve_ex(f64[2, 2], f64[2, 3])"}),
      DecomposedRow("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, "
                    "Tensor info)",
                    "The inverse; info: the first zero pivot, or 0.", DecomposeInverse,
                    {"aten.linalg_inv_ex(f64[2, 2])"}),
      DecomposedRow("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
                    "The determinant, and the factors it came from.", DecomposeDet,
                    {"aten._linalg_det(f64[3, 3])"}),
      DecomposedRow("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, "
                    "Tensor pivots)",
                    "The determinant's sign and the logarithm of its size.", DecomposeSlogdet,
                    {"aten._linalg_slogdet(f64[3, 3])"}),
      DecomposedRow(
          "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
          "The factors of A = P L U.", DecomposeLu, {"aten.linalg_lu(f32[3, 4])"}),
      DecomposedRow("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
                    "Orthogonal columns and a triangle whose product is A.", DecomposeQr,
                    {"aten.linalg_qr(f32[4, 3])", "aten.linalg_qr(f32[4, 3], mode=\"complete\")"}),
      DecomposedRow("aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool "
                    "transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor "
                    "cloned_coefficient)",
                    "The solution of A X = self for triangular A, and A.", DecomposeTriangularSolve,
                    {"aten.triangular_solve(f32[3, 2], f32[3, 3], unitriangular=true)"}),
      DecomposedRow("aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? "
                    "rtol=None, bool hermitian=False) -> Tensor",
                    "The pseudoinverse; singular values below the tolerance count as zero.",
                    DecomposePinv, {"aten.linalg_pinv.atol_rtol_tensor(f32[4, 3])"}),
  };
  OpRow check = DecomposedRow(
      "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
      "Fails when a factorisation reported an error.", DecomposeCheckErrors, {});
  check.effect = Effect::kOrdered;
  rows.push_back(std::move(check));
  return rows;
}

}  // namespace lathe::linalg
