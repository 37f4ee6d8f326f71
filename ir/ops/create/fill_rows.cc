// Tensors of one value: full, zeros, ones, empty; by sizes, like another tensor, or new_ from one.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/create/create_rows.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/dense_strides.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// What fills the result: a constant, or the argument "fill_value".
using Fill = std::optional<Scalar>;

Types CheckedSizes(const OpArgs& args, const ShapeEnv& shapes, TensorType type) {
  for (const Expr& size : type.sizes) {
    if (symbolic::IsRefused(shapes, symbolic::Lt(size, 0))) {
      return InvalidArgument(args.schema().name,
                             ": trying to create tensor with negative "
                             "dimension ",
                             symbolic::ToString(size));
    }
  }
  return std::vector<ValueType>{std::move(type)};
}

// The dtype of a fill value by itself, for full() without dtype.
DType DTypeOfFill(const OpArgs& args, const Fill& fill, int position) {
  if (fill) return DType::kF32;
  if (const auto e = args.ScalarExpr(position)) {
    return e->type() == symbolic::ExprType::kFloat  ? DType::kF32
           : e->type() == symbolic::ExprType::kBool ? DType::kBool
                                                    : DType::kI64;
  }
  return args.Number(position).DefaultDType();
}

// A number that only a call knows.
Lowered FillWith(const Expr& e, DType dtype) {
  const bool is_float = e.type() == symbolic::ExprType::kFloat;
  const Expr number = e.type() == symbolic::ExprType::kBool ? symbolic::Where(e, 1, 0) : e;
  return PointwiseLoops{[number, is_float, dtype](OpsHandler& ops, TensorReader&, Index) {
    return ops.Cast(ops.IndexExpr(number, is_float ? DType::kF64 : DType::kI64), dtype);
  }};
}

LowerFunction LowerFill(Fill fill) {
  return [fill](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    const DType dtype = LoadedDType(c.result().dtype);
    const int position = ArgumentNamed(c.args.schema(), "fill_value");
    if (!fill && c.args.ScalarExpr(position)) {
      return std::vector<Lowered>{FillWith(*c.args.ScalarExpr(position), dtype)};
    }
    // Rounded as the result's element first: 0.1 as f16 is not 0.1 as f32.
    Scalar value = Convert(fill ? *fill : c.args.Number(position), c.result().dtype);
    return std::vector<Lowered>{
        PointwiseLoops{[value, dtype](OpsHandler& ops, TensorReader&, Index) {
          return ops.Constant(value, dtype);
        }}};
  };
}

EvaluateFunction EvaluateFill(Fill fill) {
  return [fill](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    const int position = ArgumentNamed(c.args.schema(), "fill_value");
    FillElements(out, fill ? *fill : c.args.Number(position));
    return OneResult(out);
  };
}

OpRow FillRow(std::string schema, std::string doc, Fill fill, InferFunction infer,
              std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = std::move(infer);
  row.lower = LowerFill(fill);
  row.evaluate = EvaluateFill(fill);
  row.samples = std::move(samples);
  return row;
}

// full(size, ...), zeros(size, ...)...
InferFunction InferSized(Fill fill) {
  return [fill](const InferContext& c) -> Types {
    const int position = ArgumentNamed(c.args.schema(), "fill_value");
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options,
                           OptionsOf(c.args, DTypeOfFill(c.args, fill, position)));
    TensorType type = ContiguousType(options.dtype, c.args.Ints(0), options.device);
    if (int i = ArgumentNamed(c.args.schema(), "memory_format"); i >= 0) {
      auto format = c.args.OptionalMemoryFormat(i).value_or(MemoryFormat::kContiguous);
      type.strides = StridesFor(format, type.sizes, nullptr, c.shapes);
    }
    return CheckedSizes(c.args, c.shapes, std::move(type));
  };
}

Types InferLike(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, self.dtype, self.device));
  TensorType type = ContiguousType(options.dtype, self.sizes, options.device);
  auto format = c.args.OptionalMemoryFormat(ArgumentNamed(c.args.schema(), "memory_format"))
                    .value_or(MemoryFormat::kPreserve);
  type.strides = StridesFor(format, self.sizes, &self, c.shapes);
  return std::vector<ValueType>{std::move(type)};
}

Types InferNew(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, self.dtype, self.device));
  return CheckedSizes(c.args, c.shapes,
                      ContiguousType(options.dtype, c.args.Ints(1), options.device));
}

// (size, stride, ...) with or without a leading tensor.
InferFunction InferStrided(int first) {
  return [first](const InferContext& c) -> Types {
    const bool has_self = first > 0;
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options,
                           OptionsOf(c.args, has_self ? c.args.Type(0).dtype : DType::kF32,
                                     has_self ? c.args.Type(0).device : Device()));
    TensorType type = ContiguousType(options.dtype, c.args.Ints(first), options.device);
    type.strides = c.args.Ints(first + 1);
    if (type.strides.size() != type.sizes.size()) {
      return InvalidArgument(c.args.schema().name, ": ", type.sizes.size(), " sizes but ",
                             type.strides.size(), " strides");
    }
    return CheckedSizes(c.args, c.shapes, std::move(type));
  };
}

Types InferPermuted(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, DType::kF32));
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> layout, c.args.ConstantInts(1));
  TensorType type = ContiguousType(options.dtype, c.args.Ints(0), options.device);
  std::vector<int> order;
  std::vector<bool> seen(type.rank(), false);
  for (int64_t d : layout) {
    if (d < 0 || d >= type.rank() || seen[d]) {
      return InvalidArgument("empty_permuted: physical_layout is not a permutation");
    }
    seen[d] = true;
    order.push_back(static_cast<int>(d));
  }
  if (static_cast<int>(order.size()) != type.rank()) {
    return InvalidArgument("empty_permuted: physical_layout has the wrong length");
  }
  type.strides = StridesInOrder(type.sizes, order);
  return CheckedSizes(c.args, c.shapes, std::move(type));
}

OpRow ScalarTensorRow() {
  OpRow row;
  row.schema = WithOptions("aten::scalar_tensor(Scalar s");
  row.doc = "A number as a 0-dim tensor, f32 unless said.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(FactoryOptions options, OptionsOf(c.args, DType::kF32));
    return std::vector<ValueType>{ContiguousType(options.dtype, {}, options.device)};
  };
  row.lower = [](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    const DType dtype = LoadedDType(c.result().dtype);
    if (auto e = c.args.ScalarExpr(0)) return std::vector<Lowered>{FillWith(*e, dtype)};
    Scalar value = Convert(c.args.Number(0), c.result().dtype);
    return std::vector<Lowered>{
        PointwiseLoops{[value, dtype](OpsHandler& ops, TensorReader&, Index) {
          return ops.Constant(value, dtype);
        }}};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    FillElements(out, c.args.Number(0));
    return OneResult(out);
  };
  row.samples = {"aten.scalar_tensor(2.5)", "aten.scalar_tensor(3, dtype=i64)"};
  return row;
}

}  // namespace

std::vector<OpRow> FillRows() {
  const Fill zero = Scalar(0), one = Scalar(1), given = std::nullopt;
  std::vector<OpRow> rows;
  rows.push_back(FillRow(WithOptions("aten::full(SymInt[] size, Scalar fill_value"),
                         "A tensor of one value; its dtype follows the value's kind.", given,
                         InferSized(given),
                         {"aten.full([2, 3], 1.5)", "aten.full([s0], 7, dtype=i32)"}));
  rows.push_back(FillRow(WithOptions("aten::zeros(SymInt[] size"), "A tensor of zeros.", zero,
                         InferSized(zero), {"aten.zeros([2, 3])"}));
  rows.push_back(FillRow(WithOptions("aten::ones(SymInt[] size"), "A tensor of ones.", one,
                         InferSized(one), {"aten.ones([2, 3], dtype=bool)"}));
  // Unset memory is zeros here: a program cannot tell, and runs repeat.
  rows.push_back(FillRow(
      WithOptions("aten::empty.memory_format(SymInt[] size", ", MemoryFormat? memory_format=None"),
      "A tensor of unset elements (zeros here).", zero, InferSized(zero),
      {"aten.empty.memory_format([2, 3])"}));
  rows.push_back(FillRow(WithOptions("aten::empty_strided(SymInt[] size, SymInt[] stride"),
                         "A tensor of unset elements (zeros here) with given strides.", zero,
                         InferStrided(0), {"aten.empty_strided([2, 3], [1, 2])"}));
  rows.push_back(FillRow(WithOptions("aten::empty_permuted(SymInt[] size, int[] physical_layout"),
                         "A tensor of unset elements (zeros here), dimensions laid out in the "
                         "order given.",
                         zero, InferPermuted, {"aten.empty_permuted([2, 3], [1, 0])"}));
  const std::string format = ", MemoryFormat? memory_format=None";
  rows.push_back(FillRow(WithOptions("aten::full_like(Tensor self, Scalar fill_value", format),
                         "A tensor of one value with self's sizes and dtype.", given, InferLike,
                         {"aten.full_like(f32[2, s0], 3)"}));
  rows.push_back(FillRow(WithOptions("aten::zeros_like(Tensor self", format),
                         "Zeros with self's sizes and dtype.", zero, InferLike,
                         {"aten.zeros_like(f32[2, 3]{1, 2})"}));
  rows.push_back(FillRow(WithOptions("aten::ones_like(Tensor self", format),
                         "Ones with self's sizes and dtype.", one, InferLike,
                         {"aten.ones_like(i32[2, 3])"}));
  rows.push_back(FillRow(WithOptions("aten::empty_like(Tensor self", format),
                         "Unset elements (zeros here) with self's sizes and dtype.", zero,
                         InferLike, {"aten.empty_like(f32[2, 3])"}));
  rows.push_back(FillRow(WithOptions("aten::new_full(Tensor self, SymInt[] size, Scalar "
                                     "fill_value"),
                         "A tensor of one value with self's dtype.", given, InferNew,
                         {"aten.new_full(f32[2], [3], 1.5)"}));
  rows.push_back(FillRow(WithOptions("aten::new_zeros(Tensor self, SymInt[] size"),
                         "Zeros with self's dtype.", zero, InferNew,
                         {"aten.new_zeros(f32[2], [3])"}));
  rows.push_back(FillRow(WithOptions("aten::new_ones(Tensor self, SymInt[] size"),
                         "Ones with self's dtype.", one, InferNew,
                         {"aten.new_ones(f32[2], [3], dtype=bool)"}));
  rows.push_back(FillRow(WithOptions("aten::new_empty(Tensor self, SymInt[] size"),
                         "Unset elements (zeros here) with self's dtype.", zero, InferNew,
                         {"aten.new_empty(f32[2], [3])"}));
  rows.push_back(
      FillRow(WithOptions("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride"),
              "Unset elements (zeros here) with self's dtype and given strides.", zero,
              InferStrided(1), {"aten.new_empty_strided(f32[2], [2, 3], [1, 2])"}));
  rows.push_back(ScalarTensorRow());
  return rows;
}

}  // namespace lathe
