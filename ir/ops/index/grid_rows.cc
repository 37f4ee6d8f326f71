// Combinations of the elements of vectors, and rearrangements by other rows: cartesian_prod,
// combinations, diag, fliplr, pad_sequence, col2im.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// ---- cartesian_prod, combinations ----

Decomposed CartesianProduct(Builder& b, const OpArgs& args) {
  const std::vector<Value*> tensors = args.Tensors(0);
  for (Value* t : tensors) {
    if (TypeOf(t).rank() != 1) {
      return InvalidArgument("Expect a 1D vector, but got ", ToString(TypeOf(t)));
    }
  }
  if (tensors.empty()) return InvalidArgument("cartesian_prod: expected at least one tensor");
  if (tensors.size() == 1) return OneArgument(tensors[0]);
  std::vector<Value*> columns;
  for (Value* grid : b.CallMany("aten.meshgrid", {CallArgument(tensors)})) {
    columns.push_back(Reshape(b, grid, {-1}));
  }
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("aten.stack", {columns, 1}));
}

constexpr int64_t kMostCombinations = int64_t{1} << 24;

// The increasing sequences (with repetition: not decreasing) of `r` numbers below n, as columns.
absl::StatusOr<std::vector<std::vector<int64_t>>> Sequences(int64_t n, int64_t r, bool repeats) {
  std::vector<std::vector<int64_t>> places(r);
  std::vector<int64_t> now;
  for (int64_t k = 0; k < r; ++k) now.push_back(repeats ? 0 : k);
  if (r > 0 && (n == 0 || now.back() >= n)) return places;
  for (;;) {
    for (int64_t k = 0; k < r; ++k) places[k].push_back(now[k]);
    if (static_cast<int64_t>(places[0].size()) * r > kMostCombinations) {
      return Unimplemented("combinations: more than ", kMostCombinations, " elements");
    }
    int64_t k = r - 1;
    while (k >= 0 && now[k] == (repeats ? n - 1 : n - r + k)) --k;
    if (k < 0) return places;
    ++now[k];
    for (int64_t j = k + 1; j < r; ++j) now[j] = repeats ? now[k] : now[j - 1] + 1;
  }
}

Decomposed Combinations(Builder& b, const OpArgs& args) {
  const TensorType& self = args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t r, args.ConstantInt(1));
  if (self.rank() != 1 || r < 0) {
    return InvalidArgument("combinations: expected a 1D vector and a non-negative r, got ",
                           ToString(self), " and ", r);
  }
  const std::optional<int64_t> n = self.sizes[0].AsInt();
  if (!n) return Unimplemented("combinations of a vector of symbolic size");
  if (r == 0) return OneArgument(b.Call("aten.new_empty", {args[0], std::vector<Expr>{0}}));
  if (r > 64) return Unimplemented("combinations of ", r, " elements");
  LATHE_ASSIGN_OR_RETURN(auto places, Sequences(*n, r, args.Bool(2)));
  std::vector<Value*> columns;
  for (const std::vector<int64_t>& column : places) {
    Tensor table = Tensor::Empty(DType::kI64, {static_cast<int64_t>(column.size())});
    for (size_t k = 0; k < column.size(); ++k) {
      table.SetLinear(static_cast<int64_t>(k), Scalar(column[k]));
    }
    Value* index = b.Call("constant", {Argument::Of(table)});
    columns.push_back(b.Call("aten.index_select", {args[0], 0, index}));
  }
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("aten.stack", {columns, 1}));
}

// ---- diag, diagflat ----

Value* Diag(Builder& b, Value* x, const CallArgument& offset) {
  if (x == nullptr) return nullptr;
  if (TypeOf(x).rank() == 1) return b.Call("aten.diag_embed", {x, offset});
  if (TypeOf(x).rank() == 2) return b.Call("aten.diagonal_copy", {x, offset});
  b.Fail(InvalidArgument("diag(): Supports 1D or 2D tensors. Got ", TypeOf(x).rank(), "D"));
  return nullptr;
}

OpRow FlipRow(const std::string& name, int rank, int dim) {
  return CompositeRow("aten::" + name + "(Tensor self) -> Tensor",
                      absl::StrCat("Dimension ", dim, " in reverse."),
                      [=](Builder& b, const OpArgs& args) -> Decomposed {
                        if (args.Type(0).rank() < rank) {
                          return InvalidArgument("Input must be >= ", rank, "-d.");
                        }
                        return OneArgument(b.Call("aten.flip", {args[0], std::vector<Expr>{dim}}));
                      },
                      {"aten." + name + "(f32[2, 3])"});
}

// ---- fft_fftshift(self, dim), fft_ifftshift(self, dim) ----

// The middle moved to the front, or back.
Decomposed ShiftHalf(Builder& b, const OpArgs& args, bool back) {
  const TensorType& self = args.Type(0);
  std::vector<int64_t> given;
  if (args.IsNone(1)) {
    for (int d = 0; d < self.rank(); ++d) given.push_back(d);
  } else {
    LATHE_ASSIGN_OR_RETURN(given, args.ConstantInts(1));
  }
  std::vector<Expr> dims, shifts;
  for (int64_t d : given) {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(d, self.rank()));
    if (self.rank() == 0) continue;
    dims.push_back(dim);
    shifts.push_back(symbolic::FloorDiv(self.sizes[dim] + (back ? 1 : 0), 2));
  }
  if (dims.empty()) return OneArgument(Clone(b, args.Tensor(0), MemoryFormat::kPreserve));
  return OneArgument(b.Call("aten.roll", {args[0], shifts, dims}));
}

// ---- pad_sequence(sequences, batch_first, padding_value, padding_side) ----

Decomposed PadSequence(Builder& b, const OpArgs& args) {
  const std::vector<Value*> sequences = args.Tensors(0);
  if (sequences.empty()) return InvalidArgument("received an empty list of sequences");
  const std::string& side = args.String(3);
  if (side != "left" && side != "right") {
    return InvalidArgument("Expected padding_side to be one of left or right, but got ", side, ".");
  }
  Expr longest = 0;
  for (Value* s : sequences) {
    if (TypeOf(s).rank() == 0 || TypeOf(s).rank() != TypeOf(sequences[0]).rank()) {
      return InvalidArgument("pad_sequence: expected sequences of the same rank, got ",
                             ToString(TypeOf(s)));
    }
    longest = symbolic::Max(longest, TypeOf(s).sizes[0]);
  }
  longest = b.shapes().Simplify(longest);
  std::vector<Value*> padded;
  for (Value* s : sequences) {
    std::vector<Expr> pads(2 * TypeOf(s).rank(), 0);
    pads[pads.size() - (side == "left" ? 2 : 1)] =
        b.shapes().Simplify(longest - TypeOf(s).sizes[0]);
    padded.push_back(b.Call("aten.constant_pad_nd", {s, pads, Scalar(args.Float(2))}));
  }
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("aten.stack", {padded, args.Bool(1) ? 0 : 1}));
}

// ---- col2im(self, output_size, kernel_size, dilation, padding, stride) ----

struct Fold {
  Expr size[2];
  int64_t kernel[2], dilation[2], padding[2], stride[2];
  Expr blocks[2];
};

absl::StatusOr<Fold> FoldOf(const OpArgs& args) {
  Fold f;
  const std::vector<Expr> size = args.Ints(1);
  int64_t* lists[] = {f.kernel, f.dilation, f.padding, f.stride};
  for (int i = 0; i < 4; ++i) {
    LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> values, args.ConstantInts(i + 2));
    if (values.size() != 2 || size.size() != 2) {
      return InvalidArgument("col2im: expected two numbers a list");
    }
    for (int d : {0, 1}) {
      lists[i][d] = values[d];
      constexpr int64_t kLargest = int64_t{1} << 31;
      if (values[d] < (i == 2 ? 0 : 1) || values[d] > kLargest) {
        return InvalidArgument(
            "col2im: kernel size, dilation and stride should be greater than zero, padding not "
            "negative, got ",
            values[d]);
      }
    }
  }
  for (int d : {0, 1}) {
    f.size[d] = size[d];
    f.blocks[d] =
        symbolic::FloorDiv(size[d] + (2 * f.padding[d] - f.dilation[d] * (f.kernel[d] - 1) - 1),
                           f.stride[d]) +
        1;
  }
  return f;
}

absl::Status CheckFold(Builder& b, const OpArgs& args, const Fold& f) {
  const TensorType& self = args.Type(0);
  if (self.rank() != 2 && self.rank() != 3) {
    return InvalidArgument("col2im: expected 2D or 3D tensor for input, got ", ToString(self));
  }
  const Expr area = f.kernel[0] * f.kernel[1], rows = self.sizes[self.rank() - 2];
  if (symbolic::IsRefused(b.shapes(), symbolic::Ne(symbolic::Mod(rows, area), 0))) {
    return InvalidArgument(
        "Expected size of input's dimension 1 to be divisible by the product of "
        "kernel_size, but got ",
        ToString(self), " and ", symbolic::ToString(area));
  }
  for (int d : {0, 1}) {
    if (symbolic::IsRefused(b.shapes(), symbolic::Lt(f.blocks[d], 1))) {
      return InvalidArgument("col2im: there is no place for a block in ",
                             symbolic::ToString(f.size[d]));
    }
  }
  const Expr blocks = f.blocks[0] * f.blocks[1];
  if (symbolic::IsRefused(b.shapes(), symbolic::Ne(self.sizes.back(), blocks))) {
    return InvalidArgument(
        "Given output_size and the rest, expected size of input's dimension 2 "
        "to match the calculated number of sliding blocks ",
        symbolic::ToString(blocks), ", but got ", ToString(self));
  }
  return absl::OkStatus();
}

// Whether the windows lie side by side and leave nothing out.
bool AreTiles(const ShapeEnv& shapes, const Fold& f) {
  for (int d : {0, 1}) {
    if (f.kernel[d] != f.stride[d] || f.dilation[d] != 1 || f.padding[d] != 0) return false;
    if (!shapes.IsKnownTrue(symbolic::Eq(f.blocks[d] * f.stride[d], f.size[d]))) return false;
  }
  return true;
}

// [along 0] rows, [along 1] columns of the padded image that each tap of each block covers.
Value* Places(Builder& b, const Fold& f, int d) {
  const auto line = [&](const Expr& count, int64_t step) {
    return b.Call("aten.mul.Scalar", {b.Call("aten.arange", {count}), Scalar(step)});
  };
  Value* taps = b.Call("aten.unsqueeze", {line(f.kernel[d], f.dilation[d]), -1});
  return Add(b, taps, line(f.blocks[d], f.stride[d]));
}

// Adds every column's taps to a padded image, and takes its middle.
Decomposed ColumnsToImage(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(Fold f, FoldOf(args));
  LATHE_RETURN_IF_ERROR(CheckFold(b, args, f));
  const TensorType type = args.Type(0);
  const Expr batch = type.rank() == 3 ? type.sizes[0] : Expr(1);
  const Expr channels = symbolic::FloorDiv(type.sizes[type.rank() - 2], f.kernel[0] * f.kernel[1]);
  Value* taps = Reshape(b, args.Tensor(0),
                        {batch, channels, f.kernel[0], f.kernel[1], f.blocks[0], f.blocks[1]});
  taps = b.Call("aten.permute", {taps, std::vector<Expr>{0, 1, 2, 4, 3, 5}});
  if (AreTiles(b.shapes(), f)) {
    // Every element of the image is in one window.
    Value* tiles = b.Call("aten.permute", {taps, std::vector<Expr>{0, 1, 3, 2, 5, 4}});
    std::vector<Expr> sizes = {channels, f.size[0], f.size[1]};
    if (type.rank() == 3) sizes.insert(sizes.begin(), batch);
    return OneArgument(Reshape(b, Clone(b, tiles, MemoryFormat::kContiguous), sizes));
  }
  std::vector<Value*> places = {nullptr, nullptr};
  Value* rows = Places(b, f, 0);
  rows = b.Call("aten.unsqueeze", {b.Call("aten.unsqueeze", {rows, -1}), -1});
  places.push_back(rows);
  places.push_back(Places(b, f, 1));
  const Expr height = f.size[0] + 2 * f.padding[0], width = f.size[1] + 2 * f.padding[1];
  Value* image =
      b.Call("aten.new_zeros", {args[0], std::vector<Expr>{batch, channels, height, width}});
  image = b.Call("aten.index_put", {image, CallArgument(places), taps, true});
  for (int d : {0, 1}) {
    if (f.padding[d] == 0) continue;
    image = b.Call("aten.slice.Tensor", {image, d + 2, f.padding[d], f.padding[d] + f.size[d]});
  }
  if (type.rank() == 2) image = b.Call("aten.squeeze.dim", {image, 0});
  return OneArgument(Clone(b, image, MemoryFormat::kContiguous));
}

}  // namespace

std::vector<OpRow> GridRows() {
  return {
      CompositeRow("aten::cartesian_prod(Tensor[] tensors) -> Tensor",
                   "Every way to take one element of each vector.", CartesianProduct,
                   {"aten.cartesian_prod([f32[2], f32[3]])"}),
      CompositeRow(
          "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
          "Every way to take r elements of a vector.", Combinations,
          {"aten.combinations(f32[4])", "aten.combinations(f32[3], 3, true)"}),
      CompositeRow("aten::diag(Tensor self, int diagonal=0) -> Tensor",
                   "A vector as a matrix's diagonal, or a matrix's diagonal as a vector.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(Diag(b, args.Tensor(0), args[1]));
                   },
                   {"aten.diag(f32[3], 1)", "aten.diag(f32[3, 4])"}),
      CompositeRow("aten::diagflat(Tensor self, int offset=0) -> Tensor",
                   "All elements as a matrix's diagonal.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(Diag(b, Reshape(b, args.Tensor(0), {-1}), args[1]));
                   },
                   {"aten.diagflat(f32[2, 2])"}),
      FlipRow("fliplr", 2, 1),
      FlipRow("flipud", 1, 0),
      CompositeRow("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
                   "Frequencies with 0 in the middle.",
                   [](Builder& b, const OpArgs& args) { return ShiftHalf(b, args, false); },
                   {"aten.fft_fftshift(f32[3, 4])"}),
      CompositeRow("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
                   "Frequencies with 0 in front again.",
                   [](Builder& b, const OpArgs& args) { return ShiftHalf(b, args, true); },
                   {"aten.fft_ifftshift(f32[3, 4])"}),
      CompositeRow("aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float "
                   "padding_value=0.0, str padding_side=\"right\") -> Tensor",
                   "Sequences of several lengths in one tensor.", PadSequence,
                   {"aten.pad_sequence([f32[2, 3], f32[4, 3]])"}),
      DecomposedRow("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] "
                    "dilation, int[2] padding, int[2] stride) -> Tensor",
                    "The sums of the columns' windows at their places in an image.", ColumnsToImage,
                    {"aten.col2im(f32[2, 12, 16], [5, 6], [2, 3], [1, 1], [0, 0], [1, 1])"}),
  };
}

}  // namespace lathe
