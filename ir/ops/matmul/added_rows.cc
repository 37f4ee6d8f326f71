// beta * self + alpha * product: the product, and a pointwise rest that fuses with it as an
// epilogue. f16 and bf16 results are rounded once, so the product keeps f32.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "dtypes/promotion.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

bool IsNumber(const Scalar& s, int64_t v) { return s == Scalar(v); }

// beta * self + alpha * product in the product's dtype, rounded to `dtype`. A beta of 0 leaves self
// out, NaN or not.
Value* ScaleAndAdd(Builder& b, Value* self, Value* product, const Scalar& beta, const Scalar& alpha,
                   DType dtype) {
  if (product == nullptr) return nullptr;
  Value* result = IsNumber(alpha, 1) ? product : MulScalar(b, product, alpha);
  if (!IsNumber(beta, 0)) {
    Value* added = CastTo(b, self, TypeOf(product).dtype);
    if (!IsNumber(beta, 1)) added = MulScalar(b, added, beta);
    result = Add(b, result, added);
  }
  return CastTo(b, result, dtype);
}

absl::Status CheckAdded(const OpArgs& args) {
  const TensorType &self = args.Type(0), &first = args.Type(1);
  if (self.dtype != first.dtype) {
    return InvalidArgument(args.schema().name, ": self and mat1 must have the same dtype, but got ",
                           Name(self.dtype), " and ", Name(first.dtype));
  }
  return absl::OkStatus();
}

// addmm and baddbmm.
DecomposeFunction AddProduct(std::string product) {
  return [product](Builder& b, const OpArgs& args) -> Decomposed {
    LATHE_RETURN_IF_ERROR(CheckAdded(args));
    const DType dtype = args.Type(1).dtype;
    Value* value =
        b.Call(product, {args.Tensor(1), args.Tensor(2)}, {{"out_dtype", ComputeType(dtype)}});
    return OneArgument(
        ScaleAndAdd(b, args.Tensor(0), value, args.Number(3), args.Number(4), dtype));
  };
}

// The product of a matrix and a vector in the type it is summed in.
Value* MatrixVector(Builder& b, Value* matrix, Value* vector, DType out_dtype) {
  Value* column = b.Call("aten.unsqueeze", {vector, 1});
  Value* product = b.Call("lathe.mm", {matrix, column}, {{"out_dtype", out_dtype}});
  return b.Call("aten.squeeze.dim", {product, 1});
}

absl::Status CheckVector(const OpArgs& args, int matrix, int vector) {
  const TensorType &m = args.Type(matrix), &v = args.Type(vector);
  if (m.rank() != 2 || v.rank() != 1) {
    return InvalidArgument(args.schema().name, ": vector + matrix @ vector expected, got ",
                           ToString(m), " and ", ToString(v));
  }
  return absl::OkStatus();
}

// ---- dot and vdot ----

absl::StatusOr<std::vector<ValueType>> InferDot(const InferContext& c) {
  const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
  if (a.rank() != 1 || b.rank() != 1) {
    return InvalidArgument(c.args.schema().name, ": 1D tensors expected, but got ", a.rank(),
                           "D and ", b.rank(), "D tensors");
  }
  if (a.dtype != b.dtype) {
    return InvalidArgument("dot : expected both vectors to have same dtype, but found ",
                           Name(a.dtype), " and ", Name(b.dtype));
  }
  if (!symbolic::IsAccepted(c.shapes, symbolic::Eq(a.sizes[0], b.sizes[0]), c.asker)) {
    return InvalidArgument("inconsistent tensor size, expected tensor ", ToString(a), " and src ",
                           ToString(b), " to have the same number of elements");
  }
  return std::vector<ValueType>{ContiguousType(a.dtype, {}, a.device)};
}

// A product of two vectors is a sum of products, which fuses where it is used.
Decomposed DecomposeDot(Builder& b, const OpArgs& args) {
  const DType dtype = args.Type(0).dtype;
  Value* products = Mul(b, Widen(b, args.Tensor(0)), Widen(b, args.Tensor(1)));
  Value* sum = b.Call("aten.sum", {products}, {{"dtype", ComputeType(dtype)}});
  return OneArgument(CastTo(b, sum, dtype));
}

template <typename T>
T DotOf(const Tensor& a, const Tensor& b, bool conjugate) {
  std::vector<T> x = ToVector<T>(a), y = ToVector<T>(b);
  T sum = T(0);
  for (size_t k = 0; k < x.size(); ++k) {
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      sum += (conjugate ? std::conj(x[k]) : x[k]) * y[k];
    } else {
      sum += x[k] * y[k];
    }
  }
  return sum;
}

EvaluateFunction EvaluateDot(bool conjugate) {
  return [conjugate](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    const Tensor &a = c.args.Tensor(0), &b = c.args.Tensor(1);
    if (IsComplex(a.dtype())) {
      FromVector<std::complex<double>>({DotOf<std::complex<double>>(a, b, conjugate)}, out);
    } else if (IsFloat(a.dtype())) {
      FromVector<double>({DotOf<double>(a, b, false)}, out);
    } else {
      FromVector<uint64_t>({DotOf<uint64_t>(a, b, false)}, out);
    }
    return OneResult(out);
  };
}

Decomposed DecomposeAddbmm(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckAdded(args));
  const DType dtype = args.Type(1).dtype, wide = ComputeType(dtype);
  Value* products = b.Call("lathe.bmm", {args.Tensor(1), args.Tensor(2)}, {{"out_dtype", wide}});
  Value* sum =
      b.Call("aten.sum.dim_IntList", {products, std::vector<Expr>{0}, false}, {{"dtype", wide}});
  return OneArgument(ScaleAndAdd(b, args.Tensor(0), sum, args.Number(3), args.Number(4), dtype));
}

Decomposed DecomposeAddmv(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckAdded(args));
  LATHE_RETURN_IF_ERROR(CheckVector(args, 1, 2));
  const DType dtype = args.Type(1).dtype;
  Value* product = MatrixVector(b, args.Tensor(1), args.Tensor(2), ComputeType(dtype));
  return OneArgument(
      ScaleAndAdd(b, args.Tensor(0), product, args.Number(3), args.Number(4), dtype));
}

Decomposed DecomposeMv(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckVector(args, 0, 1));
  return OneArgument(MatrixVector(b, args.Tensor(0), args.Tensor(1), args.Type(0).dtype));
}

Decomposed DecomposeOuter(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != 1 || args.Type(1).rank() != 1) {
    return InvalidArgument(args.schema().name, ": expected two 1-D tensors, got ",
                           ToString(args.Type(0)), " and ", ToString(args.Type(1)));
  }
  Value* column = b.Call("aten.unsqueeze", {args.Tensor(0), 1});
  return OneArgument(Mul(b, column, args.Tensor(1)));
}

// The result has the promoted type of all three; eager rounds after every step of it.
Decomposed DecomposeAddr(Builder& b, const OpArgs& args) {
  if (args.Type(1).rank() != 1 || args.Type(2).rank() != 1) {
    return InvalidArgument("addr: Expected 1-D argument vec1 and vec2, but got ",
                           ToString(args.Type(1)), " and ", ToString(args.Type(2)));
  }
  DType dtype = args.Type(0).dtype;
  for (int i : {1, 2}) {
    LATHE_ASSIGN_OR_RETURN(dtype, PromoteTypes(dtype, args.Type(i).dtype));
  }
  auto number = [&](int i) {
    return IsFloat(dtype) ? Convert(args.Number(i), dtype) : args.Number(i);
  };
  Value* column = b.Call("aten.unsqueeze", {CastTo(b, args.Tensor(1), dtype), 1});
  if (!IsNumber(number(4), 1)) column = MulScalar(b, column, number(4));
  Value* product = Mul(b, column, CastTo(b, args.Tensor(2), dtype));
  return OneArgument(ScaleAndAdd(b, args.Tensor(0), product, number(3), Scalar(1), dtype));
}

// The product of three tensors with dimensions of size 1 put in, summed over some: eager multiplies
// two at a time and sums what it can in between.
Decomposed DecomposeTrilinear(Builder& b, const OpArgs& args) {
  const DType dtype = args.Type(0).dtype;
  Value* factors[3];
  for (int i : {0, 1, 2}) {
    factors[i] = Widen(b, args.Tensor(i));
    for (const Expr& dim : args.Ints(3 + i)) {
      factors[i] = b.Call("aten.unsqueeze", {factors[i], dim});
    }
  }
  std::vector<Expr> at_once, later;
  const std::vector<Expr> third = args.Ints(5);
  for (const Expr& dim : args.Ints(6)) {
    const bool is_flat = std::find(third.begin(), third.end(), dim) != third.end();
    (is_flat ? at_once : later).push_back(dim);
  }
  Value* product = Mul(b, factors[0], factors[1]);
  if (!at_once.empty()) product = b.Call("aten.sum.dim_IntList", {product, at_once, true});
  product = Mul(b, Widen(b, CastTo(b, product, dtype)), factors[2]);
  if (!later.empty()) product = b.Call("aten.sum.dim_IntList", {product, later, true});
  if (!args.Ints(6).empty()) product = b.Call("aten.squeeze.dims", {product, args.Ints(6)});
  return OneArgument(CastTo(b, product, dtype));
}

}  // namespace

std::vector<OpRow> AddedRows() {
  const std::string scales = ", *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  std::vector<OpRow> rows;
  rows.push_back(DecomposedRow("aten::addmm(Tensor self, Tensor mat1, Tensor mat2" + scales,
                               "beta * self + alpha * (mat1 @ mat2); beta 0 ignores self.",
                               AddProduct("lathe.mm"),
                               {"aten.addmm(f32[5], f32[3, 4], f32[4, 5])",
                                "aten.addmm(f16[3, 5], f16[3, 4], f16[4, 5], beta=0.5, alpha=2)"}));
  rows.push_back(DecomposedRow("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2" + scales,
                               "beta * self + alpha * batched products.", AddProduct("lathe.bmm"),
                               {"aten.baddbmm(f32[2, 3, 5], f32[2, 3, 4], f32[2, 4, 5])"}));
  rows.push_back(DecomposedRow("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2" + scales,
                               "beta * self + alpha * the sum of batched products.",
                               DecomposeAddbmm,
                               {"aten.addbmm(f32[3, 5], f32[2, 3, 4], f32[2, 4, 5])"}));
  rows.push_back(DecomposedRow("aten::addmv(Tensor self, Tensor mat, Tensor vec" + scales,
                               "beta * self + alpha * (mat @ vec).", DecomposeAddmv,
                               {"aten.addmv(f32[3], f32[3, 4], f32[4])"}));
  rows.push_back(DecomposedRow("aten::mv(Tensor self, Tensor vec) -> Tensor",
                               "The product of a matrix and a vector.", DecomposeMv,
                               {"aten.mv(f32[3, 4], f32[4])"}));
  rows.push_back(DecomposedRow("aten::addr(Tensor self, Tensor vec1, Tensor vec2" + scales,
                               "beta * self + alpha * the outer product of two vectors.",
                               DecomposeAddr, {"aten.addr(f32[3, 4], f32[3], f32[4])"}));
  rows.push_back(DecomposedRow(
      "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
      "expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
      "The product of three tensors, summed over dimensions.", DecomposeTrilinear, {}));
  for (const char* name : {"outer", "ger"}) {
    rows.push_back(
        CompositeRow(std::string("aten::") + name + "(Tensor self, Tensor vec2) -> Tensor",
                     "All products of an element of self with one of vec2.", DecomposeOuter,
                     {std::string("aten.") + name + "(f32[3], f32[4])"}));
  }
  for (const char* name : {"dot", "vdot"}) {
    OpRow row = DecomposedRow(std::string("aten::") + name + "(Tensor self, Tensor " +
                                  (std::string(name) == "dot" ? "tensor" : "other") + ") -> Tensor",
                              "The sum of products of two vectors; vdot conjugates the first.",
                              DecomposeDot, {std::string("aten.") + name + "(f32[s0], f32[s0])"});
    row.infer = InferDot;
    row.evaluate = EvaluateDot(std::string(name) == "vdot");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
