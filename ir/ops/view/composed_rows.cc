// Other names of views and small compositions of them: broadcast_to, atleast_2d, hsplit...

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

Arguments Items(const std::vector<Value*>& values) {
  Arguments items;
  for (Value* v : values) items.push_back(v == nullptr ? Argument() : Argument::Of(v));
  return items;
}

Decomposed BroadcastTensors(Builder& b, const OpArgs& args) {
  std::vector<std::vector<Expr>> all;
  for (Value* v : args.Tensors(0)) all.push_back(TypeOf(v).sizes);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, BroadcastSizes(all, b.shapes()));
  std::vector<Value*> wide;
  for (Value* v : args.Tensors(0)) wide.push_back(b.Call("aten.expand", {v, sizes}));
  return Items(wide);
}

// ---- atleast_1d, atleast_2d, atleast_3d ----

// A vector is a row of a matrix, and of a block the middle dimension; a matrix lacks the last.
Value* AtLeast(Builder& b, Value* x, int rank) {
  if (TypeOf(x).rank() == 0) return Reshape(b, x, std::vector<Expr>(rank, 1));
  if (TypeOf(x).rank() == 1 && rank > 1) x = b.Call("aten.unsqueeze", {x, 0});
  if (x != nullptr && TypeOf(x).rank() == 2 && rank > 2) x = b.Call("aten.unsqueeze", {x, -1});
  return x;
}

void AddAtLeast(std::vector<OpRow>& rows) {
  for (int rank : {1, 2, 3}) {
    const std::string name = absl::StrCat("aten::atleast_", rank, "d");
    const std::string doc = absl::StrCat("Dimensions of size 1 added until there are ", rank, ".");
    rows.push_back(CompositeRow(name + "(Tensor self) -> Tensor", doc,
                                [rank](Builder& b, const OpArgs& args) -> Decomposed {
                                  return OneArgument(AtLeast(b, args.Tensor(0), rank));
                                }));
    rows.push_back(CompositeRow(name + ".Sequence(Tensor[] tensors) -> Tensor[]", doc,
                                [rank](Builder& b, const OpArgs& args) -> Decomposed {
                                  std::vector<Value*> all;
                                  for (Value* v : args.Tensors(0)) {
                                    all.push_back(AtLeast(b, v, rank));
                                  }
                                  return Items(all);
                                }));
  }
}

// ---- hsplit, vsplit, dsplit ----

struct NamedSplit {
  const char* name;
  int rank, dim;
};

Decomposed Split(Builder& b, const OpArgs& args, const NamedSplit& split, const char* op) {
  const TensorType& self = args.Type(0);
  if (self.rank() < split.rank) {
    return InvalidArgument("torch.", split.name, " requires a tensor with at least ", split.rank,
                           " dimension, but got a tensor with ", self.rank(), " dimensions!");
  }
  const int dim = self.rank() == 1 ? 0 : split.dim;
  if (!args[1].is_list()) {
    LATHE_ASSIGN_OR_RETURN(int64_t sections, args.ConstantInt(1));
    const std::optional<int64_t> size = self.sizes[dim].AsInt();
    if (sections <= 0 || (size && *size % sections != 0)) {
      return InvalidArgument("torch.", split.name, " attempted to split along dimension ", dim,
                             ", but the size of the dimension ",
                             symbolic::ToString(self.sizes[dim]),
                             " is not divisible by the split_size ", sections, "!");
    }
  }
  return Items(b.CallMany(op, {args[0], args[1], dim}));
}

void AddSplits(std::vector<OpRow>& rows) {
  for (const NamedSplit& split :
       {NamedSplit{"hsplit", 1, 1}, NamedSplit{"vsplit", 2, 0}, NamedSplit{"dsplit", 3, 2}}) {
    const std::string name = absl::StrCat("aten::", split.name);
    const std::string doc = absl::StrCat("tensor_split along dimension ", split.dim, ".");
    rows.push_back(CompositeRow(name + ".int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
                                doc, [split](Builder& b, const OpArgs& args) {
                                  return Split(b, args, split, "aten.tensor_split.sections");
                                }));
    rows.push_back(CompositeRow(name + ".array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
                                doc, [split](Builder& b, const OpArgs& args) {
                                  return Split(b, args, split, "aten.tensor_split.indices");
                                }));
  }
}

// ---- Others ----

Decomposed NarrowFrom(Builder& b, const OpArgs& args) {
  const TensorType& start = args.Type(2);
  if (start.rank() != 0 || !IsIntegral(start.dtype) || IsBool(start.dtype)) {
    return InvalidArgument("start must be an 0-dim integral Tensor, got ", ToString(start));
  }
  Value* number = b.Call("aten.item", {args[2]});
  return OneArgument(b.Call("aten.narrow", {args[0], args[1], number, args[3]}));
}

Decomposed MatrixAdjoint(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != 0 && args.Type(0).rank() != 2) {
    return InvalidArgument("tensor.H is only supported on matrices (2-D tensors). Got ",
                           args.Type(0).rank(), "-D tensor.");
  }
  if (args.Type(0).rank() == 0) return Arguments{args[0]};
  return OneArgument(b.Call("aten.mH", {args[0]}));
}

Decomposed PartOf(Builder& b, const OpArgs& args, int part) {
  Value* parts = b.Call("aten.view_as_real", {args[0]});
  return OneArgument(b.Call("aten.select.int", {parts, -1, part}));
}
// A real tensor is its own real part, and its own conjugate.
Decomposed RealParts(Builder& b, const OpArgs& args) {
  if (!IsComplex(args.Type(0).dtype)) return Arguments{args[0]};
  return PartOf(b, args, 0);
}
Decomposed ImaginaryParts(Builder& b, const OpArgs& args) { return PartOf(b, args, 1); }
Decomposed Conjugates(Builder& b, const OpArgs& args) {
  if (!IsComplex(args.Type(0).dtype)) return Arguments{args[0]};
  return OneArgument(b.Call("aten.conj_physical", {args[0]}));
}

OpRow SizeRow(std::string schema, std::string doc, const char* op) {
  return CompositeRow(std::move(schema), std::move(doc),
                      [op](Builder& b, const OpArgs& args) -> Decomposed {
                        return OneArgument(b.Call(op, {args[0], args[1]}));
                      });
}

}  // namespace

std::vector<OpRow> ComposedViewRows() {
  std::vector<OpRow> rows = {
      CompositeRow("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                   "expand under another name.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(b.Call("aten.expand", {args[0], args[1]}));
                   },
                   {"aten.broadcast_to(f32[3, 1], [2, 3, 4])"}),
      CompositeRow("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]",
                   "The tensors expanded to their common size.", BroadcastTensors,
                   {"aten.broadcast_tensors([f32[3, 1], f32[4]])"}),
      CompositeRow("aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> "
                   "Tensor(a)",
                   "A run of places whose start is in a tensor.", NarrowFrom),
      CompositeRow(
          "aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) "
          "-> Tensor(a)",
          "The diagonals of matrices.",
          [](Builder& b, const OpArgs& args) -> Decomposed {
            return OneArgument(b.Call("aten.diagonal", {args[0], args[1], args[2], args[3]}));
          },
          {"aten.linalg_diagonal(f32[2, 3, 4])"}),
      CompositeRow("aten::matrix_H(Tensor(a) self) -> Tensor(a)", "The adjoint of a matrix.",
                   MatrixAdjoint, {"aten.matrix_H(f32[2, 3])"}),
  };
  rows.push_back(CompositeRow("aten::real(Tensor(a) self) -> Tensor(a)",
                              "The real parts; a real tensor as it is.", RealParts));
  rows.push_back(CompositeRow("aten::imag(Tensor(a) self) -> Tensor(a)",
                              "The imaginary parts of complex numbers.", ImaginaryParts));
  rows.push_back(CompositeRow("aten::conj(Tensor(a) self) -> Tensor(a)",
                              "The conjugates; a real tensor as it is.", Conjugates));
  rows.push_back(SizeRow("aten::size.int(Tensor self, int dim) -> int", "The size of a dimension.",
                         "aten.sym_size.int"));
  rows.push_back(SizeRow("aten::stride.int(Tensor self, int dim) -> int",
                         "The stride of a dimension.", "aten.sym_stride.int"));
  AddAtLeast(rows);
  AddSplits(rows);
  return rows;
}

}  // namespace lathe
