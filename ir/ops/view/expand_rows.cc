// Views that add, drop or repeat dimensions of size 1.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"
#include "symbolic/assumed.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Map = std::function<std::vector<Expr>(Index)>;

// Eager's rule: a new leading dimension of size 1 keeps the stride that it would have.
Types ExpandTo(const InferContext& c, std::vector<Expr> sizes) {
  const TensorType& self = c.args.Type(0);
  const int extra = static_cast<int>(sizes.size()) - self.rank();
  if (extra < 0) {
    return InvalidArgument("expand(", ToString(self), ", size=", ToString(sizes),
                           "): the number of sizes provided (", sizes.size(),
                           ") must be greater or equal to the number of dimensions in the tensor (",
                           self.rank(), ")");
  }
  std::vector<Expr> strides(sizes.size());
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    const bool is_new = d < extra;
    Expr have = is_new ? Expr(1) : self.sizes[d - extra];
    Expr stride =
        is_new ? (d + 1 < static_cast<int>(sizes.size()) ? sizes[d + 1] * strides[d + 1] : Expr(1))
               : self.strides[d - extra];
    if (sizes[d] == -1) {
      if (is_new) {
        return InvalidArgument(
            "expand(", ToString(self), ", size=", ToString(sizes),
            "): the expanded size of the tensor (-1) isn't allowed in a leading, "
            "non-existing dimension ",
            d);
      }
      sizes[d] = have;
    }
    if (!(sizes[d] == have) && !c.shapes.IsKnownEqual(sizes[d], have)) {
      if (have == 1) {
        stride = 0;
      } else if (have.is_const() && sizes[d].is_const()) {
        return InvalidArgument("expand: the expanded size of the tensor (",
                               symbolic::ToString(sizes[d]), ") must match the existing size (",
                               symbolic::ToString(have), ") at non-singleton dimension ", d,
                               ". Target sizes: ", ToString(sizes),
                               ". Tensor sizes: ", ToString(self.sizes));
      } else if (IsOne(have, c)) {
        stride = 0;
      } else {
        symbolic::Assume(c.shapes, symbolic::Eq(sizes[d], have));
      }
    }
    strides[d] = stride;
  }
  return One(WithSizes(self, std::move(sizes), std::move(strides)));
}

Types InferExpand(const InferContext& c) { return ExpandTo(c, c.args.Ints(1)); }

// Broadcast dimensions (stride 0 where the argument has size 1) read place 0.
absl::StatusOr<Map> ExpandMap(const LowerContext& c) {
  const TensorType& self = c.args.Type(0);
  const int extra = c.result().rank() - self.rank();
  std::vector<bool> repeats(self.rank());
  for (int d = 0; d < self.rank(); ++d) {
    repeats[d] = self.sizes[d] == 1 || (c.result().strides[d + extra] == 0 &&
                                        !(self.sizes[d] == c.result().sizes[d + extra]));
  }
  return Map([repeats, extra](Index index) {
    std::vector<Expr> base;
    for (size_t d = 0; d < repeats.size(); ++d) base.push_back(repeats[d] ? 0 : index[d + extra]);
    return base;
  });
}

// All copies of an element were written with the same value: the first one stands for them.
absl::StatusOr<Argument> InverseExpand(Builder& b, const OpArgs&, Value* base, Value* updated) {
  const TensorType& type = base->type.tensor();
  Value* value = updated;
  while (value && value->type.tensor().rank() > type.rank()) {
    value = b.Call("aten.select.int", {value, 0, 0});
  }
  for (int d = 0; value && d < type.rank(); ++d) {
    if (value->type.tensor().sizes[d] == type.sizes[d]) continue;
    value = b.Call("aten.slice.Tensor", {value, d, 0, 1});
  }
  return Argument::Of(value);
}

Types InferUnsqueeze(const InferContext& c) {
  TensorType type = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, type.rank() + 1));
  Expr stride = dim == type.rank() ? Expr(1) : type.sizes[dim] * type.strides[dim];
  type.sizes.insert(type.sizes.begin() + dim, 1);
  type.strides.insert(type.strides.begin() + dim, stride);
  return One(std::move(type));
}

bool IsDataDependent(const Expr& size) {
  const std::vector<Expr> symbols = symbolic::FreeSymbols(size);
  return std::any_of(symbols.begin(), symbols.end(), [](const Expr& s) {
    return s.symbol_kind() == symbolic::SymbolKind::kUnbacked;
  });
}

// Which dimensions a squeeze drops: those of `dims` (all when absent) that are 1.
absl::StatusOr<std::vector<bool>> Squeezed(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  std::vector<bool> candidate(self.rank(), c.args.size() == 1);
  if (c.args.size() > 1) {
    std::vector<int64_t> dims;
    if (c.args.schema().arguments[1].type == SchemaArgument::Type::kInt) {
      LATHE_ASSIGN_OR_RETURN(int64_t dim, c.args.ConstantInt(1));
      dims.push_back(dim);
    } else {
      LATHE_ASSIGN_OR_RETURN(dims, c.args.ConstantInts(1));
    }
    for (int64_t d : dims) {
      LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(d, self.rank()));
      if (self.rank() == 0) continue;
      if (candidate[dim] && dims.size() > 1) {
        return InvalidArgument("squeeze: dim ", dim, " appears multiple times in the list of dims");
      }
      candidate[dim] = true;
    }
  }
  for (int d = 0; d < self.rank(); ++d) {
    const bool asked = candidate[d];
    candidate[d] = asked && IsOne(self.sizes[d], c);
    // A size that only running can tell stays, whatever it is.
    if (asked && !candidate[d] && !IsDataDependent(self.sizes[d])) {
      symbolic::Assume(c.shapes, symbolic::Ne(self.sizes[d], 1));
    }
  }
  return candidate;
}

Types InferSqueeze(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<bool> drop, Squeezed(c));
  const TensorType& self = c.args.Type(0);
  std::vector<Expr> sizes, strides;
  for (int d = 0; d < self.rank(); ++d) {
    if (drop[d]) continue;
    sizes.push_back(self.sizes[d]);
    strides.push_back(self.strides[d]);
  }
  return One(WithSizes(self, std::move(sizes), std::move(strides)));
}

absl::StatusOr<Map> SqueezeMap(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<bool> drop, Squeezed(InferContext{c.args, c.shapes, {}}));
  return Map([drop](Index index) {
    std::vector<Expr> base;
    size_t next = 0;
    for (bool dropped : drop) base.push_back(dropped ? Expr(0) : index[next++]);
    return base;
  });
}

absl::StatusOr<Argument> InverseSqueeze(Builder& b, const OpArgs& args, Value* base,
                                        Value* updated) {
  LATHE_ASSIGN_OR_RETURN(std::vector<bool> drop, Squeezed(InferContext{args, b.shapes(), {}}));
  Value* value = updated;
  for (int d = 0; value && d < base->type.tensor().rank(); ++d) {
    if (drop[d]) value = b.Call("aten.unsqueeze", {value, d});
  }
  return Argument::Of(value);
}

OpRow SqueezeRow(std::string schema, std::string doc, std::vector<std::string> samples) {
  return ViewRow({std::move(schema), std::move(doc), InferSqueeze, SqueezeMap, InverseSqueeze,
                  std::move(samples)});
}

// In-place changes of the shape alone: what follows uses the result.
OpRow InPlaceShape(std::string schema, std::string functional, InferFunction infer) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "The view op, changing the tensor's own shape: the result is what later code uses.";
  row.infer = std::move(infer);
  row.composite = true;
  row.decompose = [functional](Builder& b,
                               const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    std::vector<CallArgument> arguments;
    for (int i = 0; i < args.size(); ++i) arguments.emplace_back(args[i]);
    return std::vector<Argument>{Argument::Of(b.Call(functional, std::move(arguments)))};
  };
  return row;
}

}  // namespace

std::vector<OpRow> ExpandRows() {
  std::vector<OpRow> rows;
  rows.push_back(ViewRow({
      .schema = "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
      .doc = "Dimensions of size 1 repeated without a copy; -1 keeps a size.",
      .infer = InferExpand,
      .map = ExpandMap,
      .inverse = InverseExpand,
      .samples = {"aten.expand(f32[3, 1], [2, -1, 4])", "aten.expand(f32[1, s0], [4, s0])"},
  }));
  OpRow expand_as = ViewRow({
      .schema = "aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
      .doc = "expand to the sizes of another tensor.",
      .infer = [](const InferContext& c) { return ExpandTo(c, c.args.Type(1).sizes); },
      .map = ExpandMap,
      .inverse = InverseExpand,
      .samples = {"aten.expand_as(f32[3, 1], f32[3, 4])"},
  });
  rows.push_back(std::move(expand_as));
  rows.push_back(ViewRow({
      .schema = "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
      .doc = "A new dimension of size 1.",
      .infer = InferUnsqueeze,
      .map = [](const LowerContext& c) -> absl::StatusOr<Map> {
        LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
        LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, c.args.Type(0).rank() + 1));
        return Map([dim](Index index) {
          std::vector<Expr> base(index.begin(), index.end());
          base.erase(base.begin() + dim);
          return base;
        });
      },
      .inverse = [](Builder& b, const OpArgs& args, Value*,
                    Value* updated) -> absl::StatusOr<Argument> {
        return Argument::Of(b.Call("aten.squeeze.dim", {updated, args[1]}));
      },
      .samples = {"aten.unsqueeze(f32[3, s0], -1)", "aten.unsqueeze(f32[], 0)"},
  }));
  rows.push_back(SqueezeRow("aten::squeeze(Tensor(a) self) -> Tensor(a)",
                            "Without the dimensions of size 1.", {"aten.squeeze(f32[1, 3, 1])"}));
  rows.push_back(SqueezeRow("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
                            "Without this dimension if its size is 1.",
                            {"aten.squeeze.dim(f32[1, 3, 1], -1)", "aten.squeeze.dim(f32[3], 0)"}));
  rows.push_back(SqueezeRow("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
                            "Without those of these dimensions whose size is 1.",
                            {"aten.squeeze.dims(f32[1, 3, 1], [0, 1])"}));
  rows.push_back(
      InPlaceShape("aten::squeeze_(Tensor(a!) self) -> Tensor(a!)", "aten.squeeze", InferSqueeze));
  rows.push_back(InPlaceShape("aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
                              "aten.squeeze.dim", InferSqueeze));
  rows.push_back(InPlaceShape("aten::squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
                              "aten.squeeze.dims", InferSqueeze));
  rows.push_back(InPlaceShape("aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
                              "aten.unsqueeze", InferUnsqueeze));
  return rows;
}

}  // namespace lathe
