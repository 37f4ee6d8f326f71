// Back from the places of a max pooling.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/pool/pool_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// The last two dimensions as one.
std::vector<Expr> Flat(const std::vector<Expr>& sizes) {
  std::vector<Expr> flat(sizes.begin(), sizes.end() - 2);
  flat.push_back(sizes[sizes.size() - 2] * sizes.back());
  return flat;
}

absl::Status CheckRank(const OpArgs& args, int i) {
  const int rank = args.Type(i).rank();
  if (rank == 3 || rank == 4) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": expected a 3D or 4D tensor, got ",
                         ToString(args.Type(i)));
}

// max_unpool2d(self, indices, output_size): each element at the place it came from, zeros
// elsewhere.
Decomposed DecomposeUnpool(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckRank(args, 0));
  Value *self = args.Tensor(0), *indices = args.Tensor(1);
  const TensorType type = TypeOf(self);
  std::vector<Expr> sizes = type.sizes;
  const std::vector<Expr> wanted = args.Ints(2);
  sizes[type.rank() - 2] = wanted[0];
  sizes[type.rank() - 1] = wanted[1];
  Value* zeros = b.Call("aten.new_zeros", {self, Flat(sizes)});
  Value* filled = b.Call("aten.scatter.src", {zeros, -1, Reshape(b, indices, Flat(type.sizes)),
                                              Reshape(b, self, Flat(type.sizes))});
  return OneArgument(b.Call("aten.view", {filled, sizes}));
}

// The gradient of each output goes to the place that was the largest.
Decomposed DecomposeBackward(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckRank(args, 0));
  Value *grad = args.Tensor(0), *self = args.Tensor(1), *indices = args.Tensor(7);
  const TensorType type = TypeOf(self);
  Value* zeros = b.Call("aten.new_zeros", {self, Flat(type.sizes)});
  const std::vector<Expr> flat = Flat(TypeOf(grad).sizes);
  Value* sum =
      b.Call("aten.scatter_add", {zeros, -1, Reshape(b, indices, flat), Reshape(b, grad, flat)});
  return OneArgument(b.Call("aten.view", {sum, type.sizes}));
}

}  // namespace

std::vector<OpRow> UnpoolRows() {
  std::vector<OpRow> rows(2);
  rows[0].schema =
      "aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor";
  rows[0].doc = "Elements put back to the places they were pooled from.";
  rows[0].decompose = DecomposeUnpool;
  rows[1].schema =
      "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
      "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor";
  rows[1].doc = "The gradient of max_pool2d, added up at the places of the maxima.";
  rows[1].decompose = DecomposeBackward;
  return rows;
}

}  // namespace lathe
