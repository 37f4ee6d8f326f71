#include "ir/loops/spec_evaluator.h"

#include <limits>

#include "absl/container/flat_hash_map.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/recorder.h"
#include "ir/loops/stage_phases.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// What a Reduce has accumulated: a value, and its position for argmax and argmin. Of an element
// that a dot has not met yet: its factors.
struct Partial {
  Scalar value;
  Scalar index;
};
using Partials = std::vector<Partial>;  // of every Reduce of a stage

Scalar LowestOf(DType dtype) {
  if (IsFloat(dtype)) return Scalar(-std::numeric_limits<double>::infinity());
  if (IsBool(dtype) || IsUnsigned(dtype)) return Convert(Scalar(0), dtype);
  return Scalar(std::numeric_limits<int64_t>::min() >> (64 - BitWidth(dtype)));
}

Scalar HighestOf(DType dtype) {
  if (IsFloat(dtype)) return Scalar(std::numeric_limits<double>::infinity());
  if (IsBool(dtype)) return Scalar(true);
  if (IsUnsigned(dtype)) return Scalar(~uint64_t{0} >> (64 - BitWidth(dtype)));
  return Scalar(std::numeric_limits<int64_t>::max() >> (64 - BitWidth(dtype)));
}

Partial Identity(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::kSum:
      return {Convert(Scalar(0), dtype), 0};
    case ReduceKind::kProd:
      return {Convert(Scalar(1), dtype), 0};
    case ReduceKind::kAny:
      return {Scalar(false), 0};
    case ReduceKind::kAll:
      return {Scalar(true), 0};
    case ReduceKind::kMax:
    case ReduceKind::kArgMax:
      return {LowestOf(dtype), 0};
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
      return {HighestOf(dtype), 0};
  }
  LATHE_UNREACHABLE();
}

Scalar Apply(OpKind kind, DType dtype, const std::vector<Scalar>& operands) {
  absl::StatusOr<Scalar> result = ScalarApply(kind, dtype, operands);
  LATHE_CHECK(result.ok()) << std::string(result.status().message());
  return *result;
}
Scalar Arithmetic(OpKind kind, DType dtype, const Scalar& a, const Scalar& b) {
  return Apply(kind, dtype, {a, b});
}

bool IsNan(const Scalar& value) { return value.is_float() && value.ToDouble() != value.ToDouble(); }

// Of argmax and argmin: NaN beats all, among equals the smaller index.
Partial Better(OpKind compare, DType dtype, const Partial& a, const Partial& b) {
  const bool a_nan = IsNan(a.value), b_nan = IsNan(b.value);
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && Arithmetic(compare, dtype, a.value, b.value).ToBool()) return a;
  if (!a_nan && Arithmetic(compare, dtype, b.value, a.value).ToBool()) return b;
  return a.index.ToInt() <= b.index.ToInt() ? a : b;
}

Partial Combine(ReduceKind kind, DType dtype, const Partial& a, const Partial& b) {
  const auto simple = [&](OpKind op) {
    return Partial{Arithmetic(op, dtype, a.value, b.value), 0};
  };
  switch (kind) {
    case ReduceKind::kSum:
      return simple(OpKind::kAdd);
    case ReduceKind::kProd:
      return simple(OpKind::kMul);
    case ReduceKind::kMax:
      return simple(OpKind::kMaximum);
    case ReduceKind::kMin:
      return simple(OpKind::kMinimum);
    case ReduceKind::kAny:
      return simple(OpKind::kOr);
    case ReduceKind::kAll:
      return simple(OpKind::kAnd);
    case ReduceKind::kArgMax:
      return Better(OpKind::kGt, dtype, a, b);
    case ReduceKind::kArgMin:
      return Better(OpKind::kLt, dtype, a, b);
  }
  LATHE_UNREACHABLE();
}

Scalar BitCastScalar(const Scalar& value, DType from, DType to) {
  unsigned char bytes[16] = {};
  StoreElement(bytes, from, 0, value);
  return LoadElement(bytes, to, 0);
}

class Evaluator {
 public:
  Evaluator(const KernelSpec& spec, absl::Span<void* const> buffers, int64_t begin, int64_t end)
      : spec_(spec), buffers_(buffers), begin_(begin), end_(end) {}

  absl::Status Run(absl::Span<const int64_t> scalars) {
    for (size_t k = 0; k < spec_.symbols.size(); ++k) env_[spec_.symbols[k]] = scalars[k];
    for (const SpecAxis& axis : spec_.axes) {
      LATHE_ASSIGN_OR_RETURN(int64_t extent, Index(axis.extent));
      extents_.push_back(extent);
    }
    if (spec_.axes.empty() && begin_ >= end_) return absl::OkStatus();
    for (const SpecLocal& local : spec_.locals) {
      int64_t size = 1;
      for (int axis : local.axes) size *= axis == 0 ? end_ - begin_ : extents_[axis];
      locals_.emplace_back(std::max<int64_t>(size, 0));
    }
    for (const SpecStage& stage : spec_.stages) all_phases_.push_back(StagePhases(spec_, stage));
    return Loop(spec_.outer, 0, [&] {
      for (const SpecStage& stage : spec_.stages) LATHE_RETURN_IF_ERROR(Stage(stage));
      return absl::OkStatus();
    });
  }

 private:
  absl::StatusOr<int64_t> Index(const Expr& e) const {
    if (std::optional<int64_t> value = e.AsInt()) return *value;
    return symbolic::Evaluate(e, [&](const Expr& symbol) -> std::optional<int64_t> {
      auto it = env_.find(symbol);
      if (it == env_.end()) return std::nullopt;
      return it->second;
    });
  }

  absl::StatusOr<Scalar> IndexValue(const LoopOp& op) const {
    if (op.index.type() != symbolic::ExprType::kFloat) {
      LATHE_ASSIGN_OR_RETURN(int64_t value, Index(op.index));
      return Convert(Scalar(value), op.dtype);
    }
    LATHE_ASSIGN_OR_RETURN(
        double value,
        symbolic::EvaluateFloat(op.index, [&](const Expr& symbol) -> std::optional<int64_t> {
          auto it = env_.find(symbol);
          if (it == env_.end()) return std::nullopt;
          return it->second;
        }));
    return Convert(Scalar(value), op.dtype);
  }

  // Runs `body` for every index of axes[k...], outer to inner.
  template <typename Body>
  absl::Status Loop(const std::vector<int>& axes, size_t k, Body body) {
    if (k == axes.size()) return body();
    const int axis = axes[k];
    const int64_t first = axis == 0 ? begin_ : 0;
    const int64_t last = axis == 0 ? end_ : extents_[axis];
    for (int64_t i = first; i < last; ++i) {
      env_[spec_.axes[axis].symbol] = i;
      LATHE_RETURN_IF_ERROR(Loop(axes, k + 1, body));
    }
    return absl::OkStatus();
  }

  absl::Status Stage(const SpecStage& stage) {
    stage_ = &stage;
    phases_ = all_phases_[&stage - spec_.stages.data()];
    reduces_.clear();
    for (size_t i = 0; i < stage.body.ops.size(); ++i) {
      if (stage.body.ops[i].kind == OpKind::kReduce) reduces_.push_back(i);
    }
    const std::vector<int> reduced = ReduceAxes(spec_, stage);
    return Loop(ParallelAxes(spec_, stage), 0, [&]() -> absl::Status {
      values_.assign(stage_->body.ops.size(), Scalar());
      if (reduced.empty()) return Operations([](OpPhase) { return true; });
      in_line_ = InnerReducesInLine(spec_, stage);
      LATHE_ASSIGN_OR_RETURN(Partials total, ReduceFrom(reduced, 0));
      for (size_t r = 0; r < reduces_.size(); ++r) {
        const LoopOp& op = stage_->body.ops[reduces_[r]];
        values_[reduces_[r]] = IsArgument(op.reduce) ? total[r].index : total[r].value;
      }
      return Operations([](OpPhase phase) { return phase != OpPhase::kElement; });
    });
  }

  DType ReducedDType(size_t r) const {
    const LoopOp& op = stage_->body.ops[reduces_[r]];
    return stage_->body.ops[op.operands[0]].dtype;
  }

  Partials CombineAll(const Partials& a, const Partials& b) const {
    Partials result;
    for (size_t r = 0; r < reduces_.size(); ++r) {
      result.push_back(Combine(stage_->body.ops[reduces_[r]].reduce, ReducedDType(r), a[r], b[r]));
    }
    return result;
  }

  // The element of a lane: the first, or one that meets what is there.
  Partials Meet(const Partials* lane, const Partials& element) const {
    Partials result;
    for (size_t r = 0; r < reduces_.size(); ++r) {
      const LoopOp& op = stage_->body.ops[reduces_[r]];
      const DType dtype = ReducedDType(r);
      const Partial& e = element[r];
      if (IsDot(op)) {
        const Scalar value = lane == nullptr
                                 ? Apply(OpKind::kMul, dtype, {e.value, e.index})
                                 : Apply(OpKind::kFma, dtype, {e.value, e.index, (*lane)[r].value});
        result.push_back({value, 0});
      } else {
        result.push_back(lane == nullptr ? e : Combine(op.reduce, dtype, (*lane)[r], e));
      }
    }
    return result;
  }

  Partials Fold(const std::vector<Partials>& values) const {
    return FoldPairwise(values,
                        [&](const Partials& a, const Partials& b) { return CombineAll(a, b); });
  }

  // The reduction over axes[k...] at the current indexes of the axes before.
  absl::StatusOr<Partials> ReduceFrom(const std::vector<int>& axes, size_t k) {
    if (k == axes.size()) return Element();
    const int axis = axes[k];
    const bool in_line = in_line_ && k + 2 == axes.size();
    const int inner = in_line ? axes[k + 1] : axis;
    const bool is_last = inner == stage_->axes.back();
    const int64_t extent = in_line ? extents_[axis] * extents_[inner] : extents_[axis];
    const int64_t block_length = is_last ? kInnerBlock : kOuterBlock;
    const int64_t lanes = is_last ? kLanes : 1;
    std::vector<Partials> blocks;
    for (int64_t start = 0; start < extent; start += block_length) {
      const int64_t stop = std::min(start + block_length, extent);
      std::vector<Partials> lane_values;
      for (int64_t i = start; i < stop; ++i) {
        if (in_line) env_[spec_.axes[axis].symbol] = i / extents_[inner];
        env_[spec_.axes[inner].symbol] = in_line ? i % extents_[inner] : i;
        LATHE_ASSIGN_OR_RETURN(Partials element, ReduceFrom(axes, in_line ? k + 2 : k + 1));
        const int64_t lane = i % lanes;
        const bool is_first = lane == static_cast<int64_t>(lane_values.size());
        if (is_last) element = Meet(is_first ? nullptr : &lane_values[lane], element);
        if (is_first) {
          lane_values.push_back(element);
        } else {
          lane_values[lane] = is_last ? element : CombineAll(lane_values[lane], element);
        }
      }
      blocks.push_back(Fold(lane_values));
    }
    if (!blocks.empty()) return Fold(blocks);
    Partials nothing;
    for (size_t r = 0; r < reduces_.size(); ++r) {
      nothing.push_back(Identity(stage_->body.ops[reduces_[r]].reduce, ReducedDType(r)));
    }
    return nothing;
  }

  absl::StatusOr<Partials> Element() {
    LATHE_RETURN_IF_ERROR(Operations([](OpPhase phase) { return phase != OpPhase::kReduced; }));
    Partials result;
    for (size_t id : reduces_) {
      const LoopOp& op = stage_->body.ops[id];
      result.push_back(
          {values_[op.operands[0]], op.operands.size() == 2 ? values_[op.operands[1]] : Scalar(0)});
    }
    return result;
  }

  template <typename Wanted>
  absl::Status Operations(Wanted wanted) {
    const std::vector<LoopOp>& ops = stage_->body.ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!wanted(phases_[i]) || ops[i].kind == OpKind::kReduce) continue;
      const bool on = ops[i].mask == kNoValue || values_[ops[i].mask].ToBool();
      if (on) {
        LATHE_ASSIGN_OR_RETURN(values_[i], Operation(ops[i]));
      } else {
        values_[i] = HasResult(ops[i].kind) ? Convert(Scalar(0), ops[i].dtype) : Scalar();
        if (ops[i].kind == OpKind::kIndirect) env_[ops[i].symbol] = 0;
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Scalar> Operation(const LoopOp& op) {
    switch (op.kind) {
      case OpKind::kConstant:
        return op.constant;
      case OpKind::kIndexExpr:
        return IndexValue(op);
      case OpKind::kLoad: {
        LATHE_ASSIGN_OR_RETURN(int64_t at, Index(op.index));
        return LoadElement(buffers_[op.buffer], op.dtype, at);
      }
      case OpKind::kStore:
        return Store(op);
      case OpKind::kLoadLocal:
        return locals_[op.buffer][LocalPosition(op.buffer)];
      case OpKind::kStoreLocal:
        locals_[op.buffer][LocalPosition(op.buffer)] = values_[op.operands[0]];
        return Scalar();
      case OpKind::kIndirect:
        return Indirect(op);
      case OpKind::kCheck:
        if (values_[op.operands[0]].ToBool()) return Scalar();
        return FailedPrecondition(spec_.errors[op.error].message);
      case OpKind::kCast:
        return Convert(values_[op.operands[0]], op.dtype);
      case OpKind::kBitCast:
        return BitCastScalar(values_[op.operands[0]], OperandDType(op, 0), op.dtype);
      case OpKind::kReduce:
        LATHE_UNREACHABLE();
      default: {
        std::vector<Scalar> operands;
        for (int32_t id : op.operands) operands.push_back(values_[id]);
        const DType dtype = OperandDType(op, op.kind == OpKind::kWhere ? 1 : 0);
        LATHE_ASSIGN_OR_RETURN(Scalar result, ScalarApply(op.kind, dtype, operands));
        return Convert(result, op.dtype);
      }
    }
  }

  DType OperandDType(const LoopOp& op, size_t k) const {
    return stage_->body.ops[op.operands[k]].dtype;
  }

  absl::StatusOr<Scalar> Store(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(int64_t at, Index(op.index));
    void* buffer = buffers_[op.buffer];
    const DType dtype = spec_.buffers[op.buffer].dtype;
    Scalar value = values_[op.operands[0]];
    if (op.mode == StoreMode::kAtomicAdd) {
      const DType compute = IsSubByte(dtype) ? DType::kI64 : ComputeType(dtype);
      value = Arithmetic(OpKind::kAdd, compute, LoadElement(buffer, dtype, at), value);
    }
    StoreElement(buffer, dtype, at, value);
    return Scalar();
  }

  absl::StatusOr<Scalar> Indirect(const LoopOp& op) {
    LATHE_ASSIGN_OR_RETURN(int64_t size, Index(op.index));
    int64_t index = values_[op.operands[0]].ToInt();
    if (index < -size || index >= size) return OutOfRange("index ", index, " of size ", size);
    if (index < 0) index += size;
    env_[op.symbol] = index;
    return Scalar(index);
  }

  int64_t LocalPosition(BufferId local) const {
    int64_t position = 0;
    for (int axis : spec_.locals[local].axes) {
      const int64_t first = axis == 0 ? begin_ : 0;
      const int64_t length = axis == 0 ? end_ - begin_ : extents_[axis];
      position = position * length + env_.at(spec_.axes[axis].symbol) - first;
    }
    return position;
  }

  const KernelSpec& spec_;
  absl::Span<void* const> buffers_;
  const int64_t begin_, end_;
  absl::flat_hash_map<Expr, int64_t> env_;
  std::vector<int64_t> extents_;
  std::vector<std::vector<Scalar>> locals_;
  std::vector<std::vector<OpPhase>> all_phases_;
  // Of the stage that is running.
  const SpecStage* stage_ = nullptr;
  std::vector<OpPhase> phases_;
  std::vector<size_t> reduces_;
  bool in_line_ = false;  // the last two reduce axes are one row
  std::vector<Scalar> values_;
};

}  // namespace

absl::Status EvaluateSpec(const KernelSpec& spec, absl::Span<void* const> buffers,
                          absl::Span<const int64_t> scalars, int64_t begin, int64_t end) {
  if (buffers.size() != spec.buffers.size() || scalars.size() != spec.symbols.size()) {
    return InvalidArgument("kernel ", spec.name, " takes ", spec.buffers.size(), " buffers and ",
                           spec.symbols.size(), " scalars");
  }
  return Evaluator(spec, buffers, begin, end).Run(scalars);
}

}  // namespace lathe
