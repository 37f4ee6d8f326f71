// Solutions of linear systems.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/linalg/host_factors.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

// Batches of A (rank 2 at the end) and B against each other.
absl::StatusOr<std::vector<Expr>> CommonBatch(const InferContext& c, const TensorType& a,
                                              const TensorType& b) {
  return BroadcastSizes({LeadingSizes(a, 2), LeadingSizes(b, 2)}, c.shapes);
}

// `t` broadcast along the leading dimensions of `result`; its own last `n` stay.
Tensor Broadcast(const Tensor& t, const Tensor& result, int n) {
  Dims sizes;
  for (int d = 0; d + 2 < result.rank(); ++d) sizes.push_back(result.sizes()[d]);
  for (int d = t.rank() - n; d < t.rank(); ++d) sizes.push_back(t.sizes()[d]);
  return BroadcastTo(t, sizes);
}

// ---- linalg_solve_triangular(A, B, *, upper, left, unitriangular) ----

Types InferTriangular(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 1));
  const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
  const Expr rows = b.sizes[b.rank() - 2], cols = b.sizes[b.rank() - 1];
  const Expr n = c.args.Bool(3) ? rows : cols;
  if (symbolic::IsRefused(c.shapes, symbolic::Ne(n, a.sizes[a.rank() - 1])) || a.dtype != b.dtype) {
    return InvalidArgument(
        "linalg.solve_triangular: Incompatible shapes of A and B for the "
        "equation: ",
        ToString(a), " and ", ToString(b));
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> leading, CommonBatch(c, a, b));
  return std::vector<ValueType>{
      ColumnMajor(b.dtype, Extended(std::move(leading), {rows, cols}), b.device)};
}

Results EvaluateTriangular(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  const bool upper = c.args.Bool(2), left = c.args.Bool(3), unit = c.args.Bool(4);
  VisitField(out.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto a = Batch<T>::Matrices(Broadcast(c.args.Tensor(0), out, 2));
    auto b = Batch<T>::Matrices(BroadcastTo(c.args.Tensor(1), out.sizes()));
    for (int64_t k = 0; k < b.count() && b.rows() > 0; ++k) {
      Matrix<T> x = left ? b[k] : b[k].Transposed();
      SolveTriangle(left ? a[k] : a[k].Transposed(), left ? upper : !upper, unit, x);
      b.Put(k, left ? x : x.Transposed());
    }
    b.WriteTo(out);
  });
  return OneResult(out);
}

// ---- linalg_lu_solve(LU, pivots, B, *, left, adjoint) ----

Types InferLuSolve(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 2));
  const TensorType &lu = c.args.Type(0), &b = c.args.Type(2);
  const Expr rows = b.sizes[b.rank() - 2], cols = b.sizes[b.rank() - 1];
  const Expr n = c.args.Bool(3) ? rows : cols;
  if (symbolic::IsRefused(c.shapes, symbolic::Ne(n, lu.sizes[lu.rank() - 1])) ||
      lu.dtype != b.dtype) {
    return InvalidArgument("linalg.lu_solve: Incompatible shapes of A and B for the equation: ",
                           ToString(lu), " and ", ToString(b));
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> leading, CommonBatch(c, lu, b));
  TensorType type = ColumnMajor(b.dtype, Extended(std::move(leading), {rows, cols}), b.device);
  if (!c.args.Bool(3)) type = ContiguousType(type.dtype, type.sizes, type.device);
  return std::vector<ValueType>{type};
}

// op(A) x = b in place of b, A = P L U.
template <typename T>
void SolveFactored(const Matrix<T>& lu, const int64_t* pivots, bool transposed, Matrix<T>& b) {
  const int64_t n = lu.rows();
  if (!transposed) {
    for (int64_t i = 0; i < n; ++i) b.SwapRows(i, pivots[i] - 1);
    SolveTriangle(lu, false, true, b);
    SolveTriangle(lu, true, false, b);
    return;
  }
  const Matrix<T> turned = lu.Transposed();
  SolveTriangle(turned, false, false, b);
  SolveTriangle(turned, true, true, b);
  for (int64_t i = n; i-- > 0;) b.SwapRows(i, pivots[i] - 1);
}

template <typename T>
Matrix<T> Conjugate(const Matrix<T>& m) {
  return m.Adjoint().Transposed();
}

Results EvaluateLuSolve(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  const bool left = c.args.Bool(3), adjoint = c.args.Bool(4);
  VisitField(out.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto factors = Batch<T>::Matrices(Broadcast(c.args.Tensor(0), out, 2));
    const std::vector<int64_t> pivots = ToVector<int64_t>(Broadcast(c.args.Tensor(1), out, 1));
    auto b = Batch<T>::Matrices(BroadcastTo(c.args.Tensor(2), out.sizes()));
    for (int64_t k = 0; k < b.count() && b.rows() * b.cols() > 0; ++k) {
      const Matrix<T> lu = adjoint ? Conjugate(factors[k]) : factors[k];
      // x op(A) = b is op(A)^T x^T = b^T.
      Matrix<T> x = left ? b[k] : b[k].Transposed();
      SolveFactored(lu, pivots.data() + k * lu.rows(), left == adjoint, x);
      b.Put(k, left ? x : x.Transposed());
    }
    b.WriteTo(out);
  });
  return OneResult(out);
}

// ---- linalg_lstsq(self, b, rcond, *, driver) ----

struct LeastSquares {
  std::string driver;
  bool is_vector = false;
  bool gives_rank() const { return driver != "gels"; }
  bool gives_values() const { return driver == "gelsd" || driver == "gelss"; }
};

absl::StatusOr<LeastSquares> ReadLeastSquares(const InferContext& c) {
  LeastSquares result;
  result.driver = c.args.IsNone(3) ? "gelsy" : c.args.String(3);
  for (const char* name : {"gels", "gelsy", "gelsd", "gelss"}) {
    if (result.driver != name) continue;
    const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
    result.is_vector = b.rank() == 1 || b.rank() == a.rank() - 1;
    return result;
  }
  return InvalidArgument(
      "torch.linalg.lstsq: parameter `driver` should be one of "
      "(gels, gelsy, gelsd, gelss), got ",
      result.driver);
}

Types InferLstsq(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  LATHE_ASSIGN_OR_RETURN(LeastSquares how, ReadLeastSquares(c));
  const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
  if (a.dtype != b.dtype) {
    return InvalidArgument("torch.linalg.lstsq: Expected input and other to have the same dtype");
  }
  const Expr m = a.sizes[a.rank() - 2], n = a.sizes[a.rank() - 1];
  TensorType matrix = b;
  if (how.is_vector) matrix.sizes.push_back(1);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> leading, CommonBatch(c, a, matrix));
  const Expr columns = matrix.sizes.back();
  TensorType solution = ColumnMajor(b.dtype, Extended(leading, {n, columns}), b.device);
  if (how.is_vector) {
    solution.sizes.pop_back();
    solution.strides.pop_back();
  }
  const DType real = RealType(a.dtype);
  const bool has_residuals =
      how.driver != "gelsy" && c.shapes.TrueOrDefault(symbolic::Gt(m, n), false, c.asker);
  auto wanted = [&](bool present, DType dtype, std::vector<Expr> sizes) {
    return ContiguousType(dtype, present ? sizes : std::vector<Expr>{0}, a.device);
  };
  return std::vector<ValueType>{
      solution, wanted(has_residuals, real, Extended(leading, {columns})),
      wanted(how.gives_rank(), DType::kI64, LeadingSizes(a, 2)),
      wanted(how.gives_values(), real, Extended(LeadingSizes(a, 2), {symbolic::Min(m, n)}))};
}

// By singular values; those below `least` times the largest one count as zero.
template <typename T>
Matrix<T> LeastSquaresSolution(const Svd<T>& svd, const Matrix<T>& b, double least, int64_t& rank) {
  Matrix<T> y = svd.u.Adjoint() * b;
  rank = 0;
  for (int64_t i = 0; i < y.rows(); ++i) {
    const bool counts = svd.s[i] > least * svd.s[0];
    rank += counts;
    for (int64_t j = 0; j < y.cols(); ++j) y(i, j) = counts ? y(i, j) / svd.s[i] : T(0);
  }
  return svd.v * y;
}

Results EvaluateLstsq(const EvaluateContext& c) {
  const Tensor &a = c.args.Tensor(0), &given = c.args.Tensor(1);
  Tensor solution = c.Allocate(0), residuals = c.Allocate(1), ranks = c.Allocate(2),
         values = c.Allocate(3);
  const std::string driver = c.args.literal(3).is_none() ? "gelsy" : c.args.String(3);
  const int64_t m = a.sizes()[a.rank() - 2], n = a.sizes()[a.rank() - 1];
  const bool is_vector = given.rank() == 1 || given.rank() == a.rank() - 1;
  const double epsilon = RealType(a.dtype()) == DType::kF64 ? 0x1p-52 : 0x1p-23;
  const double least =
      c.args.OptionalFloat(2).value_or(epsilon * static_cast<double>(std::max(m, n)));
  const bool wants_residuals = m > n && driver != "gelsy";
  return VisitField(a.dtype(), [&]<typename T>(TypeTag<T>) -> Results {
    const Dims& out = solution.sizes();
    Dims leading(out.data(), out.size() - (is_vector ? 1 : 2));
    const int64_t columns = is_vector ? 1 : out[out.size() - 1];
    Dims a_sizes = leading, b_sizes = leading;
    for (int64_t size : {m, n}) a_sizes.push_back(size);
    b_sizes.push_back(m);
    if (!is_vector) b_sizes.push_back(columns);
    const auto all_a = Batch<T>::Matrices(BroadcastTo(a, a_sizes));
    const auto all_b = Batch<T>::Of(BroadcastTo(given, b_sizes), m, columns);
    std::vector<T> all_x;
    std::vector<double> all_values, all_residuals;
    std::vector<int64_t> all_ranks;
    for (int64_t k = 0; k < all_a.count(); ++k) {
      const Matrix<T> left = all_a[k], right = all_b[k];
      const Svd<T> svd = SingularValues(left, false);
      int64_t rank = 0;
      const Matrix<T> x = LeastSquaresSolution(svd, right, least, rank);
      if (wants_residuals && driver != "gels" && rank < n) {
        return Unimplemented("linalg_lstsq: residuals of a matrix without full rank");
      }
      const Matrix<T> fitted = left * x;
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < m; ++i) sum += std::norm(fitted(i, j) - right(i, j));
        all_residuals.push_back(sum);
      }
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < columns; ++j) all_x.push_back(x(i, j));
      }
      all_ranks.push_back(rank);
      all_values.insert(all_values.end(), svd.s.begin(), svd.s.end());
    }
    FromVector<T>(all_x, solution);
    if (wants_residuals) FromVector<double>(all_residuals, residuals);
    all_ranks.resize(ranks.numel());
    all_values.resize(values.numel());
    FromVector<int64_t>(all_ranks, ranks);
    FromVector<double>(all_values, values);
    return std::vector<HostValue>{solution, residuals, ranks, values};
  });
}

OpRow Row(std::string schema, std::string doc, InferFunction infer, EvaluateFunction evaluate,
          std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = std::move(infer);
  row.evaluate = std::move(evaluate);
  row.samples = std::move(samples);
  return row;
}

}  // namespace

std::vector<OpRow> SolveRows() {
  return {
      Row("aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
          "bool unitriangular=False) -> Tensor",
          "The solution of A X = B, or X A = B, for triangular A.", InferTriangular,
          EvaluateTriangular,
          {"aten.linalg_solve_triangular(f32[3, 3], f32[3, 2], upper=true, unitriangular=true)"}),
      Row("aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
          "adjoint=False) -> Tensor",
          "The solution of A X = B from the factors of A.", InferLuSolve, EvaluateLuSolve, {}),
      Row("aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
          "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
          "The X of least norm that minimises |A X - B|.", InferLstsq, EvaluateLstsq,
          {"aten.linalg_lstsq(f32[2, 3], f32[2, 3])"}),
  };
}

}  // namespace lathe::linalg
