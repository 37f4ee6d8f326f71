#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "dtypes/base/status.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/stage_phases.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Symbols = absl::flat_hash_set<Expr>;

std::vector<int> Sorted(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v;
}

bool HasRepeats(const std::vector<int>& v) {
  const std::vector<int> sorted = Sorted(v);
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool Contains(const std::vector<int>& v, int x) {
  return std::find(v.begin(), v.end(), x) != v.end();
}

absl::Status CheckSymbols(const Expr& e, const Symbols& known, absl::string_view what) {
  if (e.IsOverflow()) return Internal("kernel: ", what, ": arithmetic overflow");
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (!known.contains(symbol)) {
      return Internal("kernel: ", what, ": '", symbol.symbol_name(), "' is not defined here");
    }
  }
  return absl::OkStatus();
}

class StageVerifier {
 public:
  StageVerifier(const KernelSpec& spec, const SpecStage& stage, Symbols known,
                std::vector<bool>& stored_locals)
      : spec_(spec),
        stage_(stage),
        known_(std::move(known)),
        stored_locals_(stored_locals),
        reduces_(!ReduceAxes(spec, stage).empty()) {}

  absl::Status Verify() {
    if (!stage_.body.axes.empty() || !stage_.body.extents.empty()) {
      return Internal("kernel: the body of a stage has axes of its own");
    }
    const std::vector<LoopOp>& ops = stage_.body.ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (absl::Status status = Operation(ops[i], static_cast<int32_t>(i)); !status.ok()) {
        const std::string text = ToString(ops[i], static_cast<int32_t>(i),
                                          [](const Expr& e) { return symbolic::ToString(e); });
        return Internal(status.message(), " in '", text, "'");
      }
    }
    return Phases();
  }

 private:
  DType dtype(const LoopOp& op, size_t k) const { return stage_.body.ops[op.operands[k]].dtype; }

  absl::Status Operands(const LoopOp& op, int32_t id) {
    for (int32_t operand : op.operands) {
      if (operand < 0 || operand >= id || !HasResult(stage_.body.ops[operand].kind)) {
        return Internal("kernel: an operand that is no earlier value");
      }
    }
    if (op.mask != kNoValue &&
        (op.mask < 0 || op.mask >= id || stage_.body.ops[op.mask].dtype != DType::kBool ||
         !HasResult(stage_.body.ops[op.mask].kind))) {
      return Internal("kernel: the mask is no earlier bool");
    }
    return absl::OkStatus();
  }

  absl::Status Count(const LoopOp& op, size_t count) {
    if (op.operands.size() == count) return absl::OkStatus();
    return Internal("kernel: ", count, " operands expected");
  }

  absl::Status Operation(const LoopOp& op, int32_t id) {
    LATHE_RETURN_IF_ERROR(Operands(op, id));
    LATHE_RETURN_IF_ERROR(CheckSymbols(op.index, known_, "index"));
    if (IsComplex(op.dtype) || IsStorageOnly(op.dtype)) {
      return Internal("kernel: loops do not compute ", absl::string_view(Name(op.dtype)));
    }
    switch (op.kind) {
      case OpKind::kConstant:
      case OpKind::kIndexExpr:
        return Count(op, 0);
      case OpKind::kLoad:
      case OpKind::kStore:
        return Memory(op);
      case OpKind::kLoadLocal:
      case OpKind::kStoreLocal:
        return Local(op);
      case OpKind::kIndirect:
        LATHE_RETURN_IF_ERROR(Count(op, 1));
        if (dtype(op, 0) != DType::kI64) return Internal("kernel: the index is not i64");
        if (!op.symbol.is_symbol() || !known_.insert(op.symbol).second) {
          return Internal("kernel: the symbol of a checked index is taken");
        }
        return absl::OkStatus();
      case OpKind::kCheck:
        LATHE_RETURN_IF_ERROR(Count(op, 1));
        if (dtype(op, 0) != DType::kBool) return Internal("kernel: the condition is not bool");
        if (op.error < 0 || op.error >= static_cast<int32_t>(spec_.errors.size())) {
          return Internal("kernel: no such error row");
        }
        return absl::OkStatus();
      case OpKind::kCast:
        return Count(op, 1);
      case OpKind::kBitCast:
        LATHE_RETURN_IF_ERROR(Count(op, 1));
        if (BitWidth(dtype(op, 0)) != BitWidth(op.dtype)) {
          return Internal("kernel: a bit cast between widths");
        }
        return absl::OkStatus();
      case OpKind::kReduce:
        return Reduce(op);
      default:
        return Arithmetic(op);
    }
  }

  absl::Status Memory(const LoopOp& op) {
    const bool is_store = op.kind == OpKind::kStore;
    LATHE_RETURN_IF_ERROR(Count(op, is_store ? 1 : 0));
    if (op.buffer < 0 || op.buffer >= static_cast<int32_t>(spec_.buffers.size())) {
      return Internal("kernel: no such buffer");
    }
    const SpecBuffer& buffer = spec_.buffers[op.buffer];
    if (is_store && buffer.role == BufferRole::kIn) return Internal("kernel: store to an input");
    if (buffer.dtype != (is_store ? dtype(op, 0) : op.dtype)) {
      return Internal("kernel: the buffer holds ", absl::string_view(Name(buffer.dtype)));
    }
    return absl::OkStatus();
  }

  absl::Status Local(const LoopOp& op) {
    const bool is_store = op.kind == OpKind::kStoreLocal;
    LATHE_RETURN_IF_ERROR(Count(op, is_store ? 1 : 0));
    if (op.buffer < 0 || op.buffer >= static_cast<int32_t>(spec_.locals.size())) {
      return Internal("kernel: no such local");
    }
    const SpecLocal& local = spec_.locals[op.buffer];
    if (local.dtype != (is_store ? dtype(op, 0) : op.dtype)) {
      return Internal("kernel: the local holds ", absl::string_view(Name(local.dtype)));
    }
    // A local with reduce axes keeps every element; one without, what is left after reducing.
    const bool every_element = KeepsEveryElement(spec_, local);
    const std::vector<int> stage_axes =
        Sorted(every_element ? stage_.axes : ParallelAxes(spec_, stage_));
    if (is_store) {
      if (Sorted(local.axes) != stage_axes) {
        return Internal("kernel: a local's axes are ", every_element ? "all" : "the parallel",
                        " axes of the stage that stores it");
      }
      stored_locals_[op.buffer] = true;
      return absl::OkStatus();
    }
    if (!stored_locals_[op.buffer]) return Internal("kernel: the local has no value yet");
    const std::vector<int> axes = Sorted(local.axes);
    if (!std::includes(stage_axes.begin(), stage_axes.end(), axes.begin(), axes.end())) {
      return Internal("kernel: the local has axes that the stage lacks");
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(const LoopOp& op) {
    const bool has_index = IsArgument(op.reduce), is_dot = IsDot(op);
    LATHE_RETURN_IF_ERROR(Count(op, has_index || is_dot ? 2 : 1));
    if (!reduces_) return Internal("kernel: the stage has no reduce axis");
    const DType value = dtype(op, 0);
    if (!IsComputeDType(value)) return Internal("kernel: not a compute dtype");
    if (has_index && dtype(op, 1) != DType::kI64)
      return Internal("kernel: the position is not i64");
    if (op.dtype != (has_index ? DType::kI64 : value))
      return Internal("kernel: wrong result dtype");
    if (is_dot && (value != DType::kF32 || dtype(op, 1) != DType::kF32)) {
      return Internal("kernel: dot takes f32");
    }
    if (is_dot && spec_.axes[stage_.axes.back()].kind != AxisKind::kReduce) {
      return Internal("kernel: a dot needs a last axis that reduces");
    }
    const bool is_logical = op.reduce == ReduceKind::kAny || op.reduce == ReduceKind::kAll;
    if (is_logical && value != DType::kBool) return Internal("kernel: any and all take bool");
    return absl::OkStatus();
  }

  absl::Status Arithmetic(const LoopOp& op) {
    LATHE_RETURN_IF_ERROR(Count(op, OpKindArity(op.kind)));
    const size_t first = op.kind == OpKind::kWhere ? 1 : 0;
    if (first == 1 && dtype(op, 0) != DType::kBool) return Internal("kernel: condition not bool");
    const DType operand = dtype(op, first);
    for (size_t k = first; k < op.operands.size(); ++k) {
      if (dtype(op, k) != operand) return Internal("kernel: operands of several dtypes");
    }
    if (!IsComputeDType(operand)) return Internal("kernel: not a compute dtype");
    if (op.dtype != ResultDType(op.kind, operand)) return Internal("kernel: wrong result dtype");
    return absl::OkStatus();
  }

  // Reduced values meet only reduced and uniform ones, and end in locals.
  absl::Status Phases() {
    const std::vector<OpPhase> phases = StagePhases(spec_, stage_);
    const std::vector<LoopOp>& ops = stage_.body.ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (phases[i] != OpPhase::kReduced) continue;
      std::vector<int32_t> inputs = ops[i].operands;
      if (ops[i].mask != kNoValue) inputs.push_back(ops[i].mask);
      for (int32_t id : inputs) {
        if (phases[id] == OpPhase::kElement && ops[id].kind != OpKind::kReduce) {
          return Internal("kernel: reduced values meet values of single elements");
        }
      }
      const OpKind kind = ops[i].kind;
      if (kind == OpKind::kLoad || kind == OpKind::kStore || kind == OpKind::kIndirect ||
          kind == OpKind::kCheck || kind == OpKind::kReduce) {
        return Internal("kernel: a reduced value reaches ", OpKindName(kind));
      }
    }
    return absl::OkStatus();
  }

  const KernelSpec& spec_;
  const SpecStage& stage_;
  Symbols known_;
  std::vector<bool>& stored_locals_;
  const bool reduces_;
};

absl::Status VerifyAxes(const KernelSpec& spec, const Symbols& sizes) {
  Symbols seen = sizes;
  for (const SpecAxis& axis : spec.axes) {
    if (!axis.symbol.is_symbol() || !seen.insert(axis.symbol).second) {
      return Internal("kernel: the axes need symbols of their own");
    }
    LATHE_RETURN_IF_ERROR(CheckSymbols(axis.extent, sizes, "extent"));
  }
  const int count = static_cast<int>(spec.axes.size());
  for (int axis : spec.outer) {
    if (axis < 0 || axis >= count) return Internal("kernel: no such axis");
    if (spec.axes[axis].kind != AxisKind::kParallel) {
      return Internal("kernel: an outer axis that reduces");
    }
  }
  if (HasRepeats(spec.outer)) return Internal("kernel: an outer axis twice");
  if (!spec.outer.empty() && spec.outer[0] != 0) {
    return Internal("kernel: axis 0 is not the first outer axis");
  }
  return absl::OkStatus();
}

absl::Status VerifyStageAxes(const KernelSpec& spec, const SpecStage& stage) {
  const int count = static_cast<int>(spec.axes.size());
  for (int axis : stage.axes) {
    if (axis < 0 || axis >= count) return Internal("kernel: no such axis");
    if (Contains(spec.outer, axis)) return Internal("kernel: an axis both outer and inner");
  }
  if (HasRepeats(stage.axes)) return Internal("kernel: an axis twice in a stage");
  if (spec.outer.empty() && count > 0 &&
      (!Contains(stage.axes, 0) || spec.axes[0].kind != AxisKind::kParallel)) {
    return Internal("kernel: without outer axes every stage has the parallel axis 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyKernelSpec(const KernelSpec& spec) {
  if (spec.grain < 1) return Internal("kernel: the grain is below 1");
  Symbols sizes;
  for (const Expr& symbol : spec.symbols) {
    if (!symbol.is_symbol() || !sizes.insert(symbol).second) {
      return Internal("kernel: its symbols are not distinct symbols");
    }
  }
  LATHE_RETURN_IF_ERROR(VerifyAxes(spec, sizes));
  for (const SpecBuffer& buffer : spec.buffers) {
    if (IsComplex(buffer.dtype) || IsStorageOnly(buffer.dtype)) {
      return Internal("kernel: loops do not compute ", absl::string_view(Name(buffer.dtype)));
    }
    if (buffer.alignment_bytes < 1) return Internal("kernel: an alignment below 1");
  }
  for (const SpecLocal& local : spec.locals) {
    if (IsSubByte(local.dtype) || IsComplex(local.dtype) || IsStorageOnly(local.dtype)) {
      return Internal("kernel: a local of ", absl::string_view(Name(local.dtype)));
    }
    if (HasRepeats(local.axes)) return Internal("kernel: an axis twice in a local");
  }
  std::vector<bool> stored_locals(spec.locals.size(), false);
  for (const SpecStage& stage : spec.stages) {
    LATHE_RETURN_IF_ERROR(VerifyStageAxes(spec, stage));
    Symbols known = sizes;
    for (int axis : spec.outer) known.insert(spec.axes[axis].symbol);
    for (int axis : stage.axes) known.insert(spec.axes[axis].symbol);
    LATHE_RETURN_IF_ERROR(StageVerifier(spec, stage, known, stored_locals).Verify());
  }
  return absl::OkStatus();
}

}  // namespace lathe
