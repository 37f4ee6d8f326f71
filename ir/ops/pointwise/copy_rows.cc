// Copies: the same elements in a tensor of their own, in another dtype or layout.

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

absl::StatusOr<std::vector<Lowered>> LowerCopy(int source, const LowerContext& c) {
  Value* input = c.args.Tensor(source);
  const TensorType& type = input->type.tensor();
  if (IsComplex(type.dtype) || IsComplex(c.result().dtype)) {
    return Unimplemented(c.args.schema().name, ": complex numbers are not computed in loops");
  }
  std::vector<Expr> sizes = c.result().sizes;
  PointwiseLoops loops;
  loops.body = [input, sizes](OpsHandler& ops, TensorReader& in, Index index) {
    return in.Load(ops, input, BroadcastIndex(input->type.tensor(), sizes, index));
  };
  return std::vector<Lowered>{loops};
}

absl::StatusOr<std::vector<HostValue>> EvaluateCopy(int source, const EvaluateContext& c) {
  Tensor result = c.Allocate();
  Tensor input = c.args.Tensor(source);
  Dims strides(result.rank(), 0);
  int skipped = result.rank() - input.rank();
  for (int d = 0; d < input.rank(); ++d) {
    bool repeats = input.sizes()[d] == 1 && result.sizes()[skipped + d] != 1;
    strides[skipped + d] = repeats ? 0 : input.strides()[d];
  }
  Tensor seen = input.AsStrided(result.sizes(), strides, input.offset());
  result.CopyFrom(seen.To(result.dtype()));
  return std::vector<HostValue>{result};
}

// Copies argument `source` into a result of the inferred type.
OpRow Copy(std::string schema, std::string doc, int source, InferFunction infer) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.batch = BatchRule::kElementwise;
  row.infer = std::move(infer);
  row.lower = [source](const LowerContext& c) { return LowerCopy(source, c); };
  row.evaluate = [source](const EvaluateContext& c) { return EvaluateCopy(source, c); };
  return row;
}

absl::StatusOr<std::vector<ValueType>> InferFormat(const InferContext& c, DType dtype,
                                                   Device device,
                                                   std::optional<MemoryFormat> format) {
  const TensorType& self = c.args.Type(0);
  TensorType result = self;
  LATHE_ASSIGN_OR_RETURN(result.strides,
                         FormatStrides(format.value_or(MemoryFormat::kPreserve), self, c.shapes));
  result.dtype = dtype;
  result.device = device;
  result.offset = 0;
  return std::vector<ValueType>{result};
}

absl::StatusOr<std::vector<ValueType>> InferToCopy(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  if (!c.args.IsNone(2) && c.args[2].layout() != Layout::kStrided) {
    return Unimplemented("aten._to_copy: only strided tensors are supported");
  }
  return InferFormat(c, c.args.OptionalDType(1).value_or(self.dtype),
                     c.args.OptionalDevice(3).value_or(self.device),
                     c.args.OptionalMemoryFormat(6));
}

absl::StatusOr<std::vector<ValueType>> InferCopy(const InferContext& c) {
  TensorType self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes,
                         BroadcastSizes(std::vector<TensorType>{self, c.args.Type(1)}, c.shapes));
  bool fits = sizes.size() == self.sizes.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    fits = !(self.sizes[d].is_const() && sizes[d].is_const() && self.sizes[d] != sizes[d]);
  }
  if (!fits) {
    return InvalidArgument("aten.copy: ", ToString(c.args.Type(1)),
                           " cannot be broadcast to the size of ", ToString(self));
  }
  return std::vector<ValueType>{WithStorageKept(std::move(self), c.shapes)};
}

std::vector<OpRow> PlainCopyRows() {
  return {
      Copy("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
           "A copy; the layout is kept unless memory_format says another.", 0,
           [](const InferContext& c) {
             const TensorType& self = c.args.Type(0);
             return InferFormat(c, self.dtype, self.device, c.args.OptionalMemoryFormat(1));
           }),
      Copy("aten::lift_fresh_copy(Tensor self) -> Tensor", "A copy of a constant.", 0,
           [](const InferContext& c) {
             const TensorType& self = c.args.Type(0);
             return InferFormat(c, self.dtype, self.device, MemoryFormat::kContiguous);
           }),
      Copy("aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
           "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
           "MemoryFormat? memory_format=None) -> Tensor",
           "A copy in another dtype, layout or device.", 0, InferToCopy),
      Copy("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
           "src broadcast to self's sizes, in self's dtype.", 1, InferCopy),
  };
}

struct Target {
  std::optional<DType> dtype;
  std::optional<Device> device;
  bool copy = false;
  std::optional<MemoryFormat> format;
};

// self when nothing would change, else _to_copy.
absl::StatusOr<std::vector<Argument>> To(Builder& b, const OpArgs& args, const Target& target) {
  Value* self = args.Tensor(0);
  const TensorType& type = self->type.tensor();
  MemoryFormat format = target.format.value_or(MemoryFormat::kPreserve);
  bool same = !target.copy && target.dtype.value_or(type.dtype) == type.dtype &&
              target.device.value_or(type.device) == type.device &&
              IsContiguousIn(format, type, b.shapes());
  if (same) return std::vector<Argument>{Argument::Of(self)};
  std::vector<std::pair<std::string, CallArgument>> named;
  if (target.dtype) named.push_back({"dtype", Argument::Of(*target.dtype)});
  if (target.device) named.push_back({"device", Argument::Of(*target.device)});
  if (target.format) named.push_back({"memory_format", Argument::Of(*target.format)});
  return std::vector<Argument>{Argument::Of(b.Call("aten._to_copy", {self}, named))};
}

OpRow ToRow(std::string schema, std::function<Target(const OpArgs&)> target) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "self when it is so already, else a copy in that dtype, device and layout.";
  row.composite = true;
  row.batch = BatchRule::kByDecomposition;
  row.decompose = [target](Builder& b, const OpArgs& args) { return To(b, args, target(args)); };
  return row;
}

// _cast_Byte...: to.dtype of a fixed dtype.
std::vector<OpRow> NamedCastRows() {
  static constexpr std::pair<const char*, DType> kCasts[] = {
      {"Byte", DType::kU8},   {"Char", DType::kI8},   {"Short", DType::kI16},
      {"Int", DType::kI32},   {"Long", DType::kI64},  {"Half", DType::kF16},
      {"Float", DType::kF32}, {"Double", DType::kF64}};
  std::vector<OpRow> rows;
  for (const auto& [name, dtype] : kCasts) {
    rows.push_back(ToRow(
        std::string("aten::_cast_") + name + "(Tensor self, bool non_blocking=False) -> Tensor",
        [dtype = dtype](const OpArgs&) {
          return Target{dtype, {}, false, std::nullopt};
        }));
  }
  return rows;
}

std::vector<OpRow> ConversionRows() {
  OpRow contiguous = ToRow(
      "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
      "Tensor(a)",
      {});
  contiguous.decompose = [](Builder& b,
                            const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    Value* self = args.Tensor(0);
    MemoryFormat format = *args.OptionalMemoryFormat(1);
    if (IsContiguousIn(format, self->type.tensor(), b.shapes())) {
      return std::vector<Argument>{Argument::Of(self)};
    }
    return std::vector<Argument>{
        Argument::Of(b.Call("aten.clone", {self}, {{"memory_format", Argument::Of(format)}}))};
  };
  return {
      std::move(contiguous),
      ToRow("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
            "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
            [](const OpArgs& a) {
              return Target{a.OptionalDType(1), {}, a.Bool(3), a.OptionalMemoryFormat(4)};
            }),
      ToRow("aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, "
            "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
            "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> "
            "Tensor(a)",
            [](const OpArgs& a) {
              return Target{a.OptionalDType(1), a.OptionalDevice(3), a.Bool(6),
                            a.OptionalMemoryFormat(7)};
            }),
      ToRow("aten::to.device(Tensor(a) self, Device device, ScalarType dtype, "
            "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> "
            "Tensor(a)",
            [](const OpArgs& a) {
              return Target{a.OptionalDType(2), a.OptionalDevice(1), a.Bool(4),
                            a.OptionalMemoryFormat(5)};
            }),
      ToRow(
          "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, "
          "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
          [](const OpArgs& a) {
            return Target{a.Type(1).dtype, a.Type(1).device, a.Bool(3), a.OptionalMemoryFormat(4)};
          }),
      ToRow("aten::type_as(Tensor self, Tensor other) -> Tensor",
            [](const OpArgs& a) {
              return Target{a.Type(1).dtype, a.Type(1).device, false, std::nullopt};
            }),
  };
}

// Without training nothing is dropped, nor written in place.
OpRow Dropout(const std::string& arguments) {
  OpRow row;
  row.schema = "aten::" + arguments;
  row.doc = "The input itself when not training.";
  row.composite = true;
  row.batch = BatchRule::kByDecomposition;
  row.decompose = [](Builder&, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    if (args.Bool(2) && args.Float(1) != 0) {
      return Unimplemented(args.schema().name, ": training (train=true) is not supported");
    }
    return std::vector<Argument>{args[0]};
  };
  return row;
}

}  // namespace

std::vector<OpRow> CopyRows() {
  std::vector<OpRow> dropouts;
  for (const std::string name :
       {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"}) {
    dropouts.push_back(Dropout(name + "(Tensor input, float p, bool train) -> Tensor"));
    dropouts.push_back(Dropout(name + "_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"));
    dropouts.back().effect = Effect::kMutates;
  }
  return Concatenate({PlainCopyRows(), ConversionRows(), NamedCastRows(), std::move(dropouts)});
}

}  // namespace lathe
