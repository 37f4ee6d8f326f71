// Norms of vectors and matrices by their users' names, and what is made of singular values.

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/linalg/matrix_types.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe::linalg {
namespace {

using Decomposed = absl::StatusOr<Arguments>;
using Named = std::vector<std::pair<std::string, CallArgument>>;

std::vector<Expr> Dims(std::initializer_list<int> dims) { return {dims.begin(), dims.end()}; }

// What a call asks of a matrix norm.
struct MatrixNorm {
  Value* matrix = nullptr;
  int rows = 0, columns = 1;  // the matrices' dimensions
  bool keepdim = false;
  std::optional<DType> dtype;

  Named Options() const { return dtype ? Named{{"dtype", *dtype}} : Named{}; }
};

absl::StatusOr<MatrixNorm> MatrixNormOf(const OpArgs& args, std::vector<int64_t> dims, bool keepdim,
                                        std::optional<DType> dtype) {
  MatrixNorm norm{args.Tensor(0), 0, 1, keepdim, dtype};
  const TensorType& self = args.Type(0);
  if (self.rank() < 2 || dims.size() != 2) {
    return InvalidArgument(args.schema().name,
                           ": expected matrices and two dimensions that hold them, got ",
                           ToString(self), " and ", dims.size(), " dimensions");
  }
  LATHE_ASSIGN_OR_RETURN(norm.rows, WrapDim(dims[0], self.rank()));
  LATHE_ASSIGN_OR_RETURN(norm.columns, WrapDim(dims[1], self.rank()));
  if (norm.rows == norm.columns) {
    return InvalidArgument(args.schema().name, ": dims must be different, got ", dims[0], " and ",
                           dims[1]);
  }
  if (!IsFloat(dtype.value_or(self.dtype)) && !IsComplex(dtype.value_or(self.dtype))) {
    return InvalidArgument(args.schema().name,
                           ": expected a floating point or complex tensor as input. Got ",
                           Name(dtype.value_or(self.dtype)));
  }
  return norm;
}

// The singular values of the matrices, along a new last dimension.
Value* SingularValues(Builder& b, const MatrixNorm& n) {
  Value* x = n.dtype ? CastTo(b, n.matrix, *n.dtype) : n.matrix;
  std::vector<Expr> order;
  for (int d = 0; x != nullptr && d < TypeOf(x).rank(); ++d) {
    if (d != n.rows && d != n.columns) order.push_back(d);
  }
  order.insert(order.end(), {n.rows, n.columns});
  return b.Call("aten.linalg_svdvals", {b.Call("aten.permute", {x, order})});
}

// Dimensions of size 1 where the matrices' were.
Value* Kept(Builder& b, Value* x, const MatrixNorm& n) {
  if (!n.keepdim) return x;
  const int rank = TypeOf(n.matrix).rank();
  std::vector<Expr> order(rank, 0);
  int next = 0;
  for (int d = 0; d < rank; ++d) {
    order[d] = d == n.rows ? rank - 2 : d == n.columns ? rank - 1 : next++;
  }
  x = b.Call("aten.unsqueeze", {b.Call("aten.unsqueeze", {x, -1}), -1});
  return b.Call("aten.permute", {x, order});
}

Value* Frobenius(Builder& b, const MatrixNorm& n) {
  return b.Call("aten.linalg_vector_norm",
                {n.matrix, Scalar(2), Dims({n.rows, n.columns}), n.keepdim}, n.Options());
}

Decomposed NormByName(Builder& b, const MatrixNorm& n, const std::string& order) {
  if (order == "fro") return OneArgument(Frobenius(b, n));
  if (order != "nuc") {
    return InvalidArgument("linalg.matrix_norm: Order ", order, " not supported.");
  }
  Value* sum = b.Call("aten.sum.dim_IntList", {SingularValues(b, n), Dims({-1}), false});
  return OneArgument(Kept(b, sum, n));
}

Decomposed NormByOrder(Builder& b, const MatrixNorm& n, double order) {
  const double size = std::fabs(order);
  if (size != 1 && size != 2 && !std::isinf(size)) {
    return InvalidArgument("linalg.matrix_norm: Order ", order, " not supported.");
  }
  const char* extremum = order > 0 ? "aten.amax" : "aten.amin";
  if (size == 2) {
    Value* values = SingularValues(b, n);
    return OneArgument(Kept(b, b.Call(extremum, {values, Dims({-1}), false}), n));
  }
  // The largest sum of a column, or of a row.
  int summed = n.rows, compared = n.columns;
  if (std::isinf(size)) std::swap(summed, compared);
  Value* sums = b.Call("aten.linalg_vector_norm", {n.matrix, Scalar(1), Dims({summed}), n.keepdim},
                       n.Options());
  if (!n.keepdim && compared > summed) --compared;
  return OneArgument(b.Call(extremum, {sums, Dims({compared}), n.keepdim}));
}

// linalg_matrix_norm(self, ord, dim, keepdim, *, dtype)
Decomposed DecomposeMatrixNorm(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, args.ConstantInts(2));
  LATHE_ASSIGN_OR_RETURN(MatrixNorm norm,
                         MatrixNormOf(args, dims, args.Bool(3), args.OptionalDType(4)));
  if (args.schema().arguments[1].type == SchemaArgument::Type::kString) {
    return NormByName(b, norm, args.String(1));
  }
  return NormByOrder(b, norm, args.Number(1).ToDouble());
}

// linalg_norm(self, ord, dim, keepdim, *, dtype): of vectors, or of matrices where an order and two
// dimensions are given.
Decomposed DecomposeNorm(Builder& b, const OpArgs& args) {
  const int rank = args.Type(0).rank();
  std::vector<int64_t> dims = {0, 1};
  if (!args.IsNone(2)) {
    LATHE_ASSIGN_OR_RETURN(dims, args.ConstantInts(2));
    if (dims.size() != 1 && dims.size() != 2) {
      return InvalidArgument("linalg.norm: If dim is specified, it must be of length 1 or 2.");
    }
  } else if (!args.IsNone(1) && rank != 1 && rank != 2) {
    return InvalidArgument(
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", rank,
        "D.");
  }
  const bool is_name = args.schema().arguments[1].type == SchemaArgument::Type::kString;
  const bool is_matrix = args.IsNone(2) ? rank == 2 : dims.size() == 2;
  if (is_name || (!args.IsNone(1) && is_matrix)) {
    LATHE_ASSIGN_OR_RETURN(MatrixNorm norm,
                           MatrixNormOf(args, dims, args.Bool(3), args.OptionalDType(4)));
    return is_name ? NormByName(b, norm, args.String(1))
                   : NormByOrder(b, norm, args.Number(1).ToDouble());
  }
  const Scalar order = args.IsNone(1) ? Scalar(2) : args.Number(1);
  return OneArgument(
      b.Call("aten.linalg_vector_norm", {args[0], order, args[2], args[3]}, {{"dtype", args[4]}}));
}

Decomposed DecomposeFrobenius(Builder& b, const OpArgs& args) {
  if (args.Ints(1).size() > 2) {
    return InvalidArgument("Expected at most 2 dimensions, but got ", args.Ints(1).size(),
                           " dimensions instead.");
  }
  return OneArgument(b.Call("aten.linalg_vector_norm", {args[0], Scalar(2), args[1], args[2]}));
}

Decomposed DecomposeNuclear(Builder& b, const OpArgs& args) {
  std::vector<int64_t> dims = {0, 1};
  const bool has_dims = args.size() == 3;
  if (has_dims) {
    LATHE_ASSIGN_OR_RETURN(dims, args.ConstantInts(1));
  } else if (args.Type(0).rank() != 2) {
    return InvalidArgument("nuclear_norm: expected a matrix, got ", ToString(args.Type(0)));
  }
  LATHE_ASSIGN_OR_RETURN(MatrixNorm norm,
                         MatrixNormOf(args, dims, args.Bool(has_dims ? 2 : 1), std::nullopt));
  return NormByName(b, norm, "nuc");
}

// ---- linalg_cond, linalg_matrix_rank ----

Decomposed DecomposeCondition(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(MatrixNorm norm, MatrixNormOf(args, {-2, -1}, false, std::nullopt));
  const double order = args.IsNone(1) ? 2 : args.Number(1).ToDouble();
  if (std::fabs(order) != 2) {
    return Unimplemented("linalg_cond by other than singular values (p=", order, ")");
  }
  Value* values = SingularValues(b, norm);
  Value* first = b.Call("aten.select.int", {values, -1, 0});
  Value* last = b.Call("aten.select.int", {values, -1, -1});
  if (order < 0) std::swap(first, last);
  return OneArgument(Div(b, first, last));
}

// The number of singular values (of Hermitian matrices: sizes of eigenvalues) above a tolerance:
// `atol`, or `rtol` times the largest one.
Decomposed Rank(Builder& b, const OpArgs& args, double atol, std::optional<double> rtol,
                bool hermitian) {
  LATHE_ASSIGN_OR_RETURN(MatrixNorm norm, MatrixNormOf(args, {-2, -1}, false, std::nullopt));
  Value* values = hermitian ? b.Call("aten.abs", {b.Call("aten.linalg_eigvalsh", {args[0]})})
                            : SingularValues(b, norm);
  if (values == nullptr) return b.status();
  if (!rtol) {
    const TensorType& self = args.Type(0);
    const auto m = self.sizes[norm.rows].AsInt(), n = self.sizes[norm.columns].AsInt();
    if (!m || !n) return Unimplemented("linalg_matrix_rank of matrices of symbolic size");
    const double epsilon = RealType(self.dtype) == DType::kF64
                               ? std::numeric_limits<double>::epsilon()
                               : std::numeric_limits<float>::epsilon();
    rtol = atol > 0 ? 0 : epsilon * static_cast<double>(std::max(*m, *n));
  }
  Value* largest = b.Call("aten.amax", {values, Dims({-1}), true});
  Value* tolerance = b.Call("aten.clamp_min", {MulScalar(b, largest, Scalar(*rtol)), Scalar(atol)});
  Value* above = b.Call("aten.gt.Tensor", {values, tolerance});
  return OneArgument(b.Call("aten.sum.dim_IntList", {above, Dims({-1})}));
}

// ---- Products ----

Decomposed DecomposeVecdot(Builder& b, const OpArgs& args) {
  if (IsComplex(args.Type(0).dtype)) return Unimplemented("linalg_vecdot of complex numbers");
  if (args.Type(0).dtype != args.Type(1).dtype) {
    return InvalidArgument("linalg.vecdot: Expected x and y to have the same dtype, got ",
                           ToString(args.Type(0)), " and ", ToString(args.Type(1)));
  }
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(2));
  if (args.Type(0).rank() == 1 && args.Type(1).rank() == 1) {
    return OneArgument(b.Call("aten.vdot", {args[0], args[1]}));
  }
  Value* products = Mul(b, args.Tensor(0), args.Tensor(1));
  return OneArgument(b.Call("aten.sum.dim_IntList", {products, std::vector<Expr>{dim}}));
}

// The cheapest order of the products of a chain, by the sizes along it (symbolic ones count as
// typical); `best[i][j]`: where matrices i..j are cut.
Value* Chain(Builder& b, const std::vector<Value*>& matrices,
             const std::vector<std::vector<int>>& cut, int first, int last) {
  if (first == last) return matrices[first];
  const int at = cut[first][last];
  return b.Call("aten.mm",
                {Chain(b, matrices, cut, first, at), Chain(b, matrices, cut, at + 1, last)});
}

Value* ChainProduct(Builder& b, const std::vector<Value*>& matrices) {
  const int n = static_cast<int>(matrices.size());
  std::vector<double> sizes;
  for (Value* m : matrices) {
    sizes.push_back(static_cast<double>(TypeOf(m).sizes[0].AsInt().value_or(64)));
  }
  sizes.push_back(static_cast<double>(TypeOf(matrices.back()).sizes[1].AsInt().value_or(64)));
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<int>> cut(n, std::vector<int>(n, 0));
  for (int length = 1; length < n; ++length) {
    for (int i = 0; i + length < n; ++i) {
      const int j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (int k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (c < cost[i][j]) {
          cost[i][j] = c;
          cut[i][j] = k;
        }
      }
    }
  }
  return Chain(b, matrices, cut, 0, n - 1);
}

constexpr size_t kLongestChain = 100;

// A product of matrices; the first and the last of multi_dot may be vectors.
Decomposed DecomposeChain(Builder& b, const OpArgs& args, bool takes_vectors) {
  std::vector<Value*> matrices = args.Tensors(0);
  if (matrices.size() < (takes_vectors ? 2 : 1)) {
    return InvalidArgument(args.schema().name, ": expected at least ", takes_vectors ? 2 : 1,
                           " tensors but got ", matrices.size());
  }
  if (matrices.size() > kLongestChain) {
    return Unimplemented(args.schema().name, ": a chain of ", matrices.size(), " matrices");
  }
  const bool is_row = takes_vectors && TypeOf(matrices.front()).rank() == 1;
  const bool is_column = takes_vectors && TypeOf(matrices.back()).rank() == 1;
  if (is_row) matrices.front() = b.Call("aten.unsqueeze", {matrices.front(), 0});
  if (is_column) matrices.back() = b.Call("aten.unsqueeze", {matrices.back(), -1});
  LATHE_RETURN_IF_ERROR(b.status());
  for (Value* m : matrices) {
    if (TypeOf(m).rank() != 2) {
      return InvalidArgument(args.schema().name, ": expected matrices, got ", ToString(TypeOf(m)));
    }
  }
  Value* product = ChainProduct(b, matrices);
  if (is_row) product = b.Call("aten.squeeze.dim", {product, 0});
  if (is_column) product = b.Call("aten.squeeze.dim", {product, -1});
  return OneArgument(product);
}

OpRow Product(std::string schema, std::string doc, DecomposeFunction decompose,
              std::vector<std::string> samples = {}) {
  OpRow row =
      CompositeRow(std::move(schema), std::move(doc), std::move(decompose), std::move(samples));
  row.is_product = true;
  return row;
}

}  // namespace

std::vector<OpRow> NormRows() {
  const std::string tail = "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  return {
      CompositeRow(
          "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], " + tail,
          "1 and inf: the largest sum of a column, of a row; 2: the largest singular value; "
          "negative: the smallest.",
          DecomposeMatrixNorm, {"aten.linalg_matrix_norm(f32[2, 3, 4], 1)"}),
      CompositeRow("aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, "
                   "-1], " +
                       tail,
                   "\"fro\": the root of the sum of squares; \"nuc\": the sum of singular values.",
                   DecomposeMatrixNorm, {"aten.linalg_matrix_norm.str_ord(f32[2, 3, 4])"}),
      CompositeRow("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, " + tail,
                   "A norm of vectors or matrices, or of all elements.", DecomposeNorm,
                   {"aten.linalg_norm(f32[3, 4])", "aten.linalg_norm(f32[3, 4], inf)"}),
      CompositeRow("aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, " + tail,
                   "A norm of matrices by its name.", DecomposeNorm,
                   {"aten.linalg_norm.ord_str(f32[3, 4], \"fro\")"}),
      CompositeRow(
          "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
          "The root of the sum of squares.", DecomposeFrobenius,
          {"aten.frobenius_norm.dim(f32[3, 4], [0, 1])"}),
      CompositeRow("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
                   "The sum of singular values.", DecomposeNuclear),
      CompositeRow("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
                   "The sum of singular values.", DecomposeNuclear),
      CompositeRow("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
                   "The largest singular value over the smallest.", DecomposeCondition),
      CompositeRow("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> "
                   "Tensor",
                   "The number of singular values above a tolerance.",
                   [](Builder& b, const OpArgs& args) {
                     return Rank(b, args, args.Float(1), 0, args.Bool(2));
                   }),
      CompositeRow("aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, "
                   "float? rtol=None, bool hermitian=False) -> Tensor",
                   "The number of singular values above a tolerance.",
                   [](Builder& b, const OpArgs& args) {
                     return Rank(b, args, args.OptionalFloat(1).value_or(0), args.OptionalFloat(2),
                                 args.Bool(3));
                   }),
      Product("aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
              "Sums of products along a dimension.", DecomposeVecdot,
              {"aten.linalg_vecdot(f32[3, 4], f32[4])"}),
      Product("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
              "The product of a chain of matrices in the cheapest order.",
              [](Builder& b, const OpArgs& args) { return DecomposeChain(b, args, true); },
              {"aten.linalg_multi_dot([f32[3], f32[3, 4], f32[4, 2]])"}),
      Product("aten::chain_matmul(Tensor[] matrices) -> Tensor",
              "The product of a chain of matrices in the cheapest order.",
              [](Builder& b, const OpArgs& args) { return DecomposeChain(b, args, false); }),
  };
}

}  // namespace lathe::linalg
