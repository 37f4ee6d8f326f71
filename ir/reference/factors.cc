#include "ir/reference/factors.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "absl/strings/str_cat.h"
#include "ir/ops/linalg/host_matrix.h"

namespace lathe {
namespace {

using linalg::Batch;
using Number = std::complex<double>;
using Matrix = linalg::Matrix<Number>;

double Tolerance(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kC128 ? 1e-7 : 1e-4;
}

double Largest(const Matrix& m) {
  double largest = 0;
  for (int64_t i = 0; i < m.rows(); ++i) {
    for (int64_t j = 0; j < m.cols(); ++j) largest = std::max(largest, std::abs(m(i, j)));
  }
  return largest;
}

double Distance(const Matrix& a, const Matrix& b) {
  double most = 0;
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) most = std::max(most, std::abs(a(i, j) - b(i, j)));
  }
  return most;
}

// left[:, :k] * diag(values) * right[:k]
Matrix Product(const Matrix& left, const Matrix& values, const Matrix& right) {
  Matrix scaled(left.rows(), values.rows()), top(values.rows(), right.cols());
  for (int64_t k = 0; k < values.rows(); ++k) {
    for (int64_t i = 0; i < left.rows(); ++i) scaled(i, k) = left(i, k) * values(k, 0);
    for (int64_t j = 0; j < right.cols(); ++j) top(k, j) = right(k, j);
  }
  return scaled * top;
}

// The matrices of one result, those of absent vectors empty.
struct Factors {
  Batch<Number> left, values, right;
  bool right_is_left;

  Matrix Multiplied(int64_t k) const {
    return Product(left[k], values[k], right_is_left ? left[k].Adjoint() : right[k]);
  }
};

Factors Read(bool is_svd, absl::Span<const Tensor> results) {
  const Tensor& vectors = is_svd ? results[0] : results[1];
  return {Batch<Number>::Matrices(vectors),
          Batch<Number>::Vectors(is_svd ? results[1] : results[0]),
          Batch<Number>::Matrices(is_svd ? results[2] : vectors), !is_svd};
}

std::string CheckOrthonormal(const Matrix& columns, double tolerance) {
  const Matrix product = columns.Adjoint() * columns;
  const double error = Distance(product, Matrix::Identity(product.rows(), product.cols()));
  if (error <= tolerance) return "";
  return absl::StrCat("the vectors are not orthonormal, by ", error);
}

}  // namespace

bool IsComparedByProduct(absl::string_view op) {
  for (absl::string_view name : {"aten._linalg_svd", "aten._linalg_eigh"}) {
    if (op == name || op == absl::StrCat(name, ".default")) return true;
  }
  return false;
}

std::string CompareProducts(absl::string_view op, absl::Span<const Tensor> actual,
                            absl::Span<const Tensor> expected) {
  const bool is_svd = op.find("svd") != absl::string_view::npos;
  const Tensor& vectors = actual[is_svd ? 0 : 1];
  if (vectors.rank() < 2) return "";  // values alone, or nothing at all
  const Factors mine = Read(is_svd, actual), theirs = Read(is_svd, expected);
  const double tolerance = Tolerance(vectors.dtype());
  for (int64_t k = 0; k < mine.left.count(); ++k) {
    if (mine.values.rows() == 0) break;
    const Matrix product = mine.Multiplied(k), wanted = theirs.Multiplied(k);
    const double error = Distance(product, wanted);
    if (!(error <= tolerance * std::max(1.0, Largest(wanted)))) {
      return absl::StrCat("matrix ", k, " is not what its factors give, by ", error);
    }
    std::string difference = CheckOrthonormal(mine.left[k], tolerance);
    if (difference.empty() && is_svd) {
      difference = CheckOrthonormal(mine.right[k].Adjoint(), tolerance);
    }
    if (!difference.empty()) return absl::StrCat("matrix ", k, ": ", difference);
  }
  return "";
}

}  // namespace lathe
