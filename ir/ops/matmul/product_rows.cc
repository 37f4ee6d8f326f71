// The matrix products themselves: one extern, "gemm".

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/matmul/batch_product.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/view/dense_strides.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// lathe.mm and lathe.bmm may give a wider result than their operands: the sum before it is rounded.
DType ResultDType(const OpArgs& args) {
  const DType own = args.Type(0).dtype;
  return args.size() > 2 ? args.OptionalDType(2).value_or(own) : own;
}

// The dimensions of the result from the outermost in memory, when the call says so.
absl::StatusOr<TensorType> InOrder(const OpArgs& args, TensorType type) {
  if (args.size() < 4 || args.IsNone(3)) return type;
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, args.ConstantInts(3));
  std::vector<int> order(wanted.begin(), wanted.end()), sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(type.rank());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    return InvalidArgument(args.schema().name, ": order is no permutation of the dimensions of ",
                           ToString(type));
  }
  type.strides = StridesInOrder(type.sizes, order);
  return type;
}

InferFunction InferProduct(int least_rank, int most_rank) {
  return [=](const InferContext& c) -> Types {
    const TensorType &a = c.args.Type(0), &b = c.args.Type(1);
    const std::string& op = c.args.schema().name;
    const int rank = a.rank();
    if (rank < least_rank || rank > most_rank || b.rank() != rank) {
      return InvalidArgument(op, ": expected two ", least_rank, "-D ",
                             most_rank == least_rank ? "" : "(or more) ", "tensors, got ",
                             ToString(a), " and ", ToString(b));
    }
    if (a.dtype != b.dtype) {
      return InvalidArgument(op, ": expected m1 and m2 to have the same dtype, but got: ",
                             Name(a.dtype), " != ", Name(b.dtype));
    }
    auto differ = [&](const Expr& x, const Expr& y) {
      return !symbolic::IsAccepted(c.shapes, symbolic::Eq(x, y), c.asker);
    };
    if (differ(a.sizes[rank - 1], b.sizes[rank - 2])) {
      return InvalidArgument(op, ": inner dimensions differ: lhs ", ToString(a), " has ",
                             symbolic::ToString(a.sizes[rank - 1]), ", rhs ", ToString(b), " has ",
                             symbolic::ToString(b.sizes[rank - 2]));
    }
    for (int d = 0; d < rank - 2; ++d) {
      if (!differ(a.sizes[d], b.sizes[d])) continue;
      return InvalidArgument(op, ": batch sizes differ: ", ToString(a), " and ", ToString(b));
    }
    std::vector<Expr> sizes(a.sizes.begin(), a.sizes.end() - 1);
    sizes.push_back(b.sizes.back());
    LATHE_ASSIGN_OR_RETURN(TensorType type,
                           InOrder(c.args, ContiguousType(ResultDType(c.args), sizes, a.device)));
    return std::vector<ValueType>{std::move(type)};
  };
}

absl::StatusOr<std::vector<Lowered>> LowerProduct(const LowerContext& c) {
  const DType dtype = c.args.Type(0).dtype;
  const bool is_known = dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF32 ||
                        dtype == DType::kF64 || (IsInteger(dtype) && !IsSubByte(dtype));
  if (!is_known) {
    return Unimplemented(c.args.schema().name, " of ", Name(dtype), " as a compiled product");
  }
  ExternLoops gemm;
  gemm.id = "gemm";
  gemm.inputs = {c.args.Tensor(0), c.args.Tensor(1)};
  gemm.row_epilogue = true;
  return std::vector<Lowered>{std::move(gemm)};
}

// Floats are summed in double and rounded once.
template <typename T>
void Multiply(const Tensor& a, const Tensor& b, const Tensor& out) {
  const int rank = a.rank();
  const int64_t batch =
      std::accumulate(a.sizes().begin(), a.sizes().end() - 2, int64_t{1}, std::multiplies<>());
  const int64_t m = a.sizes()[rank - 2], k = a.sizes()[rank - 1], n = b.sizes()[rank - 1];
  const std::vector<T> x = ToVector<T>(a), y = ToVector<T>(b);
  std::vector<T> z(batch * m * n, T(0));
  for (int64_t g = 0; g < batch; ++g) {
    for (int64_t i = 0; i < m; ++i) {
      T* row = z.data() + (g * m + i) * n;
      for (int64_t p = 0; p < k; ++p) {
        const T left = x[(g * m + i) * k + p];
        const T* right = y.data() + (g * k + p) * n;
        for (int64_t j = 0; j < n; ++j) row[j] += left * right[j];
      }
    }
  }
  FromVector<T>(z, out);
}

absl::StatusOr<std::vector<HostValue>> EvaluateProduct(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  const Tensor &a = c.args.Tensor(0), &b = c.args.Tensor(1);
  // Integers wrap: unsigned arithmetic, which has no undefined overflow.
  if (IsComplex(a.dtype())) {
    Multiply<std::complex<double>>(a, b, out);
  } else if (IsFloat(a.dtype())) {
    Multiply<double>(a, b, out);
  } else {
    Multiply<uint64_t>(a, b, out);
  }
  return OneResult(out);
}

OpRow ProductRow(std::string schema, std::string doc, int least_rank, int most_rank,
                 std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = InferProduct(least_rank, most_rank);
  row.lower = LowerProduct;
  row.evaluate = EvaluateProduct;
  row.samples = std::move(samples);
  return row;
}

}  // namespace

std::vector<OpRow> ProductRows() {
  std::vector<OpRow> rows;
  rows.push_back(ProductRow("aten::mm(Tensor self, Tensor mat2) -> Tensor",
                            "The product of two matrices, rounded once.", 2, 2,
                            {"aten.mm(f32[3, 4], f32[4, 5])", "aten.mm(f16[s0, 4], f16[4, 5])"}));
  rows.push_back(ProductRow("aten::bmm(Tensor self, Tensor mat2) -> Tensor",
                            "Products of two batches of matrices, rounded once.", 3, 3,
                            {"aten.bmm(f32[2, 3, 4], f32[2, 4, 5])"}));
  rows.push_back(
      ProductRow("lathe::mm(Tensor a, Tensor b, *, ScalarType? out_dtype=None) -> "
                 "Tensor",
                 "mm whose result may keep the wider type it is summed in.", 2, 2,
                 {"lathe.mm(f16[3, 4], f16[4, 5], out_dtype=f32)"}));
  rows.push_back(
      ProductRow("lathe::bmm(Tensor a, Tensor b, *, ScalarType? out_dtype=None, int[]? order=None) "
                 "-> Tensor",
                 "bmm over any number of batch dimensions, whose result may keep the wider type it "
                 "is summed in and lie in memory with its dimensions in `order`, outermost first.",
                 3, kMaxBatchRank + 2,
                 {"lathe.bmm(bf16[2, 3, 4], bf16[2, 4, 5], out_dtype=f32)",
                  "lathe.bmm(f32[2, 6, 3, 4], f32[2, 6, 4, 5], order=[0, 2, 1, 3])"}));
  return rows;
}

}  // namespace lathe
