// PlanEmitter: kernels, externs, scatters and what is called back.

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "codegen/plan/plan_emitter.h"
#include "dtypes/base/status.h"
#include "ir/loops/lift_offsets.h"
#include "ir/ops/op_args.h"
#include "ir/ops/op_row.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// Symbols that only running can tell, in a node's results.
std::vector<Expr> UnbackedIn(const ValueType& type) {
  std::vector<Expr> result;
  if (!type.is_tensor()) return result;
  for (const Expr& size : type.tensor().sizes) {
    for (const Expr& symbol : symbolic::FreeSymbols(size)) {
      if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) result.push_back(symbol);
    }
  }
  return result;
}

}  // namespace

absl::Status PlanEmitter::EmitStep(const ScheduledStep& step) {
  if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) return EmitKernel(*kernel);
  if (const auto* call = std::get_if<ScheduledExtern>(&step)) return EmitExtern(*call);
  if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) return EmitScatter(*scatter);
  if (const auto* opaque = std::get_if<ScheduledOpaque>(&step)) return EmitOpaque(*opaque);
  return EmitControl(*std::get<ScheduledControl>(step).node);
}

// Sizes that do not fit one another are refused before the kernel reads past a buffer.
absl::Status PlanEmitter::EmitBounds(const ScheduledKernel& kernel, int32_t number) {
  for (const BoundsCondition& bounds : bounds_.Of(kernel, number, shapes_, AssumedConditions())) {
    if (!AllBound(bounds.condition)) continue;
    const Node* node = kernel.nodes.empty() ? nullptr : kernel.nodes.front();
    LATHE_RETURN_IF_ERROR(EmitAssert(
        bounds.condition,
        absl::StrCat("the sizes do not fit: more elements of %", bounds.buffer->name,
                     " are used than it has",
                     bounds.condition.AsBool().has_value()
                         ? ""
                         : absl::StrCat(", unless ", symbolic::ToString(bounds.condition))),
        node == nullptr ? "" : NameOf(*node), node == nullptr ? "" : node->origin.source));
  }
  return absl::OkStatus();
}

std::vector<Expr> PlanEmitter::AssumedConditions() const {
  std::vector<Expr> conditions;
  for (size_t k = 0; k < assumed_; ++k) conditions.push_back(assumptions_[k].condition);
  return conditions;
}

std::optional<ScheduledKernel> PlanEmitter::InPlace(const ScheduledKernel& kernel) const {
  std::optional<ScheduledKernel> result;
  for (const Value* value : kernel.buffers) {
    const auto it = in_place_.find(value);
    if (it == in_place_.end()) continue;
    if (!result.has_value()) result = kernel;
    StoreInPlace(*result, value, it->second);
  }
  return result;
}

absl::StatusOr<LaunchStep> PlanEmitter::LaunchOf(const ScheduledKernel& scheduled, Value* absent) {
  const std::optional<ScheduledKernel> moved = InPlace(scheduled);
  const ScheduledKernel& kernel = moved.has_value() ? *moved : scheduled;
  LaunchStep launch;
  launch.kernel = tables_.KernelIndex(kernel.spec);
  launch.offsets = OffsetsOf(kernel.spec);
  const auto is_zero = [](int64_t offset) { return offset == 0; };
  if (std::all_of(launch.offsets.begin(), launch.offsets.end(), is_zero)) launch.offsets.clear();
  for (Value* value : scheduled.buffers) {
    if (value != absent && !slots_.contains(value)) {
      LATHE_RETURN_IF_ERROR(NewBuffer(value).status());
    }
  }
  LATHE_RETURN_IF_ERROR(EmitBounds(kernel, launch.kernel));
  LATHE_RETURN_IF_ERROR(Registers(kernel.symbols, &launch.scalars));
  LATHE_ASSIGN_OR_RETURN(launch.extent, Reg(kernel.extent));
  if (!kernel.nodes.empty()) {
    launch.node = NameOf(*kernel.nodes.front());
    launch.source = kernel.nodes.front()->origin.source;
  }
  for (Value* value : kernel.buffers) {
    TensorSlot slot = -1;
    if (value != absent) {
      LATHE_ASSIGN_OR_RETURN(slot, Slot(value));
    }
    launch.buffers.push_back(slot);
  }
  return launch;
}

absl::Status PlanEmitter::EmitKernel(const ScheduledKernel& kernel) {
  LATHE_ASSIGN_OR_RETURN(LaunchStep launch, LaunchOf(kernel));
  Add(std::move(launch));
  return absl::OkStatus();
}

// The operand as the extern wants it: its own view, or a contiguous copy.
absl::StatusOr<TensorSlot> PlanEmitter::ExternInput(const ExternLoops& call, size_t k) {
  Value* value = call.inputs[k];
  if (value == nullptr) return TensorSlot{-1};
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(value));
  const bool wants = k < call.contiguous_inputs.size() && call.contiguous_inputs[k];
  const TensorType& type = value->type.tensor();
  if (!wants || IsContiguous(type)) return slot;
  LATHE_ASSIGN_OR_RETURN(
      TensorSlot copy, NewBuffer(ContiguousType(type.dtype, type.sizes), false, value->definition));
  Add(CopyStep{copy, slot});
  return copy;
}

absl::Status PlanEmitter::EmitExtern(const ScheduledExtern& scheduled) {
  const ExternLoops& call = scheduled.call;
  ExternStep step;
  step.id = call.id;
  step.attributes = call.attributes;
  step.allocates = call.allocates;
  step.node = NameOf(*scheduled.node);
  step.source = scheduled.node->origin.source;
  const bool computes = scheduled.operand.has_value();
  if (computes) {
    LATHE_ASSIGN_OR_RETURN(LaunchStep operand, LaunchOf(*scheduled.operand, scheduled.computed));
    step.operands.push_back(std::move(operand));
    step.operand_dtype = call.inputs[1]->type.tensor().dtype;
  }
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    TensorSlot slot = -1;
    if (k != 1 || !computes) {
      LATHE_ASSIGN_OR_RETURN(slot, ExternInput(call, k));
    }
    step.inputs.push_back(slot);
  }
  LATHE_RETURN_IF_ERROR(Registers(call.integers, &step.integers));
  for (Value* result : scheduled.node->results) {
    if (call.allocates) {
      slots_[result] = plan_.tensor_count++;
    } else {
      LATHE_RETURN_IF_ERROR(NewBuffer(result).status());
    }
    step.outputs.push_back(slots_[result]);
  }
  for (const ScheduledKernel& kernel : scheduled.epilogues) {
    LATHE_ASSIGN_OR_RETURN(LaunchStep launch, LaunchOf(kernel));
    step.epilogues.push_back(std::move(launch));
  }
  for (Value* result : scheduled.node->results) Touch(result);
  for (Value* input : call.inputs) {
    if (input != nullptr && roots_.Root(input) != scheduled.computed) {
      Touch(roots_.Root(input));
    }
  }
  Add(std::move(step));
  return BindSizes(*scheduled.node);
}

absl::Status PlanEmitter::EmitScatter(const ScheduledScatter& scatter) {
  LATHE_ASSIGN_OR_RETURN(TensorSlot base, Slot(scatter.base));
  LATHE_ASSIGN_OR_RETURN(TensorSlot result, NewBuffer(scatter.result));
  Touch(roots_.Root(scatter.base));
  if (PlaceOf(scatter.result) != PlaceOf(scatter.base)) Add(CopyStep{result, base});
  return EmitKernel(scatter.kernel);
}

absl::Status PlanEmitter::EmitOpaque(const ScheduledOpaque& opaque) {
  Node* node = opaque.node;
  OpaqueStep step;
  step.node = NameOf(*node);
  step.source = node->origin.source;
  PlanCallback callback;
  callback.name = absl::StrCat(node->op, "#", tables_.out.callbacks.size());
  callback.node = node;
  callback.reason = opaque.reason;
  for (const Argument& argument : node->arguments) {
    LATHE_RETURN_IF_ERROR(OpaqueOperands(argument, &step, &callback));
  }
  for (Value* result : node->results) {
    for (const Expr& size :
         result->type.is_tensor() ? result->type.tensor().sizes : std::vector<Expr>()) {
      AddKnownInteger(size, &callback);
    }
    slots_[result] = plan_.tensor_count++;
    callback_results_.insert(result);
    step.outputs.push_back(slots_[result]);
  }
  LATHE_RETURN_IF_ERROR(Registers(callback.integers, &step.integers));
  step.callback = static_cast<int32_t>(tables_.out.callbacks.size());
  tables_.out.plan.callbacks.push_back(callback.name);
  tables_.out.callbacks.push_back(std::move(callback));
  Add(std::move(step));
  return BindSizes(*node);
}

// Tensors become slots; the symbols inside expressions become integers.
absl::Status PlanEmitter::OpaqueOperands(const Argument& argument, OpaqueStep* step,
                                         PlanCallback* callback) {
  absl::Status status;
  argument.ForEachValue([&](Value* value) {
    if (!status.ok()) return;
    if (value->type.is_tensor()) {
      absl::StatusOr<TensorSlot> slot = Slot(value);
      status = slot.status();
      if (slot.ok()) step->inputs.push_back(*slot);
    } else if (value->type.is_scalar()) {
      AddKnownInteger(value->type.scalar().value, callback);
    }
  });
  AddExpressions(argument, callback);
  return status;
}

void PlanEmitter::AddExpressions(const Argument& argument, PlanCallback* callback) {
  if (argument.kind() == Argument::Kind::kInt) AddKnownInteger(argument.expr(), callback);
  if (argument.is_list()) {
    for (const Argument& item : argument.list()) AddExpressions(item, callback);
  }
}

void PlanEmitter::AddKnownInteger(const Expr& e, PlanCallback* callback) {
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (!registers_.IsBound(symbol)) continue;
    if (std::find(callback->integers.begin(), callback->integers.end(), symbol) ==
        callback->integers.end()) {
      callback->integers.push_back(symbol);
    }
  }
}

// Of each result's sizes, whether only running tells them, whatever the graph declares: two results
// of nonzero may be declared as equally long.
std::vector<std::vector<bool>> PlanEmitter::FoundSizes(const Node& node) {
  std::vector<std::vector<bool>> found(node.results.size());
  if (node.row == nullptr || !node.row->infer || HasSubgraph(node)) return found;
  const size_t known = shapes_.symbols().size();
  const OpArgs args(node.row->parsed, node.arguments);
  const absl::StatusOr<std::vector<ValueType>> types =
      node.row->infer({args, shapes_, {NameOf(node), node.origin.source}});
  const std::vector<Expr> made(shapes_.symbols().begin() + known, shapes_.symbols().end());
  if (!types.ok() || types->size() != node.results.size()) return found;
  for (size_t k = 0; k < types->size(); ++k) {
    if (!(*types)[k].is_tensor()) continue;
    for (const Expr& size : (*types)[k].tensor().sizes) {
      found[k].push_back(std::find(made.begin(), made.end(), size) != made.end());
    }
  }
  return found;
}

// Sizes that only now are known start a new segment; those that were declared are checked in it.
absl::Status PlanEmitter::BindSizes(const Node& node) {
  bool bound = false;
  const std::vector<std::vector<bool>> found = FoundSizes(node);
  std::vector<PendingCheck> checks;
  for (size_t k = 0; k < node.results.size(); ++k) {
    Value* result = node.results[k];
    if (!result->type.is_tensor()) continue;
    const TensorType& type = result->type.tensor();
    for (int d = 0; d < type.rank(); ++d) {
      const Expr& size = type.sizes[d];
      const bool is_new = size.is_symbol() && !registers_.IsBound(size);
      const bool is_declared = !is_new && d < static_cast<int>(found[k].size()) && found[k][d];
      if (!is_new && !is_declared) continue;
      const Register reg = registers_.New();
      Add(BindSizeStep{slots_[result], d, reg});
      if (is_new) registers_.Bind(size, reg);
      if (is_declared) {
        checks.push_back({size, reg, absl::StrCat("size ", d, " of %", result->name), &node});
      }
      bound = true;
    }
    for (const Expr& symbol : UnbackedIn(result->type)) {
      if (!registers_.IsBound(symbol)) {
        return Unimplemented("the size ", symbol.symbol_name(), " of %", result->name,
                             " is bound by no dimension of its own");
      }
    }
  }
  if (!bound) return absl::OkStatus();
  StartSegment();
  for (const PendingCheck& check : checks) LATHE_RETURN_IF_ERROR(EmitSizeCheck(check));
  return EmitAssumptions();
}

}  // namespace lathe
