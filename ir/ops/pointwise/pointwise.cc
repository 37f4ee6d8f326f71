#include "ir/ops/pointwise/pointwise.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/ops/columns/column_handler.h"
#include "ir/ops/host_call.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

bool IsTensorArgument(const OpArgs& args, int i) { return args[i].is_value(); }

bool IsMask(const PointwiseSpec& spec, int position) {
  return std::find(spec.masks.begin(), spec.masks.end(), position) != spec.masks.end();
}

std::vector<int> PromotingOperands(const PointwiseSpec& spec) {
  std::vector<int> result;
  for (size_t k = 0; k < spec.operands.size(); ++k) {
    if (!IsMask(spec, static_cast<int>(k))) result.push_back(spec.operands[k]);
  }
  return result;
}

absl::Status CheckTakes(const OpArgs& args, const Takes& takes, DType dtype) {
  bool fits = IsBool(dtype)      ? takes.boolean
              : IsInteger(dtype) ? takes.integer
              : IsFloat(dtype)   ? takes.floating
                                 : takes.complex;
  if (fits && !IsStorageOnly(dtype)) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": not defined for ", Name(dtype));
}

std::vector<TensorType> TensorOperands(const PointwiseSpec& spec, const OpArgs& args) {
  std::vector<TensorType> types;
  for (int i : spec.operands) {
    if (IsTensorArgument(args, i) && args.OptionalTensor(i)) types.push_back(args.Type(i));
  }
  return types;
}

// Numbers that a body folds into its constants must be constants themselves; factors need not.
absl::Status CheckNumbers(const PointwiseSpec& spec, const OpArgs& args) {
  for (int i = 0; i < args.size(); ++i) {
    const SchemaArgument& parameter = args.schema().arguments[i];
    bool is_operand =
        std::find(spec.operands.begin(), spec.operands.end(), i) != spec.operands.end();
    bool is_factor = parameter.name == "alpha" || parameter.name == "value";
    bool is_number = parameter.type == SchemaArgument::Type::kScalar ||
                     parameter.type == SchemaArgument::Type::kInt;
    if (is_operand || is_factor || !is_number || args.IsNone(i) || !args.ScalarExpr(i)) continue;
    return Unimplemented(args.schema().name, ": argument '", parameter.name,
                         "' is the symbolic number ", symbolic::ToString(*args.ScalarExpr(i)),
                         "; only a constant is supported there");
  }
  return absl::OkStatus();
}

// What eager's iterator sees of the operands when it lays the result out: those of another dtype
// are copied first, a number beside one tensor is a tensor too (but where it is a parameter of the
// function), rsub is sub the other way round.
void ArrangeAsEager(const PointwiseSpec& spec, const InferContext& c, DType common,
                    std::vector<TensorType>& types) {
  for (TensorType& type : types) {
    if (types.size() < 2 || type.dtype == common || !spec.masks.empty()) continue;
    type.strides = PreservedStrides(type, c.shapes);
  }
  const std::string& name = c.args.schema().name;
  if (name == "aten.rsub.Tensor") std::reverse(types.begin(), types.end());
  const bool is_pair = spec.operands.size() == 2 && !c.args.IsNone(spec.operands[0]) &&
                       !c.args.IsNone(spec.operands[1]);
  const bool is_parameter =
      name == "aten.pow.Tensor_Scalar" || name == "aten.clamp_min" || name == "aten.clamp_max";
  if (is_pair && types.size() == 1 && !is_parameter) {
    types.push_back(ContiguousType(types[0].dtype, std::vector<Expr>(), types[0].device));
  }
}

absl::StatusOr<std::vector<ValueType>> Infer(const PointwiseSpec& spec, const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckNumbers(spec, c.args));
  LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, spec.dtypes(c.args, PromotingOperands(spec)));
  std::vector<TensorType> types = TensorOperands(spec, c.args);
  absl::StatusOr<std::vector<Expr>> sizes = BroadcastSizes(types, c.shapes);
  if (!sizes.ok()) return Annotate(sizes.status(), c.args.schema().name);
  if (spec.contiguous_result) {
    return std::vector<ValueType>{
        ContiguousType(dtypes.result, *std::move(sizes), CommonDevice(types))};
  }
  ArrangeAsEager(spec, c, dtypes.common, types);
  return std::vector<ValueType>{ElementwiseType(dtypes.result, *std::move(sizes), types, c.shapes)};
}

// A Scalar operand as a value in the computing dtype.
OpsValue ScalarOperand(const PointwiseSpec& spec, OpsHandler& ops, const OpArgs& args, int i,
                       const PointwiseDTypes& dtypes, DType computing) {
  // Packed integers are computed in bytes, which hold more numbers.
  const auto wrapped = [&](OpsValue value) {
    if (!IsSubByte(dtypes.common)) return value;
    return ops.Cast(ops.Cast(value, dtypes.common), computing);
  };
  if (std::optional<Expr> e = args.ScalarExpr(i)) return wrapped(ops.IndexExpr(*e, computing));
  Scalar value = args.Number(i);
  if (spec.round_scalars) value = Convert(value, dtypes.common);
  return wrapped(ops.Constant(value, computing));
}

// Whether tensor operand k counts as a number.
bool IsNumber(const PointwiseSpec& spec, size_t k, int rank, const PointwiseDTypes& dtypes) {
  return spec.reads_numbers && k == 1 && rank == 0 && IsFloat(dtypes.common);
}

// A tensor operand, converted as eager's iterator does: to `common` but for numbers, then to what
// is computed in.
OpsValue ToComputing(OpsHandler& ops, OpsValue value, DType stored, bool is_number,
                     const PointwiseDTypes& dtypes, DType computing) {
  if (stored != dtypes.common && !is_number) value = ops.Cast(value, dtypes.common);
  return ops.dtype(value) == computing ? value : ops.Cast(value, computing);
}

absl::StatusOr<std::vector<Lowered>> Lower(const std::shared_ptr<const PointwiseSpec>& spec,
                                           const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, spec->dtypes(c.args, PromotingOperands(*spec)));
  for (const TensorType& type : TensorOperands(*spec, c.args)) {
    if (IsComplex(type.dtype)) {
      return Unimplemented(c.args.schema().name, ": complex numbers are not computed in loops");
    }
  }
  if (IsComplex(dtypes.common) || IsComplex(dtypes.result)) {
    return Unimplemented(c.args.schema().name, ": complex numbers are not computed in loops");
  }
  std::vector<Argument> arguments;
  for (int i = 0; i < c.args.size(); ++i) arguments.push_back(c.args[i]);
  const Schema* schema = &c.args.schema();
  std::vector<Expr> sizes = c.result().sizes;
  PointwiseLoops loops;
  loops.body = [spec, schema, arguments, dtypes, sizes](OpsHandler& ops, TensorReader& in,
                                                        Index index) {
    OpArgs args(*schema, arguments);
    DType computing = LoadedDType(dtypes.common);
    PointwiseCall call{ops, args, computing, dtypes, {}};
    for (size_t k = 0; k < spec->operands.size(); ++k) {
      int i = spec->operands[k];
      if (args.IsNone(i)) {
        call.in.push_back({});
      } else if (IsTensorArgument(args, i)) {
        Value* tensor = args.Tensor(i);
        const TensorType& type = tensor->type.tensor();
        OpsValue value = in.Load(ops, tensor, BroadcastIndex(type, sizes, index));
        bool is_mask = IsMask(*spec, static_cast<int>(k));
        call.in.push_back(is_mask ? ops.Cast(value, DType::kBool)
                                  : ToComputing(ops, value, type.dtype,
                                                IsNumber(*spec, k, type.rank(), dtypes), dtypes,
                                                computing));
      } else {
        call.in.push_back(ScalarOperand(*spec, ops, args, i, dtypes, computing));
      }
    }
    return spec->body(call);
  };
  return std::vector<Lowered>{loops};
}

// Storage positions of elements [begin, end) of an operand broadcast to `sizes`, advancing like an
// odometer.
class BroadcastWalk {
 public:
  BroadcastWalk(const Tensor& tensor, const Dims& sizes) : sizes_(sizes), index_(sizes.size(), 0) {
    size_t skipped = sizes.size() - tensor.sizes().size();
    for (size_t d = 0; d < sizes.size(); ++d) {
      bool repeats = d < skipped || (tensor.sizes()[d - skipped] == 1 && sizes[d] != 1);
      strides_.push_back(repeats ? 0 : tensor.strides()[d - skipped]);
    }
  }
  std::vector<int64_t> Next(int64_t count) {
    std::vector<int64_t> positions;
    for (int64_t k = 0; k < count; ++k) {
      positions.push_back(position_);
      for (int d = static_cast<int>(sizes_.size()) - 1; d >= 0; --d) {
        position_ += strides_[d];
        if (++index_[d] < sizes_[d]) break;
        position_ -= strides_[d] * sizes_[d];
        index_[d] = 0;
      }
    }
    return positions;
  }

 private:
  Dims sizes_, index_, strides_;
  int64_t position_ = 0;
};

constexpr int64_t kBlock = 1024;

// The element functions of a spec applied to columns.
OpsValue ApplyElements(const PointwiseSpec& spec, const PointwiseCall& call, ColumnHandler& ops,
                       int64_t count) {
  Column result;
  result.dtype = call.dtype;
  std::vector<double> floats(call.in.size());
  std::vector<int64_t> integers(call.in.size());
  for (int64_t e = 0; e < count; ++e) {
    for (size_t k = 0; k < call.in.size(); ++k) {
      if (spec.floats) floats[k] = ops.column(call[k]).floats[e];
      if (spec.integers) integers[k] = ops.column(call[k]).integers[e];
    }
    if (spec.floats) result.floats.push_back(spec.floats(call.args, floats));
    if (spec.integers) result.integers.push_back(spec.integers(call.args, integers));
  }
  return ops.Input(std::move(result));
}

absl::StatusOr<std::vector<HostValue>> Evaluate(const PointwiseSpec& spec,
                                                const EvaluateContext& c) {
  Graph graph("call", std::make_shared<ExprContext>());
  LATHE_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                         ToGraphArguments(c.args.schema(), c.args, graph, nullptr));
  OpArgs args(c.args.schema(), arguments);
  LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, spec.dtypes(args, PromotingOperands(spec)));
  DType computing = LoadedDType(dtypes.common);
  Tensor result = c.Allocate();
  Tensor dense = Tensor::Empty(result.dtype(), result.sizes());
  std::vector<BroadcastWalk> walks;
  for (int i : spec.operands) {
    walks.emplace_back(c.args.OptionalTensor(i).value_or(dense), result.sizes());
  }
  for (int64_t begin = 0, numel = result.numel(); begin < numel; begin += kBlock) {
    int64_t count = std::min(kBlock, numel - begin);
    ColumnHandler ops(count);
    PointwiseCall call{ops, args, computing, dtypes, {}};
    for (size_t k = 0; k < spec.operands.size(); ++k) {
      int i = spec.operands[k];
      if (std::optional<Tensor> tensor = c.args.OptionalTensor(i)) {
        OpsValue value = ops.Input(GatherColumn(*tensor, walks[k].Next(count)));
        bool is_mask = IsMask(spec, static_cast<int>(k));
        call.in.push_back(is_mask ? ops.Cast(value, DType::kBool)
                                  : ToComputing(ops, value, tensor->dtype(),
                                                IsNumber(spec, k, tensor->rank(), dtypes), dtypes,
                                                computing));
      } else if (args.IsNone(i)) {
        call.in.push_back({});
      } else {
        call.in.push_back(ScalarOperand(spec, ops, args, i, dtypes, computing));
      }
    }
    OpsValue value = spec.body ? spec.body(call) : ApplyElements(spec, call, ops, count);
    if (!ops.status().ok()) return Annotate(ops.status(), c.args.schema().name);
    WriteColumn(ops.column(value), dense, begin);
  }
  if (result.is_contiguous()) {  // whatever the strides of sizes below 2
    return std::vector<HostValue>{dense.AsStrided(result.sizes(), result.strides(), 0)};
  }
  result.CopyFrom(dense);
  return std::vector<HostValue>{result};
}

}  // namespace

DTypeRule Promote(Takes takes) {
  return [takes](const OpArgs& args,
                 absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedType(args, operands));
    LATHE_RETURN_IF_ERROR(CheckTakes(args, takes, dtype));
    return PointwiseDTypes{dtype, dtype};
  };
}

DTypeRule PromoteToFloat(Takes takes) {
  return [takes](const OpArgs& args,
                 absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedType(args, operands));
    LATHE_RETURN_IF_ERROR(CheckTakes(args, takes, dtype));
    dtype = ToFloatType(dtype);
    return PointwiseDTypes{dtype, dtype};
  };
}

DTypeRule PromoteToBool(Takes takes) {
  return [takes](const OpArgs& args,
                 absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedType(args, operands));
    LATHE_RETURN_IF_ERROR(CheckTakes(args, takes, dtype));
    return PointwiseDTypes{dtype, DType::kBool};
  };
}

DTypeRule AsBool() {
  return [](const OpArgs&, absl::Span<const int>) -> absl::StatusOr<PointwiseDTypes> {
    return PointwiseDTypes{DType::kBool, DType::kBool};
  };
}

DTypeRule OfOperand(int k, Takes takes) {
  return [k, takes](const OpArgs& args,
                    absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    DType dtype = args.Type(operands[k]).dtype;
    LATHE_RETURN_IF_ERROR(CheckTakes(args, takes, dtype));
    return PointwiseDTypes{dtype, dtype};
  };
}

OpsValue PointwiseCall::Number(int i) const {
  if (std::optional<Expr> e = args.ScalarExpr(i)) return ops.IndexExpr(*e, dtype);
  return ops.Constant(args.Number(i), dtype);
}

OpsValue PointwiseCall::Rounded(OpsValue value) const {
  return dtypes.common == dtype ? value : ops.Cast(ops.Cast(value, dtypes.common), dtype);
}

OpRow Pointwise(PointwiseSpec spec) {
  auto shared = std::make_shared<const PointwiseSpec>(std::move(spec));
  OpRow row;
  row.schema = shared->schema;
  row.doc = shared->doc;
  row.batch = BatchRule::kElementwise;
  row.samples = shared->samples;
  row.infer = [shared](const InferContext& c) { return Infer(*shared, c); };
  if (shared->body) row.lower = [shared](const LowerContext& c) { return Lower(shared, c); };
  row.evaluate = [shared](const EvaluateContext& c) { return Evaluate(*shared, c); };
  return row;
}

PointwiseBody BodyOf(UnaryMethod method) {
  return [method](const PointwiseCall& c) { return (c.ops.*method)(c[0]); };
}

PointwiseBody BodyOf(BinaryMethod method) {
  return [method](const PointwiseCall& c) { return (c.ops.*method)(c[0], c[1]); };
}

OpRow Unary(const std::string& name, const std::string& doc, DTypeRule dtypes, PointwiseBody body) {
  return Pointwise({.schema = absl::StrCat("aten::", name, "(Tensor self) -> Tensor"),
                    .doc = doc,
                    .dtypes = std::move(dtypes),
                    .body = std::move(body),
                    .samples = {absl::StrCat("aten.", name, "(f32[3])")}});
}

OpRow Unary(const std::string& name, const std::string& doc, DTypeRule dtypes, UnaryMethod method) {
  return Unary(name, doc, std::move(dtypes), BodyOf(method));
}

OpRow Binary(const std::string& schema, const std::string& doc, DTypeRule dtypes,
             PointwiseBody body) {
  return Pointwise({.schema = schema,
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .body = std::move(body)});
}

OpRow Binary(const std::string& schema, const std::string& doc, DTypeRule dtypes,
             BinaryMethod method, bool round_scalars) {
  return Pointwise({.schema = schema,
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .body = BodyOf(method),
                    .round_scalars = round_scalars});
}

OpRow BinaryOfNumbers(const std::string& schema, const std::string& doc, DTypeRule dtypes,
                      PointwiseBody body) {
  return Pointwise({.schema = schema,
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .body = std::move(body),
                    .reads_numbers = true});
}

}  // namespace lathe
