// einsum: operands brought to one order of dimensions by views, then multiplied two at a time. A
// pair with summed dimensions is one batched matrix product.

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/matmul/einsum_equation.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

bool IsWide(const Expr& size) { return !(size == 1); }

Value* Sum(Builder& b, Value* x, const std::vector<int>& dims, bool keepdim) {
  return b.Call("aten.sum.dim_IntList", {x, std::vector<Expr>(dims.begin(), dims.end()), keepdim});
}

// Where the dimensions of each label stand once all operands have the same ones: those of the
// output in its order, then the others, which are summed.
struct Order {
  std::array<int, kLabels> place;
  int dots = 0;    // the dimensions that "..." stands for
  int output = 0;  // the dimensions of the result
  int rank = 0;
};

absl::StatusOr<Order> OrderOf(const EinsumEquation& equation, const std::vector<Value*>& operands) {
  Order order;
  order.place.fill(-1);
  std::array<bool, kLabels> is_used = {};
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<int>& labels = equation.operands[k];
    const bool has_dots = std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
    const int named = static_cast<int>(labels.size()) - (has_dots ? 1 : 0);
    const int rank = TypeOf(operands[k]).rank();
    if (has_dots ? rank < named : rank != named) {
      return InvalidArgument("einsum(): the number of subscripts in the equation (", named,
                             ") does not match the number of dimensions (", rank, ") for operand ",
                             k);
    }
    if (has_dots) order.dots = std::max(order.dots, rank - named);
    for (int label : labels) is_used[label] = true;
  }
  const auto put = [&](int label) {
    order.place[label] = order.rank;
    order.rank += label == kEllipsis ? order.dots : 1;
  };
  for (int label : equation.output) put(label);
  order.output = order.rank;
  if (is_used[kEllipsis] && order.place[kEllipsis] < 0) put(kEllipsis);
  for (int label = 0; label < kEllipsis; ++label) {
    if (is_used[label] && order.place[label] < 0) put(label);
  }
  return order;
}

// The operand with all dimensions of `order`, of size 1 where it has none; a label that comes twice
// reads the diagonal.
absl::StatusOr<Value*> InOrder(Builder& b, Value* x, const std::vector<int>& labels,
                               const Order& order) {
  std::vector<Expr> from(order.rank, -1);
  std::array<int, kLabels> dim_of;
  dim_of.fill(-1);
  const int dots = TypeOf(x).rank() - static_cast<int>(labels.size()) + 1;
  int at = 0;
  for (int label : labels) {
    if (label == kEllipsis) {
      for (int k = dots; k < order.dots; ++k) x = b.Call("aten.unsqueeze", {x, at});
      for (int k = 0; k < order.dots; ++k) from[order.place[label] + k] = at++;
    } else if (dim_of[label] < 0) {
      dim_of[label] = at;
      from[order.place[label]] = at++;
    } else {
      LATHE_RETURN_IF_ERROR(b.status());
      const Expr &first = TypeOf(x).sizes[dim_of[label]], &second = TypeOf(x).sizes[at];
      if (symbolic::IsRefused(b.shapes(), symbolic::Ne(first, second))) {
        return InvalidArgument("einsum(): subscript ", std::string(1, LabelName(label)),
                               " is repeated, but the sizes don't match, ",
                               symbolic::ToString(second), " != ", symbolic::ToString(first));
      }
      x = b.Call("aten.diagonal", {x, 0, dim_of[label], at});
      x = b.Call("aten.movedim.int", {x, -1, dim_of[label]});
    }
  }
  for (Expr& dim : from) {
    if (!(dim == -1)) continue;
    x = b.Call("aten.unsqueeze", {x, -1});
    dim = at++;
  }
  x = b.Call("aten.permute", {x, from});
  LATHE_RETURN_IF_ERROR(b.status());
  return x;
}

absl::Status CheckBroadcast(Builder& b, const std::vector<Value*>& operands, int rank) {
  for (int d = 0; d < rank; ++d) {
    std::optional<Expr> seen;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Expr& size = TypeOf(operands[k]).sizes[d];
      if (!IsWide(size)) continue;
      if (seen && symbolic::IsRefused(b.shapes(), symbolic::Ne(size, *seen))) {
        return InvalidArgument("einsum(): operands do not broadcast: operand ", k,
                               " has a dimension of size ", symbolic::ToString(size),
                               " where another has ", symbolic::ToString(*seen));
      }
      seen = size;
    }
  }
  return absl::OkStatus();
}

// The dimensions of two operands of one order by what becomes of them in a batched product.
struct Roles {
  std::vector<int> batch, left, right, summed;

  Roles(const TensorType& x, const TensorType& y, const std::vector<int>& sums) : summed(sums) {
    for (int d = 0; d < x.rank(); ++d) {
      if (std::find(sums.begin(), sums.end(), d) != sums.end()) continue;
      (!IsWide(y.sizes[d]) && IsWide(x.sizes[d]) ? left
       : IsWide(x.sizes[d])                      ? batch
                                                 : right)
          .push_back(d);
    }
  }
};

using Parts = std::vector<const std::vector<int>*>;

// x with the dimensions of the first three parts as one each, those of the last (size 1) left out.
Value* AsMatrices(Builder& b, Value* x, const Parts& parts) {
  std::vector<Expr> order, sizes;
  for (size_t k = 0; k < parts.size(); ++k) {
    Expr size = 1;
    for (int d : *parts[k]) {
      order.push_back(d);
      size = size * TypeOf(x).sizes[d];
    }
    if (k < 3) sizes.push_back(size);
  }
  return Reshape(b, b.Call("aten.permute", {x, order}), sizes);
}

// The product of two operands of one order, summed over `sums`, which keep size 1.
Value* PairProduct(Builder& b, Value* x, Value* y, const std::vector<int>& sums) {
  if (x == nullptr || y == nullptr) return nullptr;
  if (sums.empty()) return Mul(b, x, y);
  const TensorType left = TypeOf(x), right = TypeOf(y);
  const Roles r(left, right, sums);
  Value* product = b.Call("aten.bmm", {AsMatrices(b, x, {&r.batch, &r.left, &r.summed, &r.right}),
                                       AsMatrices(b, y, {&r.batch, &r.summed, &r.right, &r.left})});
  std::vector<Expr> sizes, back(left.rank(), 0);
  for (const std::vector<int>* part : {&r.batch, &r.left, &r.summed, &r.right}) {
    for (int d : *part) {
      back[d] = static_cast<int64_t>(sizes.size());
      sizes.push_back(part == &r.summed ? Expr(1) : (part == &r.right ? right : left).sizes[d]);
    }
  }
  return b.Call("aten.permute", {b.Call("aten.view", {product, sizes}), back});
}

class Contraction {
 public:
  Contraction(Builder& b, std::vector<Value*> operands, const Order& order)
      : b_(b), operands_(std::move(operands)), order_(order), counts_(order.rank, 0) {
    for (Value* x : operands_) {
      for (int d = 0; d < order_.rank; ++d) counts_[d] += IsWide(TypeOf(x).sizes[d]);
    }
  }

  // Multiplies operands i and j; the product comes first, or last where a path says which to take.
  absl::Status Multiply(int64_t i, int64_t j, bool is_last) {
    const int64_t count = static_cast<int64_t>(operands_.size());
    if (i < 0 || j < 0 || i >= count || j >= count || i == j) {
      return InvalidArgument("einsum(): invalid path with operands ", i, " and ", j, " of ", count);
    }
    if (i > j) std::swap(i, j);
    Value *x = operands_[i], *y = operands_[j];
    operands_.erase(operands_.begin() + j);
    operands_.erase(operands_.begin() + i);
    std::vector<int> both, of_x, of_y;
    for (int d = order_.output; d < order_.rank; ++d) Classify(x, y, d, both, of_x, of_y);
    if (!of_x.empty()) x = Sum(b_, x, of_x, true);
    if (!of_y.empty()) y = Sum(b_, y, of_y, true);
    Value* product = PairProduct(b_, x, y, both);
    operands_.insert(is_last ? operands_.end() : operands_.begin(), product);
    return b_.status();
  }

  size_t size() const { return operands_.size(); }
  Value* front() const { return operands_.front(); }

 private:
  // What is summed of dimension d now: it occurs nowhere else.
  void Classify(Value* x, Value* y, int d, std::vector<int>& both, std::vector<int>& of_x,
                std::vector<int>& of_y) {
    const bool in_x = IsWide(TypeOf(x).sizes[d]), in_y = IsWide(TypeOf(y).sizes[d]);
    if (in_x && in_y) --counts_[d];
    if (counts_[d] != 1 || !(in_x || in_y)) return;
    (in_x && in_y ? both : in_x ? of_x : of_y).push_back(d);
    counts_[d] = 0;
  }

  Builder& b_;
  std::vector<Value*> operands_;
  const Order& order_;
  std::vector<int> counts_;  // the operands in which a dimension is wider than 1
};

// Without the summed dimensions; a lone operand has not summed them yet.
Value* WithoutSummed(Builder& b, Value* x, const Order& order, bool is_summed) {
  if (order.rank == order.output) return x;
  if (is_summed) {
    std::vector<Expr> sizes(TypeOf(x).sizes.begin(), TypeOf(x).sizes.begin() + order.output);
    return b.Call("aten.view", {x, sizes});
  }
  std::vector<int> dims;
  for (int d = order.output; d < order.rank; ++d) dims.push_back(d);
  return Sum(b, x, dims, false);
}

Decomposed DecomposeEinsum(Builder& b, const OpArgs& args) {
  std::vector<Value*> operands = args.Tensors(1);
  if (operands.empty()) return InvalidArgument("einsum(): must provide at least one operand");
  LATHE_ASSIGN_OR_RETURN(EinsumEquation equation, ParseEinsum(args.String(0), operands.size()));
  LATHE_ASSIGN_OR_RETURN(Order order, OrderOf(equation, operands));
  for (size_t k = 0; k < operands.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(operands[k], InOrder(b, operands[k], equation.operands[k], order));
  }
  LATHE_RETURN_IF_ERROR(CheckBroadcast(b, operands, order.rank));
  std::vector<int64_t> path;
  if (!args.IsNone(2)) {
    LATHE_ASSIGN_OR_RETURN(path, args.ConstantInts(2));
    if (operands.size() > 1 && path.size() != 2 * (operands.size() - 1)) {
      return InvalidArgument("einsum(): expected a path of ", 2 * (operands.size() - 1),
                             " numbers, got ", path.size());
    }
  }
  Contraction contraction(b, operands, order);
  for (size_t k = 0; contraction.size() > 1; k += 2) {
    const bool has_path = !path.empty();
    LATHE_RETURN_IF_ERROR(
        contraction.Multiply(has_path ? path[k] : 0, has_path ? path[k + 1] : 1, has_path));
  }
  return OneArgument(WithoutSummed(b, contraction.front(), order, operands.size() > 1));
}

}  // namespace

std::vector<OpRow> EinsumRows() {
  return {CompositeRow(
      "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
      "Products of the operands' elements, summed over the subscripts that the output leaves out.",
      DecomposeEinsum,
      {"aten.einsum(\"bij,bjk->bik\", [f32[2, 3, 4], f32[2, 4, 5]])",
       "aten.einsum(\"...ii->...i\", [f32[2, 3, 3]])"})};
}

}  // namespace lathe
