// Cholesky, LU and QR.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/linalg/host_factors.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/result_rules.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

TensorType Numbers(DType dtype, std::vector<Expr> sizes, Device device) {
  return ContiguousType(dtype, std::move(sizes), device);
}

Expr Smaller(const TensorType& type) {
  return symbolic::Min(type.sizes[type.rank() - 2], type.sizes[type.rank() - 1]);
}

absl::Status FactorError(const HostArgs& args, int info, const char* what) {
  return FailedPrecondition(args.schema().name, ": ", what, " (order ", info, ")");
}

// ---- Cholesky ----

Types InferCholesky(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckSquare(c, 0));
  const TensorType& self = c.args.Type(0);
  return std::vector<ValueType>{ColumnMajor(self.dtype, self.sizes, self.device),
                                Numbers(DType::kI32, LeadingSizes(self, 2), self.device)};
}

Results EvaluateCholesky(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  const bool upper = c.args.Bool(1), check = c.args.Bool(2);
  Tensor out = c.Allocate(0), infos = c.Allocate(1);
  return VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) -> Results {
    auto batch = Batch<T>::Matrices(self);
    std::vector<int64_t> info;
    for (int64_t k = 0; k < batch.count(); ++k) {
      Matrix<T> m = upper ? batch[k].Adjoint() : batch[k];
      info.push_back(Cholesky(m));
      if (check && info.back() > 0) {
        return FactorError(c.args, static_cast<int>(info.back()),
                           "the input is not positive-definite");
      }
      batch.Put(k, upper ? m.Adjoint() : m);
    }
    batch.WriteTo(out);
    info.resize(infos.numel());
    FromVector<int64_t>(info, infos);
    return std::vector<HostValue>{out, infos};
  });
}

// ---- LU ----

Types InferLu(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  const TensorType& self = c.args.Type(0);
  const std::vector<Expr> leading = LeadingSizes(self, 2);
  return std::vector<ValueType>{
      ColumnMajor(self.dtype, self.sizes, self.device),
      Numbers(DType::kI32, Extended(leading, {Smaller(self)}), self.device),
      Numbers(DType::kI32, leading, self.device)};
}

Results EvaluateLu(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate(0), where = c.Allocate(1), infos = c.Allocate(2);
  return VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) -> Results {
    auto batch = Batch<T>::Matrices(self);
    std::vector<int64_t> pivots, info;
    for (int64_t k = 0; k < batch.count(); ++k) {
      Matrix<T> m = batch[k];
      info.push_back(LuFactor(m, c.args.Bool(1), pivots));
      if (c.args.Bool(2) && info.back() > 0) {
        return FactorError(c.args, static_cast<int>(info.back()), "U has a zero on its diagonal");
      }
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

Types InferLuUnpack(const InferContext& c) {
  const TensorType& lu = c.args.Type(0);
  if (lu.rank() < 2) return InvalidArgument("lu_unpack: expected matrices, got ", ToString(lu));
  if (c.args.Type(1).dtype != DType::kI32) {
    return InvalidArgument("lu_unpack: expected pivots of i32, got ", ToString(c.args.Type(1)));
  }
  const std::vector<Expr> leading = LeadingSizes(lu, 2);
  const Expr m = lu.sizes[lu.rank() - 2], n = lu.sizes[lu.rank() - 1], k = Smaller(lu);
  auto wanted = [&](bool present, std::vector<Expr> sizes) {
    return present ? Numbers(lu.dtype, Extended(leading, std::move(sizes)), lu.device)
                   : Numbers(lu.dtype, {0}, lu.device);
  };
  const bool data = c.args.Bool(2), pivots = c.args.Bool(3);
  return std::vector<ValueType>{wanted(pivots, {m, m}), wanted(data, {m, k}), wanted(data, {k, n})};
}

Results EvaluateLuUnpack(const EvaluateContext& c) {
  const Tensor& lu = c.args.Tensor(0);
  Tensor p = c.Allocate(0), l = c.Allocate(1), u = c.Allocate(2);
  const bool data = c.args.Bool(2), pivots = c.args.Bool(3);
  VisitField(lu.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto batch = Batch<T>::Matrices(lu);
    const std::vector<int64_t> where = ToVector<int64_t>(c.args.Tensor(1));
    const int64_t m = batch.rows(), n = batch.cols(), k = std::min(m, n);
    std::vector<T> all_p, all_l, all_u;
    for (int64_t at = 0; at < batch.count(); ++at) {
      const Matrix<T> a = batch[at];
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < k; ++j) all_l.push_back(i == j ? T(1) : j < i ? a(i, j) : T(0));
      }
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < n; ++j) all_u.push_back(j >= i ? a(i, j) : T(0));
      }
      std::vector<int64_t> row(m);
      std::iota(row.begin(), row.end(), 0);
      for (int64_t i = 0; pivots && i < k; ++i) std::swap(row[i], row[where[at * k + i] - 1]);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < m; ++j) all_p.push_back(row[j] == i ? T(1) : T(0));
      }
    }
    if (pivots) FromVector<T>(all_p, p);
    if (data) FromVector<T>(all_l, l);
    if (data) FromVector<T>(all_u, u);
  });
  return std::vector<HostValue>{p, l, u};
}

// ---- QR ----

Types InferGeqrf(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  const TensorType& self = c.args.Type(0);
  return std::vector<ValueType>{
      ColumnMajor(self.dtype, self.sizes, self.device),
      Numbers(self.dtype, Extended(LeadingSizes(self, 2), {Smaller(self)}), self.device)};
}

Results EvaluateGeqrf(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate(0), taus = c.Allocate(1);
  VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) {
    auto batch = Batch<T>::Matrices(self);
    std::vector<T> all;
    for (int64_t k = 0; k < batch.count(); ++k) {
      Matrix<T> m = batch[k];
      for (T tau : QrFactor(m)) all.push_back(tau);
      batch.Put(k, m);
    }
    batch.WriteTo(out);
    all.resize(taus.numel());
    FromVector<T>(all, taus);
  });
  return std::vector<HostValue>{out, taus};
}

template <typename T>
std::vector<T> TausOf(const Batch<T>& taus, int64_t k) {
  std::vector<T> values;
  const Matrix<T> m = taus[k];
  for (int64_t i = 0; i < m.rows(); ++i) values.push_back(m(i, 0));
  return values;
}

Types InferHouseholder(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  const TensorType& self = c.args.Type(0);
  const Expr m = self.sizes[self.rank() - 2], n = self.sizes[self.rank() - 1];
  if (symbolic::IsRefused(c.shapes, symbolic::Lt(m, n)) ||
      c.args.Type(1).rank() != self.rank() - 1) {
    return InvalidArgument(
        "linalg.householder_product: expected matrices with no more columns than rows and a "
        "vector of factors each, got ",
        ToString(self), " and ", ToString(c.args.Type(1)));
  }
  return std::vector<ValueType>{ColumnMajor(self.dtype, self.sizes, self.device)};
}

Results EvaluateHouseholder(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate();
  VisitField(self.dtype(), [&]<typename T>(TypeTag<T>) {
    auto batch = Batch<T>::Matrices(self);
    const auto taus = Batch<T>::Vectors(c.args.Tensor(1));
    for (int64_t k = 0; taus.rows() > 0 && k < batch.count(); ++k) {
      Matrix<T> q = Matrix<T>::Identity(batch.rows(), batch.cols());
      ApplyQ(batch[k], TausOf(taus, k), false, q);
      batch.Put(k, q);
    }
    batch.WriteTo(out);
  });
  return OneResult(out);
}

Types InferOrmqr(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 0));
  LATHE_RETURN_IF_ERROR(CheckMatrix(c, 2));
  const TensorType& other = c.args.Type(2);
  return std::vector<ValueType>{ColumnMajor(other.dtype, other.sizes, other.device)};
}

Results EvaluateOrmqr(const EvaluateContext& c) {
  const bool left = c.args.Bool(3), transpose = c.args.Bool(4);
  Tensor out = c.Allocate();
  VisitField(out.dtype(), [&]<typename T>(TypeTag<T>) {
    const auto reflectors = Batch<T>::Matrices(c.args.Tensor(0));
    const auto taus = Batch<T>::Vectors(c.args.Tensor(1));
    auto batch = Batch<T>::Matrices(c.args.Tensor(2));
    for (int64_t k = 0; taus.rows() > 0 && k < batch.count(); ++k) {
      Matrix<T> m = left ? batch[k] : batch[k].Adjoint();
      // c op(Q) = (op(Q)^H c^H)^H
      ApplyQ(reflectors[k], TausOf(taus, k), left == transpose, m);
      batch.Put(k, left ? m : m.Adjoint());
    }
    batch.WriteTo(out);
  });
  return OneResult(out);
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

std::vector<OpRow> FactorRows() {
  return {
      Row("aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
          "(Tensor L, Tensor info)",
          "The triangular factor of positive-definite matrices; info: the order of the first "
          "leading minor that is not positive, or 0.",
          InferCholesky, EvaluateCholesky, {"aten.linalg_cholesky_ex(f64[1, 1])"}),
      Row("aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
          "(Tensor LU, Tensor pivots, Tensor info)",
          "L and U in one matrix, rows swapped as pivots says; info: the first zero pivot, or 0.",
          InferLu, EvaluateLu, {"aten.linalg_lu_factor_ex(f32[3, 5])"}),
      Row("aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
          "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
          "The factors of an LU factorisation as matrices.", InferLuUnpack, EvaluateLuUnpack, {}),
      Row("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
          "R and the reflectors whose product is Q, in one matrix.", InferGeqrf, EvaluateGeqrf,
          {"aten.geqrf(f32[4, 3])"}),
      Row("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
          "The first columns of a product of reflectors.", InferHouseholder, EvaluateHouseholder,
          {"aten.linalg_householder_product(f32[4, 3], f32[3])"}),
      Row("aten::orgqr(Tensor self, Tensor input2) -> Tensor",
          "The first columns of a product of reflectors.", InferHouseholder, EvaluateHouseholder,
          {"aten.orgqr(f32[4, 3], f32[3])"}),
      Row("aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool "
          "transpose=False) -> Tensor",
          "A matrix multiplied by a product of reflectors.", InferOrmqr, EvaluateOrmqr,
          {"aten.ormqr(f32[4, 3], f32[3], f32[4, 2])"}),
  };
}

}  // namespace lathe::linalg
