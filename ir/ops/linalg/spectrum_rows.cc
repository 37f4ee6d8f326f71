// Eigenvalues, singular values, and functions of matrices.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/linalg/host_factors.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

// ---- _linalg_eigh(A, UPLO, compute_v) ----

Types InferEigh(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  const std::string& side = c.args.String(1);
  if (side != "L" && side != "U" && side != "l" && side != "u") {
    return InvalidArgument("linalg.eigh: Expected UPLO argument to be 'L' or 'U', but got ", side);
  }
  const TensorType& self = c.args.Type(0);
  const std::vector<Expr> values = LeadingSizes(self, 1);
  return std::vector<ValueType>{ContiguousType(RealType(self.dtype), values, self.device),
                                c.args.Bool(2) ? ColumnMajor(self.dtype, self.sizes, self.device)
                                               : ContiguousType(self.dtype, {0}, self.device)};
}

// The matrix whose one triangle is given.
template <typename T>
Matrix<T> Hermitian(Matrix<T> a, bool lower) {
  for (int64_t i = 0; i < a.rows(); ++i) {
    a(i, i) = T(Real(a(i, i)));
    for (int64_t j = 0; j < i; ++j) {
      if (lower) {
        a(j, i) = Conj(a(i, j));
      } else {
        a(i, j) = Conj(a(j, i));
      }
    }
  }
  return a;
}

Results EvaluateEigh(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  const bool lower = c.args.String(1) == "L" || c.args.String(1) == "l";
  Tensor values = c.Allocate(0), vectors = c.Allocate(1);
  VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) {
    auto batch = Batch<T>::Matrices(self);
    std::vector<double> all;
    for (int64_t k = 0; k < batch.count(); ++k) {
      auto [each, v] = Eigen(Hermitian(batch[k], lower));
      all.insert(all.end(), each.begin(), each.end());
      batch.Put(k, v);
    }
    FromVector<double>(all, values);
    if (c.args.Bool(2)) batch.WriteTo(vectors);
  });
  return std::vector<HostValue>{values, vectors};
}

// ---- _linalg_svd(A, full_matrices, compute_uv, driver) ----

Types InferSvd(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  const TensorType& self = c.args.Type(0);
  const std::vector<Expr> leading = LeadingSizes(self, 2);
  const Expr m = self.sizes[self.rank() - 2], n = self.sizes[self.rank() - 1];
  const Expr k = symbolic::Min(m, n);
  const TensorType s = ContiguousType(RealType(self.dtype), Extended(leading, {k}), self.device);
  if (!c.args.Bool(2)) {
    const TensorType none = ContiguousType(self.dtype, {0}, self.device);
    return std::vector<ValueType>{none, s, none};
  }
  const bool full = c.args.Bool(1);
  return std::vector<ValueType>{
      ColumnMajor(self.dtype, Extended(leading, {m, full ? m : k}), self.device), s,
      ColumnMajor(self.dtype, Extended(leading, {full ? n : k, n}), self.device)};
}

Results EvaluateSvd(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor u = c.Allocate(0), s = c.Allocate(1), vh = c.Allocate(2);
  const bool full = c.args.Bool(1), vectors = c.args.Bool(2);
  VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto batch = Batch<T>::Matrices(self);
    const int64_t m = batch.rows(), n = batch.cols(), k = std::min(m, n);
    auto all_u = Batch<T>::Of(u, m, full ? m : k), all_v = Batch<T>::Of(vh, full ? n : k, n);
    std::vector<double> all;
    for (int64_t at = 0; at < batch.count(); ++at) {
      const Svd<T> svd = SingularValues(batch[at], full);
      all.insert(all.end(), svd.s.begin(), svd.s.end());
      if (!vectors) continue;
      all_u.Put(at, svd.u);
      all_v.Put(at, svd.v.Adjoint());
    }
    FromVector<double>(all, s);
    if (vectors) all_u.WriteTo(u);
    if (vectors) all_v.WriteTo(vh);
  });
  return std::vector<HostValue>{u, s, vh};
}

// ---- linalg_matrix_exp ----

// The series of a matrix made small by halving, squared again.
template <typename T>
Matrix<T> Exponential(Matrix<T> a) {
  const int64_t n = a.rows();
  double norm = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  int halvings = 0;
  for (; norm > 0.5 && halvings < 1100; norm /= 2) ++halvings;
  const double scale = std::ldexp(1.0, -halvings);
  Matrix<T> sum = Matrix<T>::Identity(n, n), term = sum;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) a(i, j) *= scale;
  }
  for (int order = 1; order < 20; ++order) {
    term = term * a;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) sum(i, j) += term(i, j) /= order;
    }
  }
  for (int k = 0; k < halvings; ++k) sum = sum * sum;
  return sum;
}

Types InferExponential(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  if (self.rank() < 2 || !(IsFloat(self.dtype) || IsComplex(self.dtype))) {
    return InvalidArgument("linalg.matrix_exp: expected square matrices of floats, got ",
                           ToString(self));
  }
  if (self.dtype != ComputeType(self.dtype)) {
    // Eager itself answers NaN for any matrix that is not tiny: its series goes wrong in halves.
    return Unimplemented("linalg.matrix_exp of ", Name(self.dtype), ": convert to f32 first");
  }
  if (symbolic::IsRefused(c.shapes,
                          symbolic::Ne(self.sizes[self.rank() - 1], self.sizes[self.rank() - 2]))) {
    return InvalidArgument("linalg.matrix_exp: A must be batches of square matrices, got ",
                           ToString(self));
  }
  return std::vector<ValueType>{ContiguousType(self.dtype, self.sizes, self.device)};
}

Results EvaluateExponential(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate();
  VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) {
    auto batch = Batch<T>::Matrices(self);
    for (int64_t k = 0; k < batch.count(); ++k) batch.Put(k, Exponential(batch[k]));
    batch.WriteTo(out);
  });
  return OneResult(out);
}

}  // namespace

std::vector<OpRow> SpectrumRows() {
  OpRow eigh;
  eigh.schema =
      "aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, "
      "Tensor eigenvectors)";
  eigh.doc = "Eigenvalues of Hermitian matrices, smallest first, and their vectors.";
  eigh.infer = InferEigh;
  eigh.evaluate = EvaluateEigh;
  eigh.samples = {"aten._linalg_eigh(f32[4, 4])"};
  OpRow svd;
  svd.schema =
      "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
      "driver=None) -> (Tensor U, Tensor S, Tensor Vh)";
  svd.doc = "Singular values, largest first, and their vectors.";
  svd.infer = InferSvd;
  svd.evaluate = EvaluateSvd;
  svd.samples = {"aten._linalg_svd(f32[4, 3])"};
  OpRow exponential;
  exponential.schema = "aten::linalg_matrix_exp(Tensor self) -> Tensor";
  exponential.doc = "The exponential of square matrices.";
  exponential.infer = InferExponential;
  exponential.evaluate = EvaluateExponential;
  exponential.samples = {"aten.linalg_matrix_exp(f32[4, 4])"};
  std::vector<OpRow> rows;
  rows.push_back(std::move(eigh));
  rows.push_back(std::move(svd));
  rows.push_back(std::move(exponential));
  return rows;
}

}  // namespace lathe::linalg
