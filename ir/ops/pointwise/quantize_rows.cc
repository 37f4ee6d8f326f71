// Numbers on the grid of a scale and a zero point: fake_quantize, and the operators in which
// torch.export leaves a quantized model (quantized_decomposed).

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/opmath.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

using Results = absl::StatusOr<std::vector<Argument>>;
using Many = std::vector<Value*>;

std::vector<Argument> All(const Many& values) {
  std::vector<Argument> results;
  for (Value* v : values) results.push_back(v == nullptr ? Argument() : Argument::Of(v));
  return results;
}

// A scale or a zero point: a number, or a tensor that broadcasts.
struct Parameter {
  Value* tensor = nullptr;
  Scalar number;
};

Value* Combine(Builder& b, const char* op, Value* x, const Parameter& p) {
  if (p.tensor != nullptr) return b.Call(absl::StrCat(op, ".Tensor"), {x, p.tensor});
  return b.Call(absl::StrCat(op, ".Scalar"), {x, p.number});
}

// The value of dimension `axis` alone, for a tensor of `rank` dimensions.
Value* Along(Builder& b, Value* v, int axis, int rank) {
  std::vector<Expr> sizes(rank, 1);
  sizes[axis] = -1;
  return b.Call("aten.reshape", {v, sizes});
}

struct Grid {
  Parameter scale, zero;
  int64_t low = 0, high = 0;
};

absl::StatusOr<Grid> GridOf(const OpArgs& args, int scale, int zero, int low) {
  Grid grid;
  if (args[scale].is_value()) {
    grid.scale.tensor = args.Tensor(scale);
  } else {
    grid.scale.number = Scalar(args.Float(scale));
  }
  if (args.IsNone(zero)) {
    grid.zero.number = Scalar(0);
  } else if (args[zero].is_value() && args[zero].value()->type.is_tensor()) {
    grid.zero.tensor = args.Tensor(zero);
  } else {
    LATHE_ASSIGN_OR_RETURN(int64_t value, args.ConstantInt(zero));
    grid.zero.number = Scalar(value);
  }
  LATHE_ASSIGN_OR_RETURN(grid.low, args.ConstantInt(low));
  LATHE_ASSIGN_OR_RETURN(grid.high, args.ConstantInt(low + 1));
  if (grid.low > grid.high) {
    return InvalidArgument(args.schema().name, ": quant_min ", grid.low,
                           " must not be above quant_max ", grid.high);
  }
  return grid;
}

absl::Status SpreadAlong(Builder& b, const OpArgs& args, int axis_argument, Grid& grid) {
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(axis_argument));
  const int rank = args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(int axis, WrapDim(wanted, rank));
  if (rank == 0) return InvalidArgument(args.schema().name, ": expected an axis");
  for (Parameter* p : {&grid.scale, &grid.zero}) {
    if (p->tensor != nullptr) p->tensor = Along(b, p->tensor, axis, rank);
  }
  return b.status();
}

// 1 / scale: rounded by itself, as eager's kernels do.
Parameter Inverse(Builder& b, const Parameter& scale) {
  if (scale.tensor != nullptr) return {b.Call("aten.reciprocal", {scale.tensor}), {}};
  return {nullptr, Scalar(1.0 / scale.number.ToDouble())};
}

// ---- fake_quantize ----

// The rounded place on the grid, not clamped yet. (Eager adds the zero point before it rounds.)
Value* PlaceOn(Builder& b, Value* x, const Grid& grid) {
  Parameter inverse = Inverse(b, grid.scale);
  if (grid.scale.tensor == nullptr) {
    inverse.number =
        Scalar(static_cast<double>(1.0f / static_cast<float>(grid.scale.number.ToDouble())));
  }
  Value* place = Combine(b, "aten.add", Combine(b, "aten.mul", x, inverse), grid.zero);
  return b.Call("aten.round", {place});
}

// The value on the grid, and whether it lies within the grid.
Results FakeQuantize(Builder& b, const OpArgs& args, Grid grid) {
  const DType dtype = args.Type(0).dtype;
  if (!IsFloat(dtype)) {
    return InvalidArgument(args.schema().name, ": expected floats, got ", Name(dtype));
  }
  if (grid.zero.tensor != nullptr) grid.zero.tensor = ToDType(b, grid.zero.tensor, DType::kF32);
  Value* place = PlaceOn(b, ToOpmath(b, args.Tensor(0)), grid);
  const Scalar low(static_cast<double>(grid.low)), high(static_cast<double>(grid.high));
  Value* inside = b.Call("aten.clamp", {place, low, high});
  Value* result = Combine(b, "aten.mul", Combine(b, "aten.sub", inside, grid.zero), grid.scale);
  Value* is_above = b.Call("aten.ge.Scalar", {place, low});
  Value* mask = b.Call("aten.logical_and", {is_above, b.Call("aten.le.Scalar", {place, high})});
  return All({ToDType(b, result, dtype), mask});
}

// With one scale, or one a channel; of the results as many as asked for.
DecomposeFunction FakeQuantizeBy(bool has_axis, size_t results) {
  return [=](Builder& b, const OpArgs& args) -> Results {
    LATHE_ASSIGN_OR_RETURN(Grid grid, GridOf(args, 1, 2, has_axis ? 4 : 3));
    if (has_axis) LATHE_RETURN_IF_ERROR(SpreadAlong(b, args, 3, grid));
    LATHE_ASSIGN_OR_RETURN(std::vector<Argument> both, FakeQuantize(b, args, grid));
    both.resize(results);
    return both;
  };
}

void AddFakeQuantize(std::vector<OpRow>& rows) {
  const std::string range = "int quant_min, int quant_max) -> ";
  const std::string tensor = "(Tensor self, float scale, int zero_point, " + range;
  const std::string parameters = "(Tensor self, Tensor scale, Tensor zero_point, " + range;
  const std::string channels = "(Tensor self, Tensor scale, Tensor zero_point, int axis, " + range;
  const std::string doc = "Rounded to the nearest value of a grid, and kept within it.";
  const std::string name = "aten::fake_quantize_per_";
  const std::string both = "(Tensor output, Tensor mask)";
  rows.push_back(CompositeRow(name + "tensor_affine" + tensor + "Tensor", doc,
                              FakeQuantizeBy(false, 1),
                              {"aten.fake_quantize_per_tensor_affine(f32[3, 4], 0.1, 3, 0, 255)"}));
  rows.push_back(CompositeRow(name + "tensor_affine.tensor_qparams" + parameters + "Tensor", doc,
                              FakeQuantizeBy(false, 1)));
  rows.push_back(
      CompositeRow(name + "channel_affine" + channels + "Tensor", doc, FakeQuantizeBy(true, 1)));
  rows.push_back(DecomposedRow(name + "tensor_affine_cachemask" + tensor + both,
                               doc + " The mask tells what was within.", FakeQuantizeBy(false, 2)));
  rows.push_back(DecomposedRow(name + "channel_affine_cachemask" + channels + both,
                               doc + " The mask tells what was within.", FakeQuantizeBy(true, 2)));
}

// ---- quantized_decomposed ----

// round(x / scale) + zero point, within the range, as an integer. One scale counts as a number: it
// does not promote the input.
Results Quantize(Builder& b, const OpArgs& args, const Grid& grid, bool has_axis, int dtype) {
  if (!IsFloat(args.Type(0).dtype)) {
    return InvalidArgument(args.schema().name, ": expected floats, got ", ToString(args.Type(0)));
  }
  const std::optional<DType> wanted = args.OptionalDType(dtype);
  if (!wanted || !IsIntegral(*wanted)) {
    return Unimplemented(args.schema().name, ": results other than integers");
  }
  Value* x = ToOpmath(b, args.Tensor(0));
  Parameter inverse = Inverse(b, grid.scale);
  if (!has_axis && inverse.tensor != nullptr) {
    inverse.tensor = ToDType(b, inverse.tensor, ComputeType(args.Type(0).dtype));
  }
  Value* place = b.Call("aten.round", {Combine(b, "aten.mul", x, inverse)});
  place = Combine(b, "aten.add", place, grid.zero);
  place = b.Call("aten.clamp", {place, Scalar(grid.low), Scalar(grid.high)});
  return All({ToDType(b, place, *wanted)});
}

// (x - zero point) * scale. With one scale eager computes in the result's dtype.
Results Dequantize(Builder& b, const OpArgs& args, Grid grid, bool has_axis, int out_dtype) {
  const DType out = args.OptionalDType(out_dtype).value_or(DType::kF32);
  if (!IsFloat(out)) return InvalidArgument(args.schema().name, ": results are floats");
  Value* x = args.Tensor(0);
  if (!has_axis) {
    x = ToDType(b, x, out);
    if (grid.scale.tensor != nullptr) grid.scale.tensor = ToDType(b, grid.scale.tensor, out);
  }
  const bool has_zero = grid.zero.tensor != nullptr || !(grid.zero.number == Scalar(0));
  if (has_zero) x = Combine(b, "aten.sub", x, grid.zero);
  return All({ToDType(b, Combine(b, "aten.mul", x, grid.scale), out)});
}

OpRow QuantizedRow(const std::string& op, const std::string& parameters, bool has_axis) {
  const bool gives = op.rfind("dequantize", 0) == 0;
  const std::string axis = has_axis ? "int axis, " : "";
  const std::string end = gives ? ", *, ScalarType? out_dtype=None) -> Tensor" : ") -> Tensor";
  const int low = has_axis ? 4 : 3;
  return DecomposedRow(
      absl::StrCat("quantized_decomposed::", op, "(Tensor input, ", parameters, ", ", axis,
                   "int quant_min, int quant_max, ScalarType dtype", end),
      gives ? "The numbers that places on a grid stand for."
            : "The nearest places on a grid, as integers.",
      [=](Builder& b, const OpArgs& args) -> Results {
        LATHE_ASSIGN_OR_RETURN(Grid grid, GridOf(args, 1, 2, low));
        if (has_axis) LATHE_RETURN_IF_ERROR(SpreadAlong(b, args, 3, grid));
        return gives ? Dequantize(b, args, grid, has_axis, low + 3)
                     : Quantize(b, args, grid, has_axis, low + 2);
      });
}

}  // namespace

std::vector<OpRow> QuantizeRows() {
  std::vector<OpRow> rows;
  AddFakeQuantize(rows);
  for (const char* op : {"quantize", "dequantize"}) {
    const std::string tensor = absl::StrCat(op, "_per_tensor");
    rows.push_back(QuantizedRow(tensor, "float scale, int zero_point", false));
    rows.push_back(QuantizedRow(tensor + ".tensor", "Tensor scale, Tensor zero_point", false));
    const char* zero = std::string(op) == "quantize" ? "Tensor" : "Tensor?";
    rows.push_back(QuantizedRow(absl::StrCat(op, "_per_channel"),
                                absl::StrCat("Tensor scales, ", zero, " zero_points"), true));
  }
  return rows;
}

}  // namespace lathe
