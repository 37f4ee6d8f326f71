#include "codegen/tile/stage_compiler.h"

#include <algorithm>
#include <bit>

#include "codegen/tile/nan_kernels.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/convert_steps.h"
#include "ir/loops/computed_nan.h"
#include "ir/loops/stage_phases.h"
#include "runtime/abi/kernel.h"

namespace lathe::tile {
namespace {

using symbolic::ExprKind;
using symbolic::ExprType;

int BytesOf(DType dtype) { return LayoutOf(dtype).bytes; }

// What operations are lowered into: the elements of the stage, or what follows its reduction.
struct Mode {
  bool post = false;
  int row_axis = -1, col_axis = -1;
  std::vector<Operand> values;  // by operation
  absl::flat_hash_map<Expr, Operand> expressions;
  absl::flat_hash_map<int, Operand> stored_locals;
  absl::flat_hash_map<Operand, Operand> canonical;  // with the NaN that is stored

  bool IsTiled(int axis) const { return axis == row_axis || axis == col_axis; }
};

class StageCompiler {
 public:
  StageCompiler(KernelContext& kernel, const SpecStage& stage, const StageShape& shape)
      : kernel_(kernel), ops_(stage.body.ops), stage_(stage) {
    out_.parallel = shape.parallel;
    out_.reduce = shape.reduce;
    out_.row_axis = shape.row_axis;
    out_.col_axis = shape.col_axis;
    out_.has_reduction = shape.has_reduction;
    out_.col_reduces = shape.col_reduces;
    out_.row_reduces = shape.row_reduces;
    out_.rows_given = shape.rows_given;
    out_.post_along_rows = shape.post_along_rows;
    SetLevels();
    element_.row_axis = shape.row_axis;
    element_.col_axis = shape.col_axis;
    post_.post = true;
    post_.col_axis = shape.post_along_rows ? shape.row_axis
                     : shape.col_reduces   ? -1
                                           : shape.col_axis;
    for (Mode* mode : {&element_, &post_}) mode->values.assign(ops_.size(), kNoOperand);
  }

  absl::StatusOr<StageProgram> Compile() {
    FindSymbolsAndOrder();
    computed_nans_ = MayBeComputedNan(ops_);
    phases_ = StagePhases(kernel_.spec, stage_);
    mode_ = &element_;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (phases_[i] == OpPhase::kReduced) continue;
      LATHE_RETURN_IF_ERROR(ElementOperation(static_cast<int>(i)));
    }
    for (size_t level = 0; level < deferred_.size(); ++level) {
      for (Instruction& i : deferred_[level]) out_.sections[level].push_back(i);
    }
    mode_ = &post_;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (phases_[i] != OpPhase::kReduced || HasPlainResult(ops_[i])) continue;
      LATHE_RETURN_IF_ERROR(Effect(static_cast<int>(i)));
    }
    return std::move(out_);
  }

 private:
  // ---- Levels.

  void SetLevels() {
    int level = 0;
    for (int16_t axis : out_.parallel) level_of_axis_[axis] = ++level;
    const bool tile_first =
        out_.has_reduction && !out_.col_reduces && !out_.row_reduces && out_.col_axis >= 0;
    const auto tile = [&] {
      if (out_.col_axis < 0) return;
      out_.tile_level = ++level;
      for (int16_t axis : {out_.row_axis, out_.col_axis}) level_of_axis_[axis] = level;
    };
    if (tile_first) tile();
    for (int16_t axis : out_.reduce) level_of_axis_[axis] = ++level;
    if (!tile_first) tile();
    out_.sections.resize(level + 1);
    deferred_.resize(level + 1);
  }
  int deepest() const { return static_cast<int>(out_.sections.size()) - 1; }
  int LevelOf(int axis) const {
    auto it = level_of_axis_.find(axis);
    return it == level_of_axis_.end() ? 0 : it->second;
  }

  // Loads after a store to the same buffer see what it stored: then everything keeps its order.
  void FindSymbolsAndOrder() {
    std::vector<bool> stored(kernel_.spec.buffers.size(), false);
    for (size_t i = 0; i < ops_.size(); ++i) {
      const LoopOp& op = ops_[i];
      if (op.kind == OpKind::kIndirect) indirect_[op.symbol] = static_cast<int>(i);
      if (op.kind == OpKind::kStore) stored[op.buffer] = true;
      if (op.kind == OpKind::kLoad && stored[op.buffer]) ordered_ = true;
    }
    stored_buffers_ = std::move(stored);
  }

  static bool HasPlainResult(const LoopOp& op) {
    return op.kind != OpKind::kStore && op.kind != OpKind::kStoreLocal &&
           op.kind != OpKind::kCheck && op.kind != OpKind::kIndirect;
  }

  absl::Status ElementOperation(int i) {
    const LoopOp& op = ops_[i];
    if (op.kind == OpKind::kReduce) return AddReduction(i);
    if (op.kind == OpKind::kIndirect || (ordered_ && op.kind == OpKind::kLoad)) {
      return Value(i).status();
    }
    return HasPlainResult(op) ? absl::OkStatus() : Effect(i);
  }

  // ---- Operands and instructions.

  OperandInfo& info(Operand operand) { return out_.operands[operand]; }
  bool Varies(Operand operand) { return operand != kNoOperand && info(operand).varies; }

  Operand NewOperand(int bytes, bool varies, int level) {
    OperandInfo operand;
    operand.kind = varies ? OperandInfo::Kind::kTile : OperandInfo::Kind::kScalar;
    operand.bytes = static_cast<uint8_t>(bytes);
    operand.varies = varies;
    operand.level = static_cast<int16_t>(level);
    out_.operands.push_back(operand);
    return static_cast<Operand>(out_.operands.size() - 1);
  }

  Operand ConstantOperand(const Scalar& value, DType dtype) {
    const DType storage = StorageOf(dtype);
    const Operand operand = NewOperand(BytesOf(storage), false, 0);
    info(operand).kind = OperandInfo::Kind::kConstant;
    info(operand).offset = kernel_.constants.OffsetOf(Convert(value, dtype), storage);
    return operand;
  }

  std::vector<Instruction>& Section(int level) {
    return mode_->post ? out_.post : out_.sections[level];
  }

  // Level and variation of an instruction with these operands, and its scalar bits.
  struct Inputs {
    int level = 0;
    bool varies = false;
  };
  Inputs SetInputs(Instruction& i, Operand a, Operand b = kNoOperand, Operand c = kNoOperand) {
    Inputs inputs;
    i.a = a;
    i.b = b;
    i.c = c;
    int bit = 1;
    for (Operand operand : {a, b, c}) {
      if (operand != kNoOperand) {
        inputs.level = std::max<int>(inputs.level, info(operand).level);
        inputs.varies |= Varies(operand);
        if (!Varies(operand)) i.scalars |= bit;
      }
      bit <<= 1;
    }
    return inputs;
  }

  // Emits an instruction with a result of `bytes` an element.
  Operand Result(Instruction i, int bytes, Inputs inputs) {
    i.bytes = static_cast<uint8_t>(bytes);
    i.dst = NewOperand(bytes, inputs.varies, inputs.level);
    if (!inputs.varies) i.scalar_n = static_cast<int16_t>(kScalarBytes / bytes);
    Section(inputs.level).push_back(i);
    return i.dst;
  }

  Operand Compute(TileFunction function, int bytes, Operand a, Operand b = kNoOperand,
                  Operand c = kNoOperand) {
    Instruction i;
    i.function = function;
    const Inputs inputs = SetInputs(i, a, b, c);
    return Result(i, bytes, inputs);
  }

  absl::StatusOr<Operand> Arithmetic(OpKind kind, DType dtype, Operand a, Operand b = kNoOperand,
                                     Operand c = kNoOperand) {
    const TileFunction function = kernel_.table.Find(kind, dtype);
    if (function == nullptr) {
      return Unimplemented("tile tier: ", OpKindName(kind), " of ",
                           absl::string_view(lathe::Name(dtype)));
    }
    return Compute(function, BytesOf(ResultDType(kind, dtype)), a, b, c);
  }

  int32_t AddAccess(Access access) {
    out_.accesses.push_back(std::move(access));
    return static_cast<int32_t>(out_.accesses.size() - 1);
  }

  // ---- Index expressions.

  struct Place {
    Access access;
    Inputs inputs;  // of everything but a mask and a stored value
  };

  absl::StatusOr<Place> PlaceOf(const AffineForm& form) {
    Place place;
    LATHE_ASSIGN_OR_RETURN(place.access.at.constant, kernel_.slots.Of(form.constant));
    for (const auto& [axis, coefficient] : form.coefficients) {
      if (kernel_.merged[axis]) continue;
      LATHE_ASSIGN_OR_RETURN(const Slot slot, kernel_.slots.Of(coefficient));
      place.access.at.terms.push_back({static_cast<int16_t>(axis), slot});
      place.inputs.level = std::max(place.inputs.level, LevelOf(axis));
      if (axis == mode_->row_axis) place.access.row_step = slot;
      if (axis == mode_->col_axis) place.access.col_step = slot;
      place.inputs.varies |= mode_->IsTiled(axis);
    }
    Operand tile = kNoOperand;
    for (const Expr& term : form.rest) {
      LATHE_ASSIGN_OR_RETURN(const Operand value, IndexValue(term));
      place.inputs.level = std::max<int>(place.inputs.level, info(value).level);
      if (!Varies(value)) {
        place.access.at.scalars.push_back(value);
        continue;
      }
      place.inputs.varies = true;
      if (tile == kNoOperand) {
        tile = value;
      } else {
        LATHE_ASSIGN_OR_RETURN(tile, Arithmetic(OpKind::kAdd, DType::kI64, tile, value));
      }
    }
    place.access.index = tile;
    return place;
  }

  // The index tile of a gather or scatter: the varying terms, and the steps along the tile's axes.
  absl::StatusOr<Operand> IndexTile(const Access& access) {
    if (access.index == kNoOperand) return StepsTile(access.row_step, access.col_step);
    if (access.row_step == kZeroSlot && access.col_step == kZeroSlot) return access.index;
    const Operand steps = StepsTile(access.row_step, access.col_step);
    return Arithmetic(OpKind::kAdd, DType::kI64, access.index, steps);
  }
  Operand StepsTile(Slot row_step, Slot col_step) {
    Access steps;
    steps.row_step = row_step;
    steps.col_step = col_step;
    Instruction i;
    i.code = Code::kIota;
    i.access = AddAccess(std::move(steps));
    return Result(i, 8, {mode_->post ? 0 : out_.tile_level, true});
  }

  // An expression as an i64 operand; boolean ones as bool.
  absl::StatusOr<Operand> IndexValue(const Expr& e) {
    if (std::optional<int64_t> value = e.AsInt(); value && e.type() == ExprType::kInt) {
      return ConstantOperand(*value, DType::kI64);
    }
    if (auto it = mode_->expressions.find(e); it != mode_->expressions.end()) return it->second;
    LATHE_ASSIGN_OR_RETURN(const Operand operand, NewIndexValue(e));
    mode_->expressions[e] = operand;
    return operand;
  }

  absl::StatusOr<Operand> NewIndexValue(const Expr& e) {
    if (e.type() == ExprType::kFloat && !kernel_.splitter.IsSize(e)) {
      return Unimplemented("tile tier: float index expression ", symbolic::ToString(e));
    }
    if (e.type() == ExprType::kBool) return BooleanValue(e);
    const AffineForm form = kernel_.splitter.Split(e);
    const bool is_one_term =
        form.coefficients.empty() && form.constant == Expr(0) && form.rest.size() == 1;
    if (is_one_term) return TermValue(form.rest[0]);
    LATHE_ASSIGN_OR_RETURN(Place place, PlaceOf(form));
    const Operand rest = place.access.index;
    place.access.index = kNoOperand;
    const bool affine_varies =
        place.access.row_step != kZeroSlot || place.access.col_step != kZeroSlot;
    Instruction i;
    i.code = affine_varies ? Code::kIota : Code::kSplat;
    int level = 0;
    for (const auto& [axis, coefficient] : form.coefficients)
      level = std::max(level, LevelOf(axis));
    for (Operand scalar : place.access.at.scalars) {
      level = std::max<int>(level, info(scalar).level);
    }
    i.access = AddAccess(std::move(place.access));
    const Operand affine = Result(i, 8, {level, affine_varies});
    if (rest == kNoOperand) return affine;
    return Arithmetic(OpKind::kAdd, DType::kI64, rest, affine);
  }

  absl::StatusOr<Operand> TermValue(const Expr& e) {
    if (auto it = indirect_.find(e); it != indirect_.end()) return Value(it->second);
    std::vector<Operand> operands;
    for (const Expr& operand : e.operands()) {
      LATHE_ASSIGN_OR_RETURN(const Operand value, IndexValue(operand));
      operands.push_back(value);
    }
    switch (e.kind()) {
      case ExprKind::kAdd:
        return Chain(OpKind::kAdd, operands);
      case ExprKind::kMul:
        return Chain(OpKind::kMul, operands);
      case ExprKind::kMin:
        return Chain(OpKind::kMinimum, operands);
      case ExprKind::kMax:
        return Chain(OpKind::kMaximum, operands);
      case ExprKind::kBitAnd:
        return Chain(OpKind::kAnd, operands);
      case ExprKind::kBitOr:
        return Chain(OpKind::kOr, operands);
      case ExprKind::kBitXor:
        return Chain(OpKind::kXor, operands);
      case ExprKind::kShiftLeft:
        return Chain(OpKind::kShiftLeft, operands);
      case ExprKind::kShiftRight:
        return Chain(OpKind::kShiftRight, operands);
      case ExprKind::kAbs:
        return Arithmetic(OpKind::kAbs, DType::kI64, operands[0]);
      case ExprKind::kWhere:
        return Arithmetic(OpKind::kWhere, DType::kI64, operands[0], operands[1], operands[2]);
      case ExprKind::kFloorDiv:
        return IndexMath(IndexOp::kFloorDiv, operands);
      case ExprKind::kMod:
        return IndexMath(IndexOp::kMod, operands);
      case ExprKind::kTruncDiv:
        return IndexMath(IndexOp::kTruncDiv, operands);
      case ExprKind::kTruncMod:
        return IndexMath(IndexOp::kTruncMod, operands);
      case ExprKind::kPow:
        return IndexMath(IndexOp::kPow, operands);
      default:
        return Unimplemented("tile tier: index expression ", symbolic::ToString(e));
    }
  }

  absl::StatusOr<Operand> Chain(OpKind kind, const std::vector<Operand>& operands,
                                DType dtype = DType::kI64) {
    Operand result = operands[0];
    for (size_t k = 1; k < operands.size(); ++k) {
      LATHE_ASSIGN_OR_RETURN(result, Arithmetic(kind, dtype, result, operands[k]));
    }
    return result;
  }

  Operand IndexMath(IndexOp op, const std::vector<Operand>& operands) {
    Instruction i;
    i.code = Code::kIndexMath;
    i.index_function = FindIndexFunction(op);
    const Inputs inputs = SetInputs(i, operands[0], operands[1]);
    return Result(i, 8, inputs);
  }

  absl::StatusOr<Operand> BooleanValue(const Expr& e) {
    if (std::optional<bool> value = e.AsBool()) return ConstantOperand(*value, DType::kBool);
    std::vector<Operand> operands;
    for (const Expr& operand : e.operands()) {
      LATHE_ASSIGN_OR_RETURN(const Operand value, IndexValue(operand));
      operands.push_back(value);
    }
    const DType dtype = e.operands().empty() || e.operands()[0].type() == ExprType::kBool
                            ? DType::kBool
                            : DType::kI64;
    switch (e.kind()) {
      case ExprKind::kEq:
        return Arithmetic(OpKind::kEq, dtype, operands[0], operands[1]);
      case ExprKind::kNe:
        return Arithmetic(OpKind::kNe, dtype, operands[0], operands[1]);
      case ExprKind::kLt:
        return Arithmetic(OpKind::kLt, dtype, operands[0], operands[1]);
      case ExprKind::kLe:
        return Arithmetic(OpKind::kLe, dtype, operands[0], operands[1]);
      case ExprKind::kAnd:
        return Chain(OpKind::kAnd, operands, DType::kBool);
      case ExprKind::kOr:
        return Chain(OpKind::kOr, operands, DType::kBool);
      case ExprKind::kNot:
        return Arithmetic(OpKind::kLogicalNot, DType::kBool, operands[0]);
      default:
        return Unimplemented("tile tier: condition ", symbolic::ToString(e));
    }
  }

  // ---- Operations with a result.

  absl::StatusOr<Operand> Value(int id) {
    Operand& known = mode_->values[id];
    if (known != kNoOperand) return known;
    LATHE_ASSIGN_OR_RETURN(const Operand operand, NewValue(id));
    mode_->values[id] = operand;
    return operand;
  }

  DType OperandDType(const LoopOp& op, size_t k) const { return ops_[op.operands[k]].dtype; }

  // Operand `k` with the NaN that both tiers agree on, where its bits show.
  absl::StatusOr<Operand> Shown(const LoopOp& op, size_t k) {
    const int id = op.operands[k];
    LATHE_ASSIGN_OR_RETURN(const Operand operand, Value(id));
    if (!computed_nans_[id] || !ShowsBits(op, k, ops_[id].dtype)) return operand;
    const auto [known, is_new] = mode_->canonical.try_emplace(operand, kNoOperand);
    if (is_new) {
      const Operand made = Compute(CanonicalNan(ops_[id].dtype), BytesOf(ops_[id].dtype), operand);
      mode_->canonical[operand] = made;
      return made;
    }
    return known->second;
  }

  absl::StatusOr<Operand> Mask(const LoopOp& op) {
    if (op.mask == kNoValue) return kNoOperand;
    return Value(op.mask);
  }

  absl::StatusOr<Operand> NewValue(int id) {
    const LoopOp& op = ops_[id];
    switch (op.kind) {
      case OpKind::kConstant:
        return ConstantOperand(op.constant, op.dtype);
      case OpKind::kIndexExpr:
        return IndexExpression(op);
      case OpKind::kLoad:
        return Load(op);
      case OpKind::kLoadLocal:
        return LoadLocal(op);
      case OpKind::kIndirect:
        return Indirect(op);
      case OpKind::kCast: {
        LATHE_ASSIGN_OR_RETURN(const Operand a, Shown(op, 0));
        return Cast(a, OperandDType(op, 0), op.dtype);
      }
      case OpKind::kBitCast: {
        if (IsSubByte(op.dtype) && op.dtype != OperandDType(op, 0)) {
          return Unimplemented("tile tier: bitcast of sub-byte integers");
        }
        return Shown(op, 0);
      }
      case OpKind::kReduce:
        return Internal("tile tier: a reduction used before it ends");
      default:
        return Computed(op);
    }
  }

  absl::StatusOr<Operand> Computed(const LoopOp& op) {
    const DType dtype = OperandDType(op, op.kind == OpKind::kWhere ? 1 : 0);
    Operand args[3] = {kNoOperand, kNoOperand, kNoOperand};
    for (size_t k = 0; k < op.operands.size(); ++k) {
      LATHE_ASSIGN_OR_RETURN(args[k], Shown(op, k));
    }
    if (IsIntegerDivision(op.kind, dtype)) return Division(op, dtype, args[0], args[1]);
    const bool is_rounding = op.kind == OpKind::kFloor || op.kind == OpKind::kCeil ||
                             op.kind == OpKind::kTrunc || op.kind == OpKind::kRound;
    if (is_rounding && !IsFloat(dtype)) return args[0];
    return Arithmetic(op.kind, dtype, args[0], args[1], args[2]);
  }

  absl::StatusOr<Operand> Division(const LoopOp& op, DType dtype, Operand a, Operand b) {
    Instruction i;
    i.code = Code::kDivide;
    i.division = FindDivision(op.kind, dtype);
    i.error = kLatheDivisionError;
    LATHE_ASSIGN_OR_RETURN(const Operand mask, Mask(op));
    const Inputs inputs = SetInputs(i, a, b, mask);
    return Result(i, BytesOf(dtype), inputs);
  }

  absl::StatusOr<Operand> IndexExpression(const LoopOp& op) {
    if (op.index.type() == ExprType::kFloat) {
      if (!kernel_.splitter.IsSize(op.index)) {
        return Unimplemented("tile tier: float index expression ", symbolic::ToString(op.index));
      }
      Access access;
      LATHE_ASSIGN_OR_RETURN(access.at.constant, kernel_.slots.Of(op.index));
      Instruction i;
      i.code = Code::kSplat;  // the bits of a double
      i.access = AddAccess(std::move(access));
      return Cast(Result(i, 8, {}), DType::kF64, op.dtype);
    }
    LATHE_ASSIGN_OR_RETURN(const Operand value, IndexValue(op.index));
    const DType from = op.index.type() == ExprType::kBool ? DType::kBool : DType::kI64;
    return Cast(value, from, op.dtype);
  }

  absl::StatusOr<Operand> Cast(Operand a, DType from, DType to) {
    if (from == to) return a;
    if (IsSubByte(to)) return CastToSubByte(a, from, to);
    from = StorageOf(from);
    if (from == to) return a;
    const bool same_integers = IsInteger(from) && IsInteger(to) && BytesOf(from) == BytesOf(to);
    if (same_integers) return a;
    for (const ConvertStep& step : ConvertSteps(from, to)) {
      Instruction i;
      i.code = Code::kConvert;
      i.conversion = step.loop;
      const Inputs inputs = SetInputs(i, a);
      a = Result(i, BytesOf(step.out), inputs);
    }
    return a;
  }

  // The low bits, extended: by a mask, or by shifts to the top and back.
  absl::StatusOr<Operand> CastToSubByte(Operand a, DType from, DType to) {
    const DType storage = StorageOf(to);
    LATHE_ASSIGN_OR_RETURN(const Operand byte, Cast(a, from, storage));
    const int width = BitWidth(to);
    if (!IsSigned(to)) {
      return Arithmetic(OpKind::kAnd, storage, byte, ConstantOperand((1 << width) - 1, storage));
    }
    const Operand unused = ConstantOperand(8 - width, storage);
    LATHE_ASSIGN_OR_RETURN(const Operand top,
                           Arithmetic(OpKind::kShiftLeft, storage, byte, unused));
    return Arithmetic(OpKind::kShiftRight, storage, top, unused);
  }

  absl::StatusOr<Operand> Load(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(Place place, PlaceOf(kernel_.splitter.Split(op.index)));
    LATHE_ASSIGN_OR_RETURN(const Operand mask, Mask(op));
    place.access.memory = static_cast<int16_t>(op.buffer);
    if (ordered_ && stored_buffers_[op.buffer]) {
      place.inputs.level = deepest();
      place.access.always_copy = true;
    }
    return LoadFrom(std::move(place), op.dtype, mask);
  }

  absl::StatusOr<Operand> LoadFrom(Place place, DType dtype, Operand mask) {
    Access& access = place.access;
    access.dtype = dtype;
    access.layout = LayoutOf(dtype);
    Instruction i;
    Inputs inputs = SetInputs(i, kNoOperand, kNoOperand, mask);
    inputs.level = std::max(inputs.level, place.inputs.level);
    inputs.varies |= place.inputs.varies;
    if (!inputs.varies) {
      i.code = Code::kLoadScalar;
    } else if (access.index != kNoOperand) {
      i.code = Code::kGather;
      LATHE_ASSIGN_OR_RETURN(access.index, IndexTile(access));
      inputs.level = std::max<int>(inputs.level, info(access.index).level);
    } else {
      i.code = mask == kNoOperand ? Code::kLoad : Code::kLoadMasked;
    }
    const int bytes = access.layout.bytes;
    i.access = AddAccess(std::move(access));
    return Result(i, bytes, inputs);
  }

  absl::StatusOr<Operand> LoadLocal(const LoopOp& op) {
    if (auto it = mode_->stored_locals.find(op.buffer); it != mode_->stored_locals.end()) {
      return it->second;
    }
    if (!kernel_.locals[op.buffer].in_memory) return LocalScalar(op.buffer);
    LATHE_ASSIGN_OR_RETURN(Place place, PlaceOf(LocalPlace(kernel_, op.buffer)));
    place.access.memory = static_cast<int16_t>(kernel_.spec.buffers.size() + op.buffer);
    return LoadFrom(std::move(place), op.dtype, kNoOperand);
  }

  Operand LocalScalar(int local) {
    const Operand operand = NewOperand(kernel_.locals[local].bytes, false, 0);
    info(operand).kind = OperandInfo::Kind::kLocalScalar;
    info(operand).local = static_cast<int16_t>(local);
    info(operand).offset = kernel_.locals[local].scalar_offset;
    return operand;
  }

  absl::StatusOr<Operand> Indirect(const LoopOp& op) {
    if (!kernel_.splitter.IsSize(op.index)) {
      return Unimplemented("tile tier: an index below ", symbolic::ToString(op.index));
    }
    LATHE_ASSIGN_OR_RETURN(const Operand value, Value(op.operands[0]));
    LATHE_ASSIGN_OR_RETURN(const Operand mask, Mask(op));
    Instruction i;
    i.code = Code::kCheckIndex;
    i.error = kLatheIndexError;
    LATHE_ASSIGN_OR_RETURN(i.slot, kernel_.slots.Of(op.index));
    const Inputs inputs = SetInputs(i, value, kNoOperand, mask);
    return Result(i, 8, inputs);
  }

  // ---- Operations without a result.

  absl::Status Effect(int id) {
    const LoopOp& op = ops_[id];
    switch (op.kind) {
      case OpKind::kStore:
        return Store(op);
      case OpKind::kStoreLocal:
        return StoreLocal(op);
      case OpKind::kIndirect:
        return Value(id).status();
      default:
        return Check(op);
    }
  }

  absl::Status Check(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(const Operand condition, Value(op.operands[0]));
    LATHE_ASSIGN_OR_RETURN(const Operand mask, Mask(op));
    Instruction i;
    i.code = Code::kCheck;
    i.error = 1 + op.error;
    const Inputs inputs = SetInputs(i, condition, kNoOperand, mask);
    if (!inputs.varies) i.scalar_n = 1;
    Section(inputs.level).push_back(i);
    return absl::OkStatus();
  }

  void EmitStore(const Instruction& i, int level) {
    if (mode_->post) {
      out_.post.push_back(i);
    } else if (ordered_) {
      out_.sections[level].push_back(i);
    } else {
      deferred_[level].push_back(i);
    }
  }

  absl::Status Store(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(Place place, PlaceOf(kernel_.splitter.Split(op.index)));
    LATHE_ASSIGN_OR_RETURN(const Operand value, Shown(op, 0));
    LATHE_ASSIGN_OR_RETURN(const Operand mask, Mask(op));
    place.access.memory = static_cast<int16_t>(op.buffer);
    if (ordered_) place.inputs.level = deepest();
    return StoreTo(std::move(place), kernel_.spec.buffers[op.buffer].dtype, value, mask,
                   op.mode == StoreMode::kAtomicAdd);
  }

  absl::Status StoreTo(Place place, DType dtype, Operand value, Operand mask, bool atomic) {
    Access& access = place.access;
    access.dtype = dtype;
    access.layout = LayoutOf(dtype);
    Instruction i;
    i.bytes = access.layout.bytes;
    Inputs inputs = SetInputs(i, value, kNoOperand, mask);
    inputs.level = std::max(inputs.level, place.inputs.level);
    inputs.varies |= place.inputs.varies;
    if (atomic) {  // once for every element, whatever it depends on
      i.code = Code::kAtomicAdd;
      inputs.level = mode_->post ? 0 : deepest();
      if (mode_->col_axis >= 0) {
        LATHE_ASSIGN_OR_RETURN(access.index, IndexTile(access));
      } else {
        i.scalar_n = 1;
      }
    } else if (!inputs.varies) {
      i.code = Code::kStoreScalar;
    } else if (access.index != kNoOperand) {
      i.code = Code::kScatter;
      LATHE_ASSIGN_OR_RETURN(access.index, IndexTile(access));
      inputs.level = std::max<int>(inputs.level, info(access.index).level);
    } else {
      i.code = Code::kStore;
    }
    i.access = AddAccess(std::move(access));
    EmitStore(i, inputs.level);
    return absl::OkStatus();
  }

  absl::Status StoreLocal(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(const Operand value, Value(op.operands[0]));
    mode_->stored_locals[op.buffer] = value;
    if (kernel_.locals[op.buffer].in_memory) {
      LATHE_ASSIGN_OR_RETURN(Place place, PlaceOf(LocalPlace(kernel_, op.buffer)));
      place.access.memory = static_cast<int16_t>(kernel_.spec.buffers.size() + op.buffer);
      return StoreTo(std::move(place), kernel_.spec.locals[op.buffer].dtype, value, kNoOperand,
                     false);
    }
    Instruction i;
    i.code = Code::kCopyScalar;
    const Inputs inputs = SetInputs(i, value);
    LATHE_CHECK(!inputs.varies) << "a varying value in a scalar local";
    i.dst = LocalScalar(op.buffer);
    EmitStore(i, inputs.level);
    return absl::OkStatus();
  }

  // ---- Reductions.

  Scalar Identity(ReduceKind kind, DType dtype) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const int unused = 64 - BitWidth(dtype);
    const Scalar lowest = IsFloat(dtype)    ? Scalar(-kInf)
                          : IsSigned(dtype) ? Scalar(std::numeric_limits<int64_t>::min() >> unused)
                                            : Scalar(0);
    const Scalar highest = IsFloat(dtype)    ? Scalar(kInf)
                           : IsBool(dtype)   ? Scalar(true)
                           : IsSigned(dtype) ? Scalar(std::numeric_limits<int64_t>::max() >> unused)
                                             : Scalar(~uint64_t{0} >> unused);
    switch (kind) {
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        return Scalar(1);
      case ReduceKind::kMax:
        return lowest;
      case ReduceKind::kMin:
        return highest;
      default:
        return Scalar(0);
    }
  }

  // A scalar as a tile, for accumulators want every element.
  Operand AsTile(Operand operand) {
    if (Varies(operand) || out_.tile_level == 0) return operand;
    Instruction i;
    i.code = Code::kRepeat;
    i.scalars = 1;
    i.a = operand;
    return Result(i, info(operand).bytes, {std::max<int>(info(operand).level, 0), true});
  }

  absl::Status AddReduction(int id) {
    const LoopOp& op = ops_[id];
    const DType dtype = OperandDType(op, 0);
    Reduction reduction;
    reduction.kind = op.reduce;
    reduction.is_arg = IsArgument(op.reduce);
    reduction.bytes = static_cast<uint8_t>(BytesOf(dtype));
    if (reduction.is_arg) {
      const int which = op.reduce == ReduceKind::kArgMax ? 0 : 1;
      reduction.arg_functions = kernel_.table.arg_reduce[which][static_cast<int>(dtype)];
    } else {
      reduction.functions =
          kernel_.table.reduce[static_cast<int>(op.reduce)][static_cast<int>(dtype)];
    }
    LATHE_ASSIGN_OR_RETURN(Operand value, Value(op.operands[0]));
    reduction.value = AsTile(value);
    if (reduction.is_arg) {
      LATHE_ASSIGN_OR_RETURN(Operand index, Value(op.operands[1]));
      reduction.index = AsTile(index);
    }
    if (IsDot(op)) {
      LATHE_ASSIGN_OR_RETURN(Operand factor, Value(op.operands[1]));
      reduction.factor = AsTile(factor);
    }
    reduction.identity =
        kernel_.constants.OffsetOf(Convert(Identity(op.reduce, op.dtype), op.dtype), op.dtype);
    const bool varies = post_.col_axis >= 0;
    reduction.result = NewOperand(reduction.is_arg ? 8 : reduction.bytes, varies, 0);
    info(reduction.result).kind = OperandInfo::Kind::kResult;
    post_.values[id] = reduction.result;
    out_.reductions.push_back(reduction);
    return absl::OkStatus();
  }

  KernelContext& kernel_;
  const std::vector<LoopOp>& ops_;
  const SpecStage& stage_;
  std::vector<OpPhase> phases_;
  StageProgram out_;
  Mode element_, post_;
  Mode* mode_ = &element_;
  absl::flat_hash_map<int, int> level_of_axis_;
  absl::flat_hash_map<Expr, int> indirect_;
  std::vector<bool> stored_buffers_;
  std::vector<bool> computed_nans_;  // by operation
  bool ordered_ = false;
  std::vector<std::vector<Instruction>> deferred_;  // stores, by level
};

}  // namespace

absl::StatusOr<StageProgram> CompileStage(KernelContext& kernel, const SpecStage& stage,
                                          const StageShape& shape) {
  return StageCompiler(kernel, stage, shape).Compile();
}

}  // namespace lathe::tile
