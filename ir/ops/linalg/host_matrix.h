#ifndef LATHE_IR_OPS_LINALG_HOST_MATRIX_H_
#define LATHE_IR_OPS_LINALG_HOST_MATRIX_H_

// Small dense matrices on the host, in double precision, and the batches that tensors hold in their
// last two dimensions.

#include <complex>
#include <cstdint>
#include <vector>

#include "dtypes/base/check.h"
#include "ir/ops/host/host_loops.h"
#include "runtime/tensor/tensor.h"

namespace lathe::linalg {

inline double Conj(double v) { return v; }
inline std::complex<double> Conj(std::complex<double> v) { return std::conj(v); }
inline double Real(double v) { return v; }
inline double Real(std::complex<double> v) { return v.real(); }

template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols) : rows_(rows), cols_(cols), elements_(rows * cols, T(0)) {}
  static Matrix Identity(int64_t rows, int64_t cols) {
    Matrix m(rows, cols);
    for (int64_t i = 0; i < std::min(rows, cols); ++i) m(i, i) = T(1);
    return m;
  }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  T& operator()(int64_t i, int64_t j) { return elements_[i * cols_ + j]; }
  const T& operator()(int64_t i, int64_t j) const { return elements_[i * cols_ + j]; }

  Matrix Transposed() const {
    return Turned([](const T& v) { return v; });
  }
  Matrix Adjoint() const {
    return Turned([](const T& v) { return T(Conj(v)); });
  }
  void SwapRows(int64_t i, int64_t j) {
    for (int64_t k = 0; k < cols_; ++k) std::swap((*this)(i, k), (*this)(j, k));
  }
  friend Matrix operator*(const Matrix& a, const Matrix& b) {
    LATHE_CHECK(a.cols_ == b.rows_);
    Matrix c(a.rows_, b.cols_);
    for (int64_t i = 0; i < a.rows_; ++i) {
      for (int64_t k = 0; k < a.cols_; ++k) {
        for (int64_t j = 0; j < b.cols_; ++j) c(i, j) += a(i, k) * b(k, j);
      }
    }
    return c;
  }

 private:
  template <typename F>
  Matrix Turned(const F& f) const {
    Matrix m(cols_, rows_);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < cols_; ++j) m(j, i) = f((*this)(i, j));
    }
    return m;
  }

  int64_t rows_ = 0, cols_ = 0;
  std::vector<T> elements_;
};

// The matrices of a tensor, or its vectors as matrices of one column, in row-major order. One that
// has fewer matrices than asked for is broadcast.
template <typename T>
class Batch {
 public:
  static Batch Matrices(const Tensor& t) {
    return Batch(t, t.sizes()[t.rank() - 2], t.sizes()[t.rank() - 1]);
  }
  static Batch Vectors(const Tensor& t) {
    return Batch(t, t.rank() == 0 ? 1 : t.sizes()[t.rank() - 1], 1);
  }
  static Batch Of(const Tensor& t, int64_t rows, int64_t cols) { return Batch(t, rows, cols); }

  int64_t count() const { return count_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  Matrix<T> operator[](int64_t k) const {
    Matrix<T> m(rows_, cols_);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < cols_; ++j) m(i, j) = elements_[(k * rows_ + i) * cols_ + j];
    }
    return m;
  }
  void Put(int64_t k, const Matrix<T>& m) {
    LATHE_CHECK(m.rows() == rows_ && m.cols() == cols_);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < cols_; ++j) elements_[(k * rows_ + i) * cols_ + j] = m(i, j);
    }
  }
  void WriteTo(const Tensor& t) const { FromVector<T>(elements_, t); }

 private:
  Batch(const Tensor& t, int64_t rows, int64_t cols)
      : rows_(rows), cols_(cols), elements_(ToVector<T>(t)) {
    const int64_t each = rows * cols;
    if (each > 0) {
      count_ = static_cast<int64_t>(elements_.size()) / each;
    } else {
      count_ = 1;
      for (int d = 0; d + 2 < t.rank(); ++d) count_ *= t.sizes()[d];
    }
  }

  int64_t rows_, cols_, count_ = 0;
  std::vector<T> elements_;
};

// f(TypeTag<T>) with the type that a tensor of this dtype is computed in.
template <typename F>
decltype(auto) VisitField(DType dtype, F&& f) {
  if (IsComplex(dtype)) return f(TypeTag<std::complex<double>>{});
  return f(TypeTag<double>{});
}

}  // namespace lathe::linalg

#endif  // LATHE_IR_OPS_LINALG_HOST_MATRIX_H_
