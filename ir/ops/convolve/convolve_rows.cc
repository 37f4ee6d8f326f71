// Convolutions. ATen's composites (conv1d, conv2d...) become aten.convolution, which becomes the
// bare lathe.convolution, without bias, with a pointwise rest.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"
#include "ir/ops/convolve/host_convolution.h"
#include "ir/ops/convolve/planar_convolution.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/families.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;
using Types = absl::StatusOr<std::vector<ValueType>>;

// ---- lathe.convolution ----

// A list of `count` numbers, one number standing for all.
std::vector<Expr> Spread(std::vector<Expr> values, int count) {
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

Expr OutputSize(const Expr& in, const Expr& kernel, const Expr& stride, const Expr& padding,
                const Expr& dilation, const Expr& output_padding, bool transposed) {
  const Expr reach = dilation * (kernel - 1) + 1;
  if (transposed) return (in - 1) * stride - padding * 2 + reach + output_padding;
  return symbolic::FloorDiv(in + padding * 2 - reach, stride) + 1;
}

// Steps are forward ones, and no padding is negative.
absl::Status CheckSteps(const InferContext& c) {
  struct List {
    int argument;
    int64_t least;
    const char* refusal;
  };
  for (const List& list : {List{2, 1, "non-positive stride is not supported"},
                           List{3, 0, "negative padding is not supported"},
                           List{4, 1, "dilation should be greater than zero"},
                           List{6, 0, "negative output_padding is not supported"}}) {
    for (const Expr& value : c.args.Ints(list.argument)) {
      if (!symbolic::IsRefused(c.shapes, symbolic::Lt(value, list.least))) continue;
      return InvalidArgument("convolution: ", list.refusal, ", got ",
                             ToString(c.args.Ints(list.argument)));
    }
  }
  return absl::OkStatus();
}

// (input, weight, stride, padding, dilation, transposed, output_padding, groups)
Types InferBare(const InferContext& c) {
  const TensorType &input = c.args.Type(0), &weight = c.args.Type(1);
  const bool transposed = c.args.Bool(5);
  const Expr groups = c.args.Int(7);
  const int spatial = input.rank() - 2;
  if (spatial < 1 || weight.rank() != input.rank()) {
    return InvalidArgument(
        "convolution: expected input and weight of the same rank, at least 3, "
        "got ",
        ToString(input), " and ", ToString(weight));
  }
  if (input.dtype != weight.dtype) {
    return InvalidArgument("convolution: input type (", Name(input.dtype), ") and weight type (",
                           Name(weight.dtype), ") should be the same");
  }
  const Expr expected = transposed ? weight.sizes[0] : weight.sizes[1] * groups;
  if (symbolic::IsRefused(c.shapes, symbolic::Ne(expected, input.sizes[1]))) {
    return InvalidArgument("convolution: given groups=", symbolic::ToString(groups),
                           ", weight of size ", ToString(weight.sizes), ", expected input",
                           ToString(input.sizes), " to have ", symbolic::ToString(expected),
                           " channels, but got ", symbolic::ToString(input.sizes[1]),
                           " channels instead");
  }
  const std::vector<Expr> stride = c.args.Ints(2), padding = c.args.Ints(3),
                          dilation = c.args.Ints(4), extra = c.args.Ints(6);
  for (const auto* list : {&stride, &padding, &dilation}) {
    if (static_cast<int>(list->size()) != spatial) {
      return InvalidArgument("convolution: expected ", spatial,
                             " values of stride, padding and "
                             "dilation, got ",
                             list->size());
    }
  }
  LATHE_RETURN_IF_ERROR(CheckSteps(c));
  std::vector<Expr> sizes = {input.sizes[0],
                             transposed ? weight.sizes[1] * groups : weight.sizes[0]};
  for (int d = 0; d < spatial; ++d) {
    sizes.push_back(
        c.shapes.Simplify(OutputSize(input.sizes[d + 2], weight.sizes[d + 2], stride[d], padding[d],
                                     dilation[d], extra.empty() ? Expr(0) : extra[d], transposed)));
    if (symbolic::IsRefused(c.shapes, symbolic::Lt(sizes.back(), transposed ? 0 : 1))) {
      return InvalidArgument("convolution: the kernel is larger than the padded input: ",
                             ToString(input), ", weight ", ToString(weight));
    }
  }
  return One(ContiguousType(input.dtype, std::move(sizes), input.device));
}

Types InferPlanar(const InferContext& c) {
  if (c.args.Type(0).rank() != 4 || c.args.Bool(5)) {
    return InvalidArgument("lathe.convolution: expected an input of rank 4, not transposed, got ",
                           ToString(c.args.Type(0)));
  }
  return InferBare(c);
}

std::string Listed(const std::vector<int64_t>& values) { return absl::StrJoin(values, ","); }

// The extern "conv2d". Integers are evaluated.
absl::StatusOr<std::vector<Lowered>> LowerBare(const LowerContext& c) {
  const DType dtype = c.args.Type(0).dtype;
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    return Unimplemented("convolution of ", Name(dtype), " as a compiled function");
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> stride, c.args.ConstantInts(2));
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> padding, c.args.ConstantInts(3));
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> dilation, c.args.ConstantInts(4));
  LATHE_ASSIGN_OR_RETURN(int64_t groups, c.args.ConstantInt(7));
  ExternLoops conv;
  conv.id = "conv2d";
  conv.attributes = absl::StrCat("stride=", Listed(stride), ";padding=", Listed(padding),
                                 ";dilation=", Listed(dilation), ";groups=", groups);
  conv.inputs = {c.args.Tensor(0), c.args.Tensor(1)};
  conv.contiguous_inputs = {true, true};
  conv.row_epilogue = true;
  return std::vector<Lowered>{std::move(conv)};
}

absl::StatusOr<std::vector<HostValue>> EvaluateBare(const EvaluateContext& c) {
  HostConvolution conv;
  conv.stride = c.args.Ints(2);
  conv.padding = c.args.Ints(3);
  conv.dilation = c.args.Ints(4);
  conv.transposed = c.args.Bool(5);
  conv.groups = c.args.Int(7);
  Tensor out = c.Allocate();
  Convolve(conv, c.args.Tensor(0), c.args.Tensor(1), out);
  return OneResult(out);
}

// ---- aten.convolution ----

// One spatial dimension is two with a size of 1 in front.
Value* BareConvolution(Builder& b, Value* x, Value* w, std::vector<std::vector<Expr>> lists,
                       bool transposed, const Expr& groups) {
  const bool is_1d = TypeOf(x).rank() == 3;
  if (is_1d) {
    x = b.Call("aten.unsqueeze", {x, 2});
    w = b.Call("aten.unsqueeze", {w, 2});
    const int neutral[] = {1, 0, 1, 0};  // stride, padding, dilation, output_padding
    for (int k = 0; k < 4; ++k) lists[k].insert(lists[k].begin(), neutral[k]);
  }
  const bool planar = TypeOf(x).rank() == 4 && !transposed;
  Value* y = b.Call(planar ? "lathe.convolution" : "lathe.convolution_nd",
                    {x, w, lists[0], lists[1], lists[2], transposed, lists[3], groups});
  return is_1d ? b.Call("aten.squeeze.dim", {y, 2}) : y;
}

Decomposed DecomposeConvolution(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *weight = args.Tensor(1), *bias = args.OptionalTensor(2);
  const TensorType type = TypeOf(input), weight_type = TypeOf(weight);
  const int spatial = type.rank() - 2;
  if (spatial < 1) {
    return InvalidArgument("convolution: expected an input of rank 3, 4 or 5, got ",
                           ToString(type));
  }
  std::vector<std::vector<Expr>> lists;
  for (int i : {3, 4, 5, 7}) lists.push_back(Spread(args.Ints(i), spatial));
  Value* y = BareConvolution(b, Widen(b, input), Widen(b, weight), std::move(lists), args.Bool(6),
                             args.Int(8));
  LATHE_RETURN_IF_ERROR(b.status());
  if (bias != nullptr) {
    std::vector<Expr> along(spatial + 1, 1);
    along[0] = TypeOf(y).sizes[1];
    y = Add(b, y, Reshape(b, Widen(b, bias), along));
  }
  y = CastTo(b, y, type.dtype);
  // Eager keeps channels last when input or weight have it.
  const bool last = IsChannelsLast(type, b.shapes()) || IsChannelsLast(weight_type, b.shapes());
  if (last) {
    y = Clone(b, y, type.rank() == 5 ? MemoryFormat::kChannelsLast3d : MemoryFormat::kChannelsLast);
  }
  return OneArgument(y);
}

// ---- Composites ----

// A sample without batch gets one, and loses it again.
Decomposed WithBatch(Builder& b, const OpArgs& args, int spatial,
                     const std::function<Value*(Value*)>& convolve) {
  Value* input = args.Tensor(0);
  const TensorType& type = args.Type(0);
  if (type.rank() == spatial + 2) return OneArgument(convolve(input));
  if (type.rank() != spatial + 1) {
    return InvalidArgument(args.schema().name, ": expected ", spatial + 1, "D (unbatched) or ",
                           spatial + 2,
                           "D (batched) input, but got input of size: ", ToString(type.sizes));
  }
  Value* y = convolve(b.Call("aten.unsqueeze", {input, 0}));
  return OneArgument(b.Call("aten.squeeze.dim", {y, 0}));
}

CallArgument OrNone(Value* v) { return v ? CallArgument(v) : CallArgument(Argument()); }

Value* Convolution(Builder& b, Value* x, const OpArgs& args, const std::vector<Expr>& stride,
                   const std::vector<Expr>& padding, const std::vector<Expr>& dilation,
                   const std::vector<Expr>& output_padding, bool transposed, const Expr& groups) {
  return b.Call("aten.convolution", {x, args.Tensor(1), OrNone(args.OptionalTensor(2)), stride,
                                     padding, dilation, transposed, output_padding, groups});
}

// (input, weight, bias, stride, padding, dilation, groups)
DecomposeFunction DecomposeConv(int spatial) {
  return [spatial](Builder& b, const OpArgs& args) -> Decomposed {
    const std::vector<Expr> none(spatial, 0);
    return WithBatch(b, args, spatial, [&](Value* x) {
      return Convolution(b, x, args, args.Ints(3), args.Ints(4), args.Ints(5), none, false,
                         args.Int(6));
    });
  };
}

// padding as a word: "valid" is none, "same" keeps the size and puts an odd place at the end.
DecomposeFunction DecomposeConvPadding(int spatial) {
  return [spatial](Builder& b, const OpArgs& args) -> Decomposed {
    const std::string& word = args.String(4);
    const std::vector<Expr> stride = Spread(args.Ints(3), spatial),
                            dilation = Spread(args.Ints(5), spatial), none(spatial, 0);
    if (word != "same" && word != "valid") {
      return InvalidArgument("Invalid padding string: '", word, "'");
    }
    std::vector<Expr> padding = none, at_end(2 * spatial, 0);
    bool is_uneven = false;
    for (int d = 0; word == "same" && d < spatial; ++d) {
      if (!(stride[d] == 1)) {
        return InvalidArgument("padding='same' is not supported for strided convolutions");
      }
      Expr total = dilation[d] * (args.Type(1).sizes[d + 2] - 1);
      padding[d] = symbolic::FloorDiv(total, 2);
      Expr odd = total - padding[d] * 2;
      at_end[2 * (spatial - 1 - d) + 1] = odd;
      is_uneven |= !(odd == 0);
    }
    return WithBatch(b, args, spatial, [&](Value* x) {
      if (is_uneven) x = b.Call("aten.constant_pad_nd", {x, at_end, Scalar(0)});
      return Convolution(b, x, args, stride, padding, dilation, none, false, args.Int(6));
    });
  };
}

// (input, weight, bias, stride, padding, output_padding, groups, dilation)
DecomposeFunction DecomposeTransposed(int spatial) {
  return [spatial](Builder& b, const OpArgs& args) -> Decomposed {
    return WithBatch(b, args, spatial, [&](Value* x) {
      return Convolution(b, x, args, args.Ints(3), args.Ints(4), args.Ints(7), args.Ints(5), true,
                         args.Int(6));
    });
  };
}

// _convolution_mode(input, weight, bias, stride, padding, dilation, groups)
Decomposed DecomposeConvolutionMode(Builder& b, const OpArgs& args) {
  const int spatial = args.Type(1).rank() - 2;
  if (spatial < 1 || spatial > 3) {
    return InvalidArgument("_convolution_mode: expected a weight of 3 to 5 dimensions, got ",
                           ToString(args.Type(1)));
  }
  std::vector<CallArgument> arguments;
  for (int i = 0; i < 7; ++i) arguments.emplace_back(args[i]);
  return OneArgument(b.Call(absl::StrCat("aten.conv", spatial, "d.padding"), std::move(arguments)));
}

// conv_tbc(self, weight, bias, pad): time, batch, channels; the weight: time, in, out.
Decomposed DecomposeConvTbc(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != 3 || args.Type(1).rank() != 3 || args.Type(2).rank() != 1) {
    return InvalidArgument("conv_tbc: Input must have 3 dims, weight 3 and bias 1, got ",
                           ToString(args.Type(0)), ", ", ToString(args.Type(1)), ", ",
                           ToString(args.Type(2)));
  }
  const auto permuted = [&](const CallArgument& x, int p, int q, int r) {
    return b.Call("aten.permute", {x, std::vector<Expr>{p, q, r}});
  };
  Value* y = b.Call("aten.conv1d", {permuted(args[0], 1, 2, 0), permuted(args[1], 2, 1, 0), args[2],
                                    std::vector<Expr>{1}, std::vector<Expr>{args.Int(3)}});
  return OneArgument(Clone(b, permuted(y, 2, 0, 1), MemoryFormat::kContiguous));
}

// What all convolutions take after their operands.
std::string Steps(const std::string& first) {
  return first +
         ", SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
         "output_padding, SymInt groups";
}

std::string SampleSizes(int spatial) {
  return spatial == 1   ? "(f32[2, 4, 7], f32[6, 2, 3]"
         : spatial == 2 ? "(f32[2, 4, 7, 6], f32[6, 2, 3, 3]"
                        : "(f32[1, 4, 5, 6, 4], f32[6, 2, 3, 3, 2]";
}

std::vector<OpRow> CompositeRows() {
  std::vector<OpRow> rows;
  for (int n : {1, 2, 3}) {
    const std::string name = absl::StrCat("conv", n, "d");
    const std::string first = "(Tensor input, Tensor weight, Tensor? bias=None, SymInt[";
    const std::string doc = absl::StrCat("Convolution over ", n, " spatial dimensions.");
    const std::string sizes = SampleSizes(n);
    rows.push_back(CompositeRow(
        absl::StrCat("aten::", name, first, n, "] stride=1, SymInt[", n, "] padding=0, SymInt[", n,
                     "] dilation=1, SymInt groups=1) -> Tensor"),
        doc, DecomposeConv(n), {absl::StrCat("aten.", name, sizes, ", groups=2)")}));
    rows.push_back(CompositeRow(
        absl::StrCat("aten::", name, ".padding", first, n,
                     "] stride=1, str padding=\"valid\", SymInt[", n,
                     "] dilation=1, SymInt groups=1) -> Tensor"),
        doc, DecomposeConvPadding(n),
        {absl::StrCat("aten.", name, ".padding", sizes, ", padding=\"same\", groups=2)")}));
    rows.push_back(CompositeRow(
        absl::StrCat("aten::conv_transpose", n, n == 1 ? "d" : "d.input", first, n,
                     "] stride=1, SymInt[", n, "] padding=0, SymInt[", n,
                     "] output_padding=0, SymInt groups=1, SymInt[", n, "] dilation=1) -> Tensor"),
        absl::StrCat("The transpose of a convolution over ", n, " spatial dimensions."),
        DecomposeTransposed(n), {}));
  }
  rows.push_back(CompositeRow(
      "aten::_convolution" + Steps("(Tensor input, Tensor weight, Tensor? bias") +
          ", bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
      "aten.convolution with switches for other libraries.",
      [](Builder& b, const OpArgs& args) -> Decomposed {
        std::vector<CallArgument> arguments;
        for (int i = 0; i < 9; ++i) arguments.emplace_back(args[i]);
        return OneArgument(b.Call("aten.convolution", std::move(arguments)));
      },
      {}));
  rows.push_back(CompositeRow(
      "aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str "
      "padding, SymInt[] dilation, SymInt groups) -> Tensor",
      "A convolution with its padding as a word.", DecomposeConvolutionMode));
  rows.push_back(
      DecomposedRow("aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
                    "A convolution over time, the first dimension.", DecomposeConvTbc,
                    {"aten.conv_tbc(f32[7, 2, 4], f32[3, 4, 5], f32[5], 1)"}));
  return rows;
}

OpRow BareRow(const std::string& name, std::string doc, InferFunction infer,
              std::vector<std::string> samples) {
  OpRow row;
  row.schema = "lathe::" + name + Steps("(Tensor input, Tensor weight") + ") -> Tensor";
  row.doc = std::move(doc);
  row.infer = std::move(infer);
  row.evaluate = EvaluateBare;
  row.samples = std::move(samples);
  return row;
}

std::vector<OpRow> BareRows() {
  OpRow planar = BareRow(
      "convolution", "A convolution over two dimensions, without bias, its result contiguous.",
      InferPlanar,
      {"lathe.convolution(f32[2, 4, 7, 6], f32[6, 2, 3, 3], [2, 1], [1, 0], [1, 2], false, [0, "
       "0], 2)",
       "lathe.convolution(f32[s0, 3, 8, 8], f32[4, 3, 3, 3], [1, 1], [1, 1], [1, 1], false, [0, "
       "0], 1)"});
  planar.lower = LowerBare;
  OpRow other = BareRow(
      "convolution_nd",
      "Transposed, or over three dimensions: without bias, its result contiguous.", InferBare,
      {"lathe.convolution_nd(f32[2, 4, 7, 6], f32[4, 3, 3, 2], [2, 1], [1, 0], [1, 2], true, [1, "
       "0], 2)",
       "lathe.convolution_nd(f32[s0, 4, 5, 6, 4], f32[6, 2, 3, 3, 2], [2, 1, 1], [1, 1, 0], [1, "
       "1, 1], false, [0, 0, 0], 2)"});
  other.decompose = DecomposeToPlanes;
  return {std::move(planar), std::move(other)};
}

}  // namespace

std::vector<OpRow> ConvolveRows() {
  std::vector<OpRow> rows = BareRows();
  rows.push_back(DecomposedRow(
      "aten::convolution" + Steps("(Tensor input, Tensor weight, Tensor? bias") + ") -> Tensor",
      "A (transposed) convolution over one to three spatial dimensions.", DecomposeConvolution,
      {"aten.convolution(f32[2, 3, 8], f32[4, 3, 3], f32[4], [1], [1], [1], false, [0], 1)"}));
  for (OpRow& row : CompositeRows()) rows.push_back(std::move(row));
  for (OpRow& row : rows) row.is_product = true;
  return rows;
}

}  // namespace lathe
