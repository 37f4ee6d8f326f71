// Running sums, products and extrema along a dimension.

#include <cmath>
#include <complex>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "dtypes/promotion.h"
#include "ir/ops/families.h"
#include "ir/ops/sort/lines.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

absl::StatusOr<int> DimOf(const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(1));
  return WrapDim(dim, args.Type(0).rank());
}

// cumsum and cumprod: small integers accumulate in i64 unless a dtype is asked for.
Types InferTotal(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(DimOf(c.args).status());
  const TensorType& x = c.args.Type(0);
  const DType dtype = c.args.OptionalDType(2).value_or(SumType(x.dtype));
  return std::vector<ValueType>{ContiguousType(dtype, x.sizes, x.device)};
}

LowerFunction LowerScan(absl::string_view op) {
  return [op = std::string(op)](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
    ExternLoops scan;
    scan.id = "cumulative";
    scan.attributes = absl::StrCat("op=", op, ";dim=", dim);
    scan.inputs = {c.args.Tensor(0)};
    scan.contiguous_inputs = {true};
    return std::vector<Lowered>{std::move(scan)};
  };
}

// Sums of 16-bit floats and less accumulate in f32, of f32 in f64, integers at their own width.
Scalar Combine(const Scalar& total, const Scalar& x, bool multiplies, DType dtype) {
  if (IsComplex(dtype)) {
    const std::complex<double> a = total.ToComplex(), b = x.ToComplex();
    return multiplies ? a * b : a + b;
  }
  if (IsFloat(dtype)) {
    const double a = total.ToDouble(), b = x.ToDouble();
    const double r = multiplies ? a * b : a + b;
    return BitWidth(dtype) <= 16 ? Scalar(static_cast<double>(static_cast<float>(r))) : Scalar(r);
  }
  const uint64_t a = total.ToUInt(), b = x.ToUInt();
  return Convert(Scalar(static_cast<int64_t>(multiplies ? a * b : a + b)), dtype);
}

EvaluateFunction EvaluateTotal(bool multiplies) {
  return [multiplies](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    const Tensor& x = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), x.rank()));
    const Lines in(x, dim), to(out, dim);
    for (int64_t line = 0; line < in.count(); ++line) {
      Scalar total = multiplies ? 1 : 0;
      for (int64_t k = 0; k < in.length(); ++k) {
        total = Combine(total, Convert(in.Get(line, k), out.dtype()), multiplies, out.dtype());
        to.Set(line, k, total);
      }
    }
    return std::vector<HostValue>{out};
  };
}

OpRow TotalRow(std::string schema, std::string doc, absl::string_view op,
               std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = InferTotal;
  row.lower = LowerScan(op);
  row.evaluate = EvaluateTotal(op == "prod");
  row.samples = std::move(samples);
  return row;
}

Types InferExtremum(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(DimOf(c.args).status());
  const TensorType& x = c.args.Type(0);
  return std::vector<ValueType>{ContiguousType(x.dtype, x.sizes, x.device),
                                ContiguousType(DType::kI64, x.sizes, x.device)};
}

bool IsNan(const Scalar& s) { return s.is_float() && std::isnan(s.ToDouble()); }

// The last of equal elements is reported; NaN stays.
bool Replaces(const Scalar& x, const Scalar& best, bool max) {
  if (IsNan(x)) return true;
  if (IsNan(best)) return false;
  return max ? !(x < best) : !(best < x);
}

EvaluateFunction EvaluateExtremum(bool max) {
  return [max](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor values = c.Allocate(0), indices = c.Allocate(1);
    const Tensor& x = c.args.Tensor(0);
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), x.rank()));
    const Lines in(x, dim), to(values, dim), where(indices, dim);
    for (int64_t line = 0; line < in.count(); ++line) {
      Scalar best;
      int64_t at = 0;
      for (int64_t k = 0; k < in.length(); ++k) {
        const Scalar element = in.Get(line, k);
        if (k == 0 || Replaces(element, best, max)) {
          best = element;
          at = k;
        }
        to.Set(line, k, best);
        where.Set(line, k, Scalar(at));
      }
    }
    return std::vector<HostValue>{values, indices};
  };
}

OpRow ExtremumRow(std::string schema, bool max, std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = max ? "Running maxima and where the last of them is. NaN stays."
                : "Running minima and where the last of them is. NaN stays.";
  row.infer = InferExtremum;
  row.lower = LowerScan(max ? "max" : "min");
  row.evaluate = EvaluateExtremum(max);
  row.samples = std::move(samples);
  return row;
}

double LogAddExp(double a, double b) {
  if (std::isinf(a) && a == b) return a;
  const double hi = std::fmax(a, b), lo = std::fmin(a, b);
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return hi + std::log1p(std::exp(lo - hi));
}

OpRow LogRow() {
  OpRow row;
  row.schema = "aten::logcumsumexp(Tensor self, int dim) -> Tensor";
  row.doc = "The logarithm of running sums of exponentials, without overflow.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(DimOf(c.args).status());
    const TensorType& x = c.args.Type(0);
    return std::vector<ValueType>{ContiguousType(x.dtype, x.sizes, x.device)};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    const Tensor& x = c.args.Tensor(0);
    if (IsComplex(x.dtype())) return Unimplemented("logcumsumexp of complex numbers");
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), x.rank()));
    const Lines in(x, dim), to(out, dim);
    for (int64_t line = 0; line < in.count(); ++line) {
      double total = -INFINITY;
      for (int64_t k = 0; k < in.length(); ++k) {
        total = LogAddExp(total, in.Get(line, k).ToDouble());
        to.Set(line, k, Scalar(total));
      }
    }
    return std::vector<HostValue>{out};
  };
  row.samples = {"aten.logcumsumexp(f32[3, 5], 1)"};
  return row;
}

}  // namespace

std::vector<OpRow> ScanRows() {
  std::vector<OpRow> rows;
  rows.push_back(TotalRow("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                          "Running sums; small integers in i64.", "sum",
                          {"aten.cumsum(f32[3, 5], 1)", "aten.cumsum(u8[7], 0)"}));
  rows.push_back(
      TotalRow("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
               "Running products; small integers in i64.", "prod", {"aten.cumprod(f32[3, 5], 0)"}));
  rows.push_back(
      ExtremumRow("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", true,
                  {"aten.cummax(f32[3, 5], 1)"}));
  rows.push_back(
      ExtremumRow("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", false,
                  {"aten.cummin(i32[5], 0)"}));
  rows.push_back(LogRow());
  return rows;
}

}  // namespace lathe
