// LDL^T of symmetric matrices that need not be definite, by Bunch and Kaufman's pivots.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/linalg/host_factors.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"

namespace lathe::linalg {
namespace {

// The lower triangle of `a` becomes L and D; pivots as LAPACK's sytrf gives them: negative, twice,
// for a block of two.
template <typename T>
class Indefinite {
 public:
  explicit Indefinite(Matrix<T>& a) : a_(a), n_(a.rows()), pivots_(a.rows(), 0) {}

  int Factor() {
    for (int64_t k = 0; k < n_;) k += Step(k);
    return info_;
  }
  const std::vector<int64_t>& pivots() const { return pivots_; }

 private:
  int64_t Step(int64_t k) {
    int64_t pivot = k, width = 1;
    if (!Choose(k, pivot, width)) {
      if (info_ == 0) info_ = static_cast<int>(k + 1);
    } else {
      const int64_t with = k + width - 1;
      if (pivot != with) Swap(k, with, pivot, width);
      if (width == 1) {
        EliminateOne(k);
      } else {
        EliminateTwo(k);
      }
    }
    for (int64_t i = 0; i < width; ++i) pivots_[k + i] = width == 1 ? pivot + 1 : -(pivot + 1);
    return width;
  }

  // False for a column of zeros.
  bool Choose(int64_t k, int64_t& pivot, int64_t& width) const {
    const double threshold = (1 + std::sqrt(17.0)) / 8;
    const double diagonal = Magnitude(a_(k, k));
    int64_t row = k;
    double column = 0;
    for (int64_t i = k + 1; i < n_; ++i) {
      if (Magnitude(a_(i, k)) > column) {
        column = Magnitude(a_(i, k));
        row = i;
      }
    }
    if (std::max(diagonal, column) == 0) return false;
    if (diagonal >= threshold * column) return true;
    double most = 0;
    for (int64_t j = k; j < row; ++j) most = std::max(most, Magnitude(a_(row, j)));
    for (int64_t i = row + 1; i < n_; ++i) most = std::max(most, Magnitude(a_(i, row)));
    if (diagonal >= threshold * column * (column / most)) return true;
    pivot = row;
    width = Magnitude(a_(row, row)) >= threshold * most ? 1 : 2;
    return true;
  }

  void Swap(int64_t k, int64_t with, int64_t pivot, int64_t width) {
    for (int64_t i = pivot + 1; i < n_; ++i) std::swap(a_(i, with), a_(i, pivot));
    for (int64_t j = with + 1; j < pivot; ++j) std::swap(a_(j, with), a_(pivot, j));
    std::swap(a_(with, with), a_(pivot, pivot));
    if (width == 2) std::swap(a_(k + 1, k), a_(pivot, k));
  }

  void EliminateOne(int64_t k) {
    const T inverse = T(1) / a_(k, k);
    for (int64_t j = k + 1; j < n_; ++j) {
      const T factor = a_(j, k) * inverse;
      for (int64_t i = j; i < n_; ++i) a_(i, j) -= a_(i, k) * factor;
    }
    for (int64_t i = k + 1; i < n_; ++i) a_(i, k) *= inverse;
  }

  void EliminateTwo(int64_t k) {
    const T off = a_(k + 1, k), d11 = a_(k + 1, k + 1) / off, d22 = a_(k, k) / off;
    const T scale = T(1) / (d11 * d22 - T(1)) / off;
    for (int64_t j = k + 2; j < n_; ++j) {
      const T first = scale * (d11 * a_(j, k) - a_(j, k + 1));
      const T second = scale * (d22 * a_(j, k + 1) - a_(j, k));
      for (int64_t i = j; i < n_; ++i) a_(i, j) -= a_(i, k) * first + a_(i, k + 1) * second;
      a_(j, k) = first;
      a_(j, k + 1) = second;
    }
  }

  Matrix<T>& a_;
  int64_t n_;
  std::vector<int64_t> pivots_;
  int info_ = 0;
};

// x in place of b, from what Indefinite left. Pivots start at `pivots`.
template <typename T>
void SolveIndefinite(const Matrix<T>& a, const int64_t* pivots, Matrix<T>& b) {
  const int64_t n = a.rows();
  auto subtract = [&](int64_t row, int64_t column, int64_t from) {  // b[row] -= a[:, column]^T b
    for (int64_t i = from; i < n; ++i) {
      for (int64_t c = 0; c < b.cols(); ++c) b(row, c) -= a(i, column) * b(i, c);
    }
  };
  auto spread = [&](int64_t row, int64_t from) {  // b[from:] -= a[from:, row] b[row]
    for (int64_t i = from; i < n; ++i) {
      for (int64_t c = 0; c < b.cols(); ++c) b(i, c) -= a(i, row) * b(row, c);
    }
  };
  for (int64_t k = 0; k < n;) {
    if (pivots[k] > 0) {
      b.SwapRows(k, pivots[k] - 1);
      spread(k, k + 1);
      for (int64_t c = 0; c < b.cols(); ++c) b(k, c) /= a(k, k);
      ++k;
      continue;
    }
    b.SwapRows(k + 1, -pivots[k] - 1);
    spread(k, k + 2);
    spread(k + 1, k + 2);
    const T off = a(k + 1, k), p = a(k, k) / off, q = a(k + 1, k + 1) / off, d = p * q - T(1);
    for (int64_t c = 0; c < b.cols(); ++c) {
      const T x = b(k, c) / off, y = b(k + 1, c) / off;
      b(k, c) = (q * x - y) / d;
      b(k + 1, c) = (p * y - x) / d;
    }
    k += 2;
  }
  for (int64_t k = n - 1; k >= 0;) {
    subtract(k, k, k + 1);
    if (pivots[k] > 0) {
      b.SwapRows(k, pivots[k] - 1);
      --k;
      continue;
    }
    subtract(k - 1, k - 1, k + 1);
    b.SwapRows(k, -pivots[k] - 1);
    k -= 2;
  }
}

absl::Status CheckSymmetric(const InferContext& c, int hermitian) {
  if (!c.args.Bool(hermitian) || !IsComplex(c.args.Type(0).dtype)) return absl::OkStatus();
  return Unimplemented(c.args.schema().name, " of Hermitian complex matrices");
}

Types InferFactor(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  LATHE_RETURN_IF_ERROR(CheckSymmetric(c, 1));
  const TensorType& self = c.args.Type(0);
  return std::vector<ValueType>{ColumnMajor(self.dtype, self.sizes, self.device),
                                ContiguousType(DType::kI32, LeadingSizes(self, 1), self.device),
                                ContiguousType(DType::kI32, LeadingSizes(self, 2), self.device)};
}

Results EvaluateFactor(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate(0), where = c.Allocate(1), infos = c.Allocate(2);
  return VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) -> Results {
    auto batch = Batch<T>::Matrices(self);
    std::vector<int64_t> pivots, info;
    for (int64_t k = 0; k < batch.count(); ++k) {
      Matrix<T> m = batch[k];
      for (int64_t i = 0; i < m.rows(); ++i) {
        for (int64_t j = i + 1; j < m.cols(); ++j) m(i, j) = T(0);
      }
      Indefinite<T> factors(m);
      info.push_back(factors.Factor());
      if (c.args.Bool(2) && info.back() > 0) {
        return FailedPrecondition("torch.linalg.ldl_factor_ex: D has a zero on its diagonal (at ",
                                  info.back(), ")");
      }
      pivots.insert(pivots.end(), factors.pivots().begin(), factors.pivots().end());
      batch.Put(k, m);
    }
    batch.WriteTo(out);
    pivots.resize(where.numel());
    info.resize(infos.numel());
    FromVector<int64_t>(pivots, where);
    FromVector<int64_t>(info, infos);
    return std::vector<HostValue>{out, where, infos};
  });
}

Types InferSolve(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 2));
  LATHE_RETURN_IF_ERROR(CheckSymmetric(c, 3));
  const TensorType &a = c.args.Type(0), &b = c.args.Type(2);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> leading,
                         BroadcastSizes({LeadingSizes(a, 2), LeadingSizes(b, 2)}, c.shapes));
  return std::vector<ValueType>{ColumnMajor(
      b.dtype, Extended(leading, {b.sizes[b.rank() - 2], b.sizes[b.rank() - 1]}), b.device)};
}

Results EvaluateSolve(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  const Tensor &a = c.args.Tensor(0), &b = c.args.Tensor(2);
  Dims a_sizes, pivot_sizes;
  for (int d = 0; d + 2 < out.rank(); ++d) a_sizes.push_back(out.sizes()[d]);
  pivot_sizes = a_sizes;
  const int64_t n = a.sizes()[a.rank() - 1];
  for (Dims* sizes : {&a_sizes, &pivot_sizes}) sizes->push_back(n);
  a_sizes.push_back(n);
  VisitField(out.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto factors = Batch<T>::Matrices(BroadcastTo(a, a_sizes));
    const std::vector<int64_t> pivots =
        ToVector<int64_t>(BroadcastTo(c.args.Tensor(1), pivot_sizes));
    auto batch = Batch<T>::Matrices(BroadcastTo(b, out.sizes()));
    for (int64_t k = 0; k < batch.count(); ++k) {
      Matrix<T> x = batch[k];
      SolveIndefinite(factors[k], pivots.data() + k * n, x);
      batch.Put(k, x);
    }
    batch.WriteTo(out);
  });
  return OneResult(out);
}

}  // namespace

std::vector<OpRow> IndefiniteRows() {
  OpRow factor;
  factor.schema =
      "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
      "-> (Tensor LD, Tensor pivots, Tensor info)";
  factor.doc = "L and the block diagonal D of symmetric matrices, lower triangle, pivoted.";
  factor.infer = InferFactor;
  factor.evaluate = EvaluateFactor;
  factor.samples = {"aten.linalg_ldl_factor_ex(f64[1, 1])"};
  OpRow solve;
  solve.schema =
      "aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> "
      "Tensor";
  solve.doc = "The solution of A X = B from the factors of A.";
  solve.infer = InferSolve;
  solve.evaluate = EvaluateSolve;
  std::vector<OpRow> rows;
  rows.push_back(std::move(factor));
  rows.push_back(std::move(solve));
  return rows;
}

}  // namespace lathe::linalg
