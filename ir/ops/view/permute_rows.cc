// Views with dimensions in another order.

#include <algorithm>
#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Map = std::function<std::vector<Expr>(Index)>;
// result dimension k is dimension order[k] of the argument.
using Order = std::vector<int>;
using OrderRule = std::function<absl::StatusOr<Order>(const OpArgs& args)>;

Order Identity(int rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order Inverse(const Order& order) {
  Order inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) inverse[order[k]] = static_cast<int>(k);
  return inverse;
}

absl::StatusOr<Order> OrderOfPermute(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> dims, args.ConstantInts(1));
  if (static_cast<int>(dims.size()) != rank) {
    return InvalidArgument(
        "permute(sparse_coo): number of dimensions in the tensor input does not "
        "match the length of the desired ordering of dimensions i.e. "
        "input.dim() = ",
        rank, " is not equal to len(dims) = ", dims.size());
  }
  Order order;
  for (int64_t d : dims) {
    LATHE_ASSIGN_OR_RETURN(int wrapped, WrapDim(d, rank));
    if (std::find(order.begin(), order.end(), wrapped) != order.end()) {
      return InvalidArgument("permute(): duplicate dims are not allowed");
    }
    order.push_back(wrapped);
  }
  return order;
}

absl::StatusOr<Order> OrderOfTranspose(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(int64_t dim0, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t dim1, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int a, WrapDim(dim0, rank));
  LATHE_ASSIGN_OR_RETURN(int b, WrapDim(dim1, rank));
  Order order = Identity(rank);
  if (rank > 0) std::swap(order[a], order[b]);
  return order;
}

absl::StatusOr<Order> OrderOfT(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  if (rank > 2) {
    return InvalidArgument("t() expects a tensor with <= 2 dimensions, but self is ", rank, "D");
  }
  Order order = Identity(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

absl::StatusOr<Order> OrderOfReversal(const OpArgs& args) {
  Order order = Identity(args.Type(0).rank());
  std::reverse(order.begin(), order.end());
  return order;
}

absl::StatusOr<Order> OrderOfMatrixTranspose(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  if (rank < 2) {
    return InvalidArgument(
        "tensor.mT is only supported on matrices or batches of matrices, but "
        "got ",
        rank, "-D tensor");
  }
  Order order = Identity(rank);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

absl::StatusOr<Order> OrderOfMove(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> source, args.ConstantInts(1));
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> target, args.ConstantInts(2));
  if (source.size() != target.size()) {
    return InvalidArgument("movedim: Invalid source or destination dims: source has ",
                           source.size(), " dims and destination ", target.size());
  }
  Order order(rank, -1);
  std::vector<bool> used(rank, false);
  for (size_t k = 0; k < source.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(int s, WrapDim(source[k], rank));
    LATHE_ASSIGN_OR_RETURN(int t, WrapDim(target[k], rank));
    if (rank == 0) return order;
    if (used[s] || order[t] >= 0) return InvalidArgument("movedim: repeated dim");
    used[s] = true;
    order[t] = s;
  }
  int next = 0;
  for (int& slot : order) {
    if (slot >= 0) continue;
    while (used[next]) ++next;
    slot = next++;
  }
  return order;
}

// movedim.int: one dim each.
absl::StatusOr<Order> OrderOfMoveOne(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(int64_t source, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t target, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int s, WrapDim(source, rank));
  LATHE_ASSIGN_OR_RETURN(int t, WrapDim(target, rank));
  Order order = Identity(rank);
  if (rank == 0) return order;
  order.erase(order.begin() + s);
  order.insert(order.begin() + t, s);
  return order;
}

OpRow OrderRow(std::string schema, std::string doc, OrderRule rule,
               std::vector<std::string> samples) {
  auto infer = [rule](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(Order order, rule(c.args));
    TensorType type = c.args.Type(0);
    for (size_t k = 0; k < order.size(); ++k) {
      type.sizes[k] = c.args.Type(0).sizes[order[k]];
      type.strides[k] = c.args.Type(0).strides[order[k]];
    }
    return One(std::move(type));
  };
  auto map = [rule](const LowerContext& c) -> absl::StatusOr<Map> {
    LATHE_ASSIGN_OR_RETURN(Order order, rule(c.args));
    return Map([order](Index index) {
      std::vector<Expr> base(order.size());
      for (size_t k = 0; k < order.size(); ++k) base[order[k]] = index[k];
      return base;
    });
  };
  auto inverse = [rule](Builder& b, const OpArgs& args, Value*,
                        Value* updated) -> absl::StatusOr<Argument> {
    LATHE_ASSIGN_OR_RETURN(Order order, rule(args));
    std::vector<Expr> dims;
    for (int d : Inverse(order)) dims.push_back(d);
    return Argument::Of(b.Call("aten.permute", {updated, dims}));
  };
  return ViewRow({std::move(schema), std::move(doc), infer, map, inverse, std::move(samples)});
}

}  // namespace

std::vector<OpRow> PermuteRows() {
  std::vector<OpRow> rows;
  rows.push_back(
      OrderRow("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)",
               "Dimensions in the order given: result dimension k is dims[k].", OrderOfPermute,
               {"aten.permute(f32[2, 3, 4], [2, 0, 1])", "aten.permute(f32[s0, 3], [-1, 0])"}));
  rows.push_back(OrderRow("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                          "Swaps two dimensions.", OrderOfTranspose,
                          {"aten.transpose.int(f32[2, s0, 4], 1, -1)"}));
  rows.push_back(OrderRow("aten::t(Tensor(a) self) -> Tensor(a)",
                          "The transpose of a matrix; vectors and scalars as they are.", OrderOfT,
                          {"aten.t(f32[2, 3])", "aten.t(f32[3])"}));
  for (const char* name : {"swapaxes", "swapdims"}) {
    const bool axes = std::string(name) == "swapaxes";
    rows.push_back(OrderRow(std::string("aten::") + name + "(Tensor(a) self, int " +
                                (axes ? "axis0, int axis1" : "dim0, int dim1") + ") -> Tensor(a)",
                            "transpose under another name.", OrderOfTranspose,
                            {std::string("aten.") + name + "(f32[2, 3], 0, 1)"}));
  }
  for (const char* name : {"movedim", "moveaxis"}) {
    rows.push_back(
        OrderRow(std::string("aten::") + name +
                     ".intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
                 "Moves dimensions to new places; the others keep their order.", OrderOfMove,
                 {std::string("aten.") + name + ".intlist(f32[2, 3, 4], [0, 1], [2, 0])"}));
    rows.push_back(OrderRow(std::string("aten::") + name +
                                ".int(Tensor(a) self, int source, int destination) -> Tensor(a)",
                            "Moves one dimension; the others keep their order.", OrderOfMoveOne,
                            {std::string("aten.") + name + ".int(f32[2, 3, 4], 0, -1)"}));
  }
  rows.push_back(OrderRow("aten::numpy_T(Tensor(a) self) -> Tensor(a)",
                          "All dimensions in reverse order.", OrderOfReversal,
                          {"aten.numpy_T(f32[2, 3, 4])"}));
  for (const char* name : {"mT", "mH", "adjoint"}) {
    // The conjugate of a complex matrix would be a view that computes: only real ones are taken.
    const bool conjugates = std::string(name) != "mT";
    rows.push_back(OrderRow(
        std::string("aten::") + name + "(Tensor(a) self) -> Tensor(a)",
        conjugates ? "The (conjugate) transpose of the last two dimensions; real dtypes only."
                   : "The transpose of the last two dimensions.",
        [conjugates](const OpArgs& args) -> absl::StatusOr<Order> {
          if (conjugates && IsComplex(args.Type(0).dtype)) {
            return Unimplemented(args.schema().name, " of a complex tensor");
          }
          return OrderOfMatrixTranspose(args);
        },
        {std::string("aten.") + name + "(f32[2, 3, 4])"}));
  }
  return rows;
}

}  // namespace lathe
