// Complex tensors from real ones and back. No loops compute complex numbers: these run on the host.

#include <cmath>
#include <complex>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;
using Complex = std::complex<double>;

absl::Status CheckComplex(const InferContext& c, bool wanted) {
  if (IsComplex(c.args.Type(0).dtype) == wanted) return absl::OkStatus();
  return InvalidArgument(c.args.schema().name, ": expected ",
                         wanted ? "complex numbers" : "real numbers", ", got ",
                         ToString(c.args.Type(0)));
}

// A row of one tensor: `infer` gives the dtype and sizes of the result, which is contiguous, and
// `map` its elements.
struct DenseType {
  DType dtype;
  std::vector<Expr> sizes;
};
template <typename From, typename To>
OpRow MappedRow(std::string schema, std::string doc,
                absl::StatusOr<DenseType> (*infer)(const InferContext&),
                std::vector<To> (*map)(std::vector<From>)) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [infer](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(DenseType type, infer(c));
    return std::vector<ValueType>{
        ContiguousType(type.dtype, std::move(type.sizes), c.args.Type(0).device)};
  };
  row.evaluate = [map](const EvaluateContext& c) -> Results {
    Tensor out = c.Allocate();
    FromVector<To>(map(ToVector<From>(c.args.Tensor(0))), out);
    return OneResult(out);
  };
  return row;
}

// From two tensors of parts, which broadcast.
OpRow JoinRow(std::string schema, std::string doc, Complex (*join)(double, double)) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [](const InferContext& c) -> Types {
    LATHE_RETURN_IF_ERROR(CheckComplex(c, false));
    const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
    const std::optional<DType> dtype = ComplexOf(a.dtype);
    if (!dtype || a.dtype != b.dtype) {
      return InvalidArgument(c.args.schema().name, ": expected two tensors of one float type, got ",
                             ToString(a), " and ", ToString(b));
    }
    LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, BroadcastSizes({a.sizes, b.sizes}, c.shapes));
    return std::vector<ValueType>{ContiguousType(*dtype, sizes, a.device)};
  };
  row.evaluate = [join](const EvaluateContext& c) -> Results {
    Tensor out = c.Allocate();
    const std::vector<double> a = ToVector<double>(BroadcastTo(c.args.Tensor(0), out.sizes()));
    const std::vector<double> b = ToVector<double>(BroadcastTo(c.args.Tensor(1), out.sizes()));
    std::vector<Complex> joined;
    for (size_t k = 0; k < a.size(); ++k) joined.push_back(join(a[k], b[k]));
    FromVector<Complex>(joined, out);
    return OneResult(out);
  };
  return row;
}

// Real numbers stay as they are.
OpRow ConjugateRow(const std::string& name) {
  OpRow row = MappedRow<Complex, Complex>(
      "aten::" + name + "(Tensor self) -> Tensor", "The conjugates, in memory.",
      [](const InferContext& c) -> absl::StatusOr<DenseType> {
        return DenseType{c.args.Type(0).dtype, c.args.Type(0).sizes};
      },
      [](std::vector<Complex> values) {
        for (Complex& z : values) z = std::conj(z);
        return values;
      });
  row.evaluate = [conjugate = std::move(row.evaluate)](const EvaluateContext& c) -> Results {
    if (IsComplex(c.args.Tensor(0).dtype())) return conjugate(c);
    Tensor out = c.Allocate();
    out.CopyFrom(c.args.Tensor(0));
    return OneResult(out);
  };
  return row;
}

OpRow ViewAsRealRow() {
  return MappedRow<Complex, double>(
      "aten::view_as_real(Tensor self) -> Tensor",
      "The parts of complex numbers along one more dimension of 2.",
      [](const InferContext& c) -> absl::StatusOr<DenseType> {
        LATHE_RETURN_IF_ERROR(CheckComplex(c, true));
        std::vector<Expr> sizes = c.args.Type(0).sizes;
        sizes.push_back(2);
        return DenseType{ComplexPart(c.args.Type(0).dtype), std::move(sizes)};
      },
      [](std::vector<Complex> values) {
        std::vector<double> parts;
        for (const Complex& z : values) parts.insert(parts.end(), {z.real(), z.imag()});
        return parts;
      });
}

OpRow ViewAsComplexRow() {
  return MappedRow<double, Complex>(
      "aten::view_as_complex(Tensor self) -> Tensor",
      "Complex numbers of pairs along the last dimension.",
      [](const InferContext& c) -> absl::StatusOr<DenseType> {
        const TensorType& self = c.args.Type(0);
        const std::optional<DType> dtype = ComplexOf(self.dtype);
        if (!dtype || self.rank() == 0 ||
            c.shapes.IsKnownFalse(symbolic::Eq(self.sizes.back(), 2))) {
          return InvalidArgument(c.args.schema().name,
                                 ": expected floats with a last dimension of 2, got ",
                                 ToString(self));
        }
        return DenseType{*dtype, std::vector<Expr>(self.sizes.begin(), self.sizes.end() - 1)};
      },
      [](std::vector<double> parts) {
        std::vector<Complex> joined;
        for (size_t k = 0; k + 1 < parts.size(); k += 2) {
          joined.emplace_back(parts[k], parts[k + 1]);
        }
        return joined;
      });
}

}  // namespace

std::vector<OpRow> ComplexRows() {
  return {
      ViewAsRealRow(),
      ViewAsComplexRow(),
      ConjugateRow("_conj"),
      ConjugateRow("conj_physical"),
      JoinRow("aten::complex(Tensor real, Tensor imag) -> Tensor",
              "Complex numbers of their parts.", [](double a, double b) { return Complex(a, b); }),
      JoinRow("aten::polar(Tensor abs, Tensor angle) -> Tensor",
              "Complex numbers of their magnitude and angle.",
              [](double a, double b) { return Complex(a * std::cos(b), a * std::sin(b)); })};
}

}  // namespace lathe
