#ifndef LATHE_IR_OPS_LINALG_HOST_FACTORS_H_
#define LATHE_IR_OPS_LINALG_HOST_FACTORS_H_

// Factorisations of one matrix, by the textbook. Where a factor is a matter of convention (pivots,
// signs of reflectors) it is LAPACK's.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ir/ops/linalg/host_matrix.h"

namespace lathe::linalg {

// The lower factor of the matrix whose lower triangle `a` holds; `info`: the order of the leading
// minor that is not positive, 0 when all are.
template <typename T>
int Cholesky(Matrix<T>& a) {
  const int64_t n = a.rows();
  int info = 0;
  for (int64_t j = 0; j < n && info == 0; ++j) {
    double d = Real(a(j, j));
    for (int64_t k = 0; k < j; ++k) d -= std::norm(a(j, k));
    if (!(d > 0)) {
      info = static_cast<int>(j + 1);
      break;
    }
    a(j, j) = std::sqrt(d);
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= a(i, k) * Conj(a(j, k));
      a(i, j) = sum / a(j, j);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a(i, j) = T(0);
  }
  return info;
}

// How pivots are compared: |re| + |im|.
inline double Magnitude(double v) { return std::fabs(v); }
inline double Magnitude(std::complex<double> v) {
  return std::fabs(v.real()) + std::fabs(v.imag());
}

// L and U in place of `a`; `pivots[k]`: the row, from 1, that row k was swapped with. The result:
// the first zero pivot, from 1, or 0.
template <typename T>
int LuFactor(Matrix<T>& a, bool pivot, std::vector<int64_t>& pivots) {
  const int64_t n = std::min(a.rows(), a.cols());
  int info = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; pivot && i < a.rows(); ++i) {
      if (Magnitude(a(i, k)) > Magnitude(a(best, k))) best = i;
    }
    pivots.push_back(best + 1);
    if (best != k) a.SwapRows(best, k);
    if (a(k, k) == T(0)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < a.rows(); ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.cols(); ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}

// One side of op(A) x = b for a triangular A, in place of b.
template <typename T>
void SolveTriangle(const Matrix<T>& a, bool upper, bool unit, Matrix<T>& b) {
  const int64_t n = a.rows();
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t c = 0; c < b.cols(); ++c) {
      T sum = b(i, c);
      const int64_t from = upper ? i + 1 : 0, to = upper ? n : i;
      for (int64_t k = from; k < to; ++k) sum -= a(i, k) * b(k, c);
      b(i, c) = unit ? sum : sum / a(i, i);
    }
  }
}

// ---- Reflectors: H = I - tau v v^H, v below the diagonal of a column, 1 on it ----

template <typename T>
T MakeReflector(Matrix<T>& a, int64_t k) {
  double rest = 0;
  for (int64_t i = k + 1; i < a.rows(); ++i) rest += std::norm(a(i, k));
  const T alpha = a(k, k);
  if (rest == 0 && alpha == T(Real(alpha))) return T(0);
  const double length = std::sqrt(std::norm(alpha) + rest);
  const double beta = std::signbit(Real(alpha)) ? length : -length;
  for (int64_t i = k + 1; i < a.rows(); ++i) a(i, k) /= alpha - beta;
  a(k, k) = beta;
  return (T(beta) - alpha) / beta;
}

// c becomes H c, with the reflector of column k of `a`.
template <typename T>
void Reflect(const Matrix<T>& a, int64_t k, T tau, Matrix<T>& c, int64_t first_column) {
  for (int64_t j = first_column; j < c.cols(); ++j) {
    T dot = c(k, j);
    for (int64_t i = k + 1; i < c.rows(); ++i) dot += Conj(a(i, k)) * c(i, j);
    dot *= tau;
    c(k, j) -= dot;
    for (int64_t i = k + 1; i < c.rows(); ++i) c(i, j) -= a(i, k) * dot;
  }
}

// R and the reflectors in place of `a`.
template <typename T>
std::vector<T> QrFactor(Matrix<T>& a) {
  std::vector<T> taus;
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    taus.push_back(MakeReflector(a, k));
    Reflect(a, k, T(Conj(taus.back())), a, k + 1);
  }
  return taus;
}

// Q c, or Q^H c.
template <typename T>
void ApplyQ(const Matrix<T>& a, const std::vector<T>& taus, bool adjoint, Matrix<T>& c) {
  const int64_t n = static_cast<int64_t>(taus.size());
  for (int64_t step = 0; step < n; ++step) {
    const int64_t k = adjoint ? step : n - 1 - step;
    Reflect(a, k, adjoint ? T(Conj(taus[k])) : taus[k], c, 0);
  }
}

// ---- Jacobi rotations ----

// The unitary 2x2 matrix {{c, s}, {-s conj(e), c conj(e)}} that makes {{p, g}, {conj(g), q}}
// diagonal.
template <typename T>
struct Rotation {
  double c, s;
  T e;
  Rotation(double p, double q, T g) {
    const double size = std::abs(g);
    e = g / size;
    const double ratio = (q - p) / (2 * size);
    const double t = (ratio < 0 ? -1.0 : 1.0) / (std::fabs(ratio) + std::sqrt(1 + ratio * ratio));
    c = 1 / std::sqrt(1 + t * t);
    s = t * c;
  }
  void TurnColumns(Matrix<T>& m, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < m.rows(); ++i) {
      const T x = m(i, p), y = m(i, q) * T(Conj(e));
      m(i, p) = c * x - s * y;
      m(i, q) = s * x + c * y;
    }
  }
  void TurnRows(Matrix<T>& m, int64_t p, int64_t q) const {
    for (int64_t j = 0; j < m.cols(); ++j) {
      const T x = m(p, j), y = m(q, j) * e;
      m(p, j) = c * x - s * y;
      m(q, j) = s * x + c * y;
    }
  }
};

template <typename T>
Matrix<T> Columns(const Matrix<T>& m, const std::vector<int64_t>& order) {
  Matrix<T> r(m.rows(), static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < m.rows(); ++i) {
    for (int64_t j = 0; j < r.cols(); ++j) r(i, j) = m(i, order[j]);
  }
  return r;
}

// Eigenvalues in ascending order and their vectors, of a Hermitian matrix.
template <typename T>
std::pair<std::vector<double>, Matrix<T>> Eigen(Matrix<T> a) {
  const int64_t n = a.rows();
  Matrix<T> v = Matrix<T>::Identity(n, n);
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const double size = std::fabs(Real(a(p, p))) + std::fabs(Real(a(q, q)));
        if (!(std::abs(a(p, q)) > size * 1e-17)) continue;
        turned = true;
        const Rotation<T> r(Real(a(p, p)), Real(a(q, q)), a(p, q));
        r.TurnColumns(a, p, q);
        r.TurnRows(a, p, q);
        a(p, q) = a(q, p) = T(0);
        r.TurnColumns(v, p, q);
      }
    }
    if (!turned) break;
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return Real(a(i, i)) < Real(a(j, j)); });
  std::vector<double> values;
  for (int64_t k : order) values.push_back(Real(a(k, k)));
  return {values, Columns(v, order)};
}

// Columns [have, m.cols()) filled so that all are orthonormal.
template <typename T>
void Complete(Matrix<T>& m, const std::vector<bool>& have) {
  std::vector<bool> done = have;
  done.resize(m.cols(), false);
  int64_t next = 0;
  for (int64_t j = 0; j < m.cols(); ++j) {
    while (!done[j] && next < m.rows()) {
      for (int64_t i = 0; i < m.rows(); ++i) m(i, j) = T(i == next ? 1 : 0);
      ++next;
      for (int pass = 0; pass < 2; ++pass) {
        for (int64_t k = 0; k < m.cols(); ++k) {
          if (!done[k]) continue;
          T dot(0);
          for (int64_t i = 0; i < m.rows(); ++i) dot += Conj(m(i, k)) * m(i, j);
          for (int64_t i = 0; i < m.rows(); ++i) m(i, j) -= dot * m(i, k);
        }
      }
      double norm = 0;
      for (int64_t i = 0; i < m.rows(); ++i) norm += std::norm(m(i, j));
      if (norm < 1e-8) continue;
      for (int64_t i = 0; i < m.rows(); ++i) m(i, j) /= std::sqrt(norm);
      done[j] = true;
    }
  }
}

template <typename T>
struct Svd {
  Matrix<T> u;  // rows x min, or rows x rows
  std::vector<double> s;
  Matrix<T> v;  // cols x min, or cols x cols; not adjoint
};

// By turning columns until they are orthogonal. a.rows() >= a.cols().
template <typename T>
Svd<T> TallSvd(Matrix<T> a, bool full) {
  const int64_t n = a.cols();
  Matrix<T> v = Matrix<T>::Identity(n, n);
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0, qq = 0;
        T g(0);
        for (int64_t i = 0; i < a.rows(); ++i) {
          pp += std::norm(a(i, p));
          qq += std::norm(a(i, q));
          g += Conj(a(i, p)) * a(i, q);
        }
        if (!(std::abs(g) > 1e-16 * std::sqrt(pp * qq))) continue;
        turned = true;
        const Rotation<T> r(pp, qq, g);
        r.TurnColumns(a, p, q);
        r.TurnColumns(v, p, q);
      }
    }
    if (!turned) break;
  }
  std::vector<double> norms;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows(); ++i) sum += std::norm(a(i, j));
    norms.push_back(std::sqrt(sum));
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return norms[i] > norms[j]; });
  Svd<T> svd{Matrix<T>(a.rows(), full ? a.rows() : n), {}, Columns(v, order)};
  const double least = n == 0 ? 0 : norms[order[0]] * std::numeric_limits<double>::epsilon();
  std::vector<bool> have;
  for (int64_t j = 0; j < n; ++j) {
    const double norm = norms[order[j]];
    svd.s.push_back(norm);
    have.push_back(norm > least);
    for (int64_t i = 0; have.back() && i < a.rows(); ++i) svd.u(i, j) = a(i, order[j]) / norm;
  }
  Complete(svd.u, have);
  return svd;
}

template <typename T>
Svd<T> SingularValues(const Matrix<T>& a, bool full) {
  if (a.rows() >= a.cols()) return TallSvd(a, full);
  Svd<T> svd = TallSvd(a.Adjoint(), full);
  std::swap(svd.u, svd.v);
  return svd;
}

}  // namespace lathe::linalg

#endif  // LATHE_IR_OPS_LINALG_HOST_FACTORS_H_
