// Back from the places of a max pooling.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/pool/pool_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// The last `spatial` dimensions as one.
std::vector<Expr> Flat(const std::vector<Expr>& sizes, int spatial = 2) {
  std::vector<Expr> flat(sizes.begin(), sizes.end() - spatial);
  flat.push_back(symbolic::Product(absl::MakeConstSpan(sizes).last(spatial)));
  return flat;
}

absl::Status CheckRank(const OpArgs& args, int i, int spatial = 2) {
  const int rank = args.Type(i).rank();
  if (rank == spatial + 1 || rank == spatial + 2) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": expected a ", spatial + 1, "D or ", spatial + 2,
                         "D tensor, got ", ToString(args.Type(i)));
}

// (self, indices, output_size): each element at the place it came from, zeros elsewhere.
Decomposed DecomposeUnpool(Builder& b, const OpArgs& args, int spatial) {
  LATHE_RETURN_IF_ERROR(CheckRank(args, 0, spatial));
  Value *self = args.Tensor(0), *indices = args.Tensor(1);
  const TensorType type = TypeOf(self);
  std::vector<Expr> sizes = type.sizes;
  const std::vector<Expr> wanted = args.Ints(2);
  if (static_cast<int>(wanted.size()) != spatial) {
    return InvalidArgument(args.schema().name, ": output_size must be ", spatial, " numbers, got ",
                           wanted.size());
  }
  std::copy(wanted.begin(), wanted.end(), sizes.end() - spatial);
  const std::vector<Expr> flat = Flat(type.sizes, spatial);
  Value* zeros = b.Call("aten.new_zeros", {self, Flat(sizes, spatial)});
  Value* filled =
      b.Call("aten.scatter.src", {zeros, -1, Reshape(b, indices, flat), Reshape(b, self, flat)});
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
  std::vector<OpRow> rows(3);
  rows[0].schema =
      "aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor";
  rows[0].doc = "Elements put back to the places they were pooled from.";
  rows[0].decompose = [](Builder& b, const OpArgs& args) { return DecomposeUnpool(b, args, 2); };
  rows[1].schema =
      "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
      "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor";
  rows[1].doc = "The gradient of max_pool2d, added up at the places of the maxima.";
  rows[1].decompose = DecomposeBackward;
  rows[2].schema =
      "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
      "int[3] padding) -> Tensor";
  rows[2].doc = "Elements put back to the places they were pooled from.";
  rows[2].decompose = [](Builder& b, const OpArgs& args) { return DecomposeUnpool(b, args, 3); };
  return rows;
}

}  // namespace lathe
