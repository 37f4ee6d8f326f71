// PlanEmitter: write-backs, what a call gives back, and how long each buffer lives.

#include <algorithm>
#include <utility>
#include <variant>

#include "codegen/plan/plan_emitter.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_args.h"
#include "ir/ops/op_row.h"

namespace lathe {

// The source of a write-back must not be an input that another write-back changes first.
absl::Status PlanEmitter::EmitMutations() {
  std::vector<CopyStep> copies;
  for (size_t k = 0; k < graph_.outputs().size(); ++k) {
    const OutputSpec& spec = graph_.output_specs()[k];
    if (spec.kind != OutputSpec::Kind::kMutation) continue;
    Value* value = graph_.outputs()[k].value();
    if (PlaceOf(roots_.Root(value)) == graph_.inputs()[spec.input]) continue;
    LATHE_ASSIGN_OR_RETURN(TensorSlot source, Slot(value));
    if (IsInput(roots_.Root(value))) {
      const TensorType& type = value->type.tensor();
      LATHE_ASSIGN_OR_RETURN(TensorSlot copy, NewBuffer(ContiguousType(type.dtype, type.sizes),
                                                        false, value->definition));
      Add(CopyStep{copy, source});
      source = copy;
    }
    copies.push_back({slots_.at(graph_.inputs()[spec.input]), source});
  }
  for (CopyStep& copy : copies) Add(std::move(copy));
  return absl::OkStatus();
}

absl::Status PlanEmitter::EmitReturn() {
  ReturnStep step;
  std::vector<TensorSlot> slot_of_output(graph_.outputs().size(), -1);
  for (size_t k = 0; k < graph_.outputs().size(); ++k) {
    const OutputSpec& spec = graph_.output_specs()[k];
    if (spec.kind != OutputSpec::Kind::kUser && spec.kind != OutputSpec::Kind::kGradient) {
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(ReturnStep::Output output, OutputOf(k, slot_of_output));
    slot_of_output[k] = output.tensor;
    step.outputs.push_back(output);
  }
  Add(std::move(step));
  return absl::OkStatus();
}

// Whether `value` is all that the input becomes: an output that aliases it has the input's
// layout, whatever layout the new contents were computed in.
bool PlanEmitter::IsWhole(int input, const Value* value) const {
  for (size_t k = 0; k < graph_.outputs().size(); ++k) {
    const OutputSpec& spec = graph_.output_specs()[k];
    const Argument& written = graph_.outputs()[k];
    if (spec.kind == OutputSpec::Kind::kMutation && spec.input == input && written.is_value() &&
        written.value() == value) {
      return true;
    }
  }
  return false;
}

// `value` is (a view of) what the input becomes, typed over contents that may have been computed in
// another layout: its type over the input's own storage.
absl::StatusOr<TensorType> PlanEmitter::TypeOver(int input, const Value* value) {
  const TensorType& type = value->type.tensor();
  if (IsWhole(input, value)) return graph_.inputs()[input]->type.tensor();
  const Node* node = value->definition;
  if (node == nullptr || node->row == nullptr || !node->row->is_view()) return type;
  const auto k = std::find(node->results.begin(), node->results.end(), value);
  const int position =
      node->row->parsed.AliasedArgument(static_cast<int>(k - node->results.begin()));
  if (position < 0 || !node->arguments[position].is_value()) return type;
  const Value* parent = node->arguments[position].value();
  LATHE_ASSIGN_OR_RETURN(const TensorType over, TypeOver(input, parent));
  if (over == parent->type.tensor()) return type;
  Graph scratch("view", graph_.context());
  std::vector<Argument> arguments = node->arguments;
  arguments[position] = Argument::Of(scratch.AddInput(parent->name, over, InputSpec::User()));
  LATHE_ASSIGN_OR_RETURN(
      const std::vector<ValueType> types,
      node->row->infer(
          {OpArgs(node->row->parsed, arguments), shapes_, {NameOf(*node), node->origin.source}}));
  return types[k - node->results.begin()].tensor();
}

absl::StatusOr<ReturnStep::Output> PlanEmitter::OutputOf(size_t k,
                                                         const std::vector<TensorSlot>& earlier) {
  using Kind = ReturnStep::Output::Kind;
  const Argument& argument = graph_.outputs()[k];
  const OutputSpec& spec = graph_.output_specs()[k];
  ReturnStep::Output output;
  if (argument.is_value() && argument.value()->type.is_tensor()) {
    Value* value = argument.value();
    if (spec.alias_input >= 0) {
      const TensorSlot base = slots_.at(graph_.inputs()[spec.alias_input]);
      LATHE_ASSIGN_OR_RETURN(const TensorType type, TypeOver(spec.alias_input, value));
      LATHE_ASSIGN_OR_RETURN(output.tensor, ViewOver(base, type));
    } else if (spec.alias_output >= 0 && earlier[spec.alias_output] >= 0) {
      LATHE_ASSIGN_OR_RETURN(output.tensor,
                             ViewOver(earlier[spec.alias_output], value->type.tensor()));
    } else {
      LATHE_ASSIGN_OR_RETURN(output.tensor, Slot(value));
    }
    return output;
  }
  Expr e;
  if (argument.is_value() && argument.value()->type.is_scalar()) {
    e = argument.value()->type.scalar().value;
  } else if (argument.kind() == Argument::Kind::kInt) {
    e = argument.expr();
  } else if (argument.kind() == Argument::Kind::kBool) {
    e = Expr::Bool(argument.boolean());
  } else if (argument.kind() == Argument::Kind::kScalar) {
    const Scalar& number = argument.number();
    e = number.is_float() ? Expr::Float(number.ToDouble()) : Expr(number.ToInt());
  } else if (argument.is_none()) {
    output.kind = Kind::kNone;
    return output;
  } else {
    return Unimplemented("output ", k, " is neither a tensor nor a number");
  }
  output.kind = e.type() == symbolic::ExprType::kInt    ? Kind::kInt
                : e.type() == symbolic::ExprType::kBool ? Kind::kBool
                                                        : Kind::kFloat;
  LATHE_ASSIGN_OR_RETURN(output.scalar, Reg(e));
  return output;
}

// A piece of an arena is live from the step that makes it to the last that uses it.
void PlanEmitter::SetLifetimes() {
  for (const auto& [root, step] : used_roots_) {
    auto slot = slots_.find(root);
    if (slot == slots_.end()) continue;
    auto storage = storage_of_slot_.find(slot->second);
    if (storage != storage_of_slot_.end()) Extend(storage->second, step);
  }
  // Copies made on the way (contiguous operands, write-backs) are found in the steps themselves.
  for (int32_t k = 0; k < Here(); ++k) {
    const auto use = [&](TensorSlot slot) {
      auto it = storage_of_slot_.find(slot);
      if (it != storage_of_slot_.end()) Extend(it->second, k);
    };
    if (const auto* copy = std::get_if<CopyStep>(&plan_.steps[k])) {
      use(copy->destination);
      use(copy->source);
    } else if (const auto* call = std::get_if<ExternStep>(&plan_.steps[k])) {
      for (TensorSlot slot : call->inputs) use(slot);
      for (TensorSlot slot : call->outputs) use(slot);
      for (const LaunchStep& launch : call->epilogues) {
        for (TensorSlot slot : launch.buffers) use(slot);
      }
      for (const LaunchStep& launch : call->operands) {
        for (TensorSlot slot : launch.buffers) use(slot);
      }
    } else if (const auto* launch = std::get_if<LaunchStep>(&plan_.steps[k])) {
      for (TensorSlot slot : launch->buffers) use(slot);
    } else if (const auto* opaque = std::get_if<OpaqueStep>(&plan_.steps[k])) {
      for (TensorSlot slot : opaque->inputs) use(slot);
      // What it gives back may share its operands' storage.
      if (!opaque->outputs.empty()) {
        for (TensorSlot slot : opaque->inputs) keep_.push_back(slot);
      }
    } else if (const auto* cond = std::get_if<CondStep>(&plan_.steps[k])) {
      for (TensorSlot slot : cond->inputs) use(slot);
      for (TensorSlot slot : cond->inputs) keep_.push_back(slot);
    } else if (const auto* loop = std::get_if<WhileStep>(&plan_.steps[k])) {
      for (TensorSlot slot : loop->carried) use(slot);
      for (TensorSlot slot : loop->additional) use(slot);
    } else if (const auto* item = std::get_if<BindItemStep>(&plan_.steps[k])) {
      use(item->tensor);
    } else if (const auto* ret = std::get_if<ReturnStep>(&plan_.steps[k])) {
      for (const auto& output : ret->outputs) use(output.tensor);
    }
  }
  for (TensorSlot slot : keep_) {
    auto it = storage_of_slot_.find(slot);
    if (it != storage_of_slot_.end()) Extend(it->second, Here() - 1);
  }
}

void PlanEmitter::Extend(StorageSlot storage, int32_t step) {
  auto it = pieces_.find(storage);
  if (it == pieces_.end()) return;
  auto& piece = std::get<ReserveStep>(plan_.steps[it->second.first]).pieces[it->second.second];
  piece.last_step = std::max(piece.last_step, step);
}

}  // namespace lathe
