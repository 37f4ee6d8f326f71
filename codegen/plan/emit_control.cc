// PlanEmitter: sub-graphs, numbers out of tensors, assertions of the program.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/plan/plan_emitter.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_row.h"
#include "symbolic/evaluate.h"

namespace lathe {

absl::Status PlanEmitter::EmitControl(const Node& node) {
  if (HasSubgraph(node)) return EmitSubgraphs(node);
  for (const Value* result : node.results) {
    if (!result->type.is_scalar()) continue;
    const Expr& e = result->type.scalar().value;
    if (e.is_symbol() && !registers_.IsBound(e)) return EmitItem(node, e);
  }
  if (node.row->effect == Effect::kOrdered) return EmitAssertion(node);
  return absl::OkStatus();
}

bool PlanEmitter::HasSubgraph(const Node& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const Argument& a) { return a.kind() == Argument::Kind::kGraph; });
}

absl::Status PlanEmitter::EmitItem(const Node& node, const Expr& symbol) {
  Value* tensor = FirstTensor(node);
  if (tensor == nullptr) return Internal(node.op, " binds a symbol without a tensor");
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(tensor));
  const Register reg = registers_.New();
  Add(BindItemStep{slot, reg});
  registers_.Bind(symbol, reg);
  StartSegment();
  return EmitAssumptions();
}

Value* PlanEmitter::FirstTensor(const Node& node) {
  Value* tensor = nullptr;
  for (const Argument& argument : node.arguments) {
    argument.ForEachValue([&](Value* v) {
      if (tensor == nullptr && v->type.is_tensor()) tensor = v;
    });
  }
  return tensor;
}

// An assertion: its first argument is a condition (an expression, a symbolic bool or a tensor),
// a later string its message.
absl::Status PlanEmitter::EmitAssertion(const Node& node) {
  if (node.arguments.empty()) return absl::OkStatus();
  std::string message = absl::StrCat("an assertion of the program failed: ", node.op);
  for (const Argument& argument : node.arguments) {
    if (argument.kind() == Argument::Kind::kString) message = argument.string();
  }
  const Argument& condition = node.arguments[0];
  if (condition.kind() == Argument::Kind::kBool) {
    return condition.boolean()
               ? absl::OkStatus()
               : EmitAssert(Expr::Bool(false), message, NameOf(node), node.origin.source);
  }
  if (condition.kind() == Argument::Kind::kInt) {
    const Expr e = condition.expr().type() == symbolic::ExprType::kBool ? condition.expr()
                                                                        : Ne(condition.expr(), 0);
    return EmitAssert(e, message, NameOf(node), node.origin.source);
  }
  if (!condition.is_value()) return absl::OkStatus();
  Value* value = condition.value();
  if (value->type.is_scalar()) {
    const Expr& e = value->type.scalar().value;
    return EmitAssert(e.type() == symbolic::ExprType::kBool ? e : Ne(e, 0), message, NameOf(node),
                      node.origin.source);
  }
  if (!value->type.is_tensor() || node.arguments.size() < 2) return absl::OkStatus();
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(value));
  AssertStep step;
  step.condition = registers_.New();
  Add(BindItemStep{slot, step.condition});
  step.message = message;
  step.node = NameOf(node);
  step.source = node.origin.source;
  Add(std::move(step));
  return absl::OkStatus();
}

absl::Status PlanEmitter::EmitSubgraphs(const Node& node) {
  return node.arguments[0].kind() == Argument::Kind::kGraph ? EmitLoop(node) : EmitBranches(node);
}

absl::StatusOr<int32_t> PlanEmitter::EmitSubplan(Graph& graph, const std::vector<Expr>& symbols) {
  PlanEmitter emitter(graph, shapes_, tables_);
  emitter.outer_names_ = described_;
  LATHE_ASSIGN_OR_RETURN(Plan plan, emitter.Run(symbols));
  tables_.out.plan.subplans.push_back(std::move(plan));
  return static_cast<int32_t>(tables_.out.plan.subplans.size()) - 1;
}

absl::StatusOr<std::vector<TensorSlot>> PlanEmitter::TensorSlots(
    const std::vector<Value*>& operands) {
  std::vector<TensorSlot> slots;
  for (Value* operand : operands) {
    if (!operand->type.is_tensor()) continue;
    LATHE_ASSIGN_OR_RETURN(slots.emplace_back(), Slot(operand));
  }
  return slots;
}

std::vector<TensorSlot> PlanEmitter::ResultSlots(const Node& node) {
  std::vector<TensorSlot> slots;
  for (Value* result : node.results) {
    slots.push_back(plan_.tensor_count++);
    slots_[result] = slots.back();
  }
  return slots;
}

// A condition and a body over what is carried, then the additional inputs.
absl::Status PlanEmitter::EmitLoop(const Node& node) {
  if (node.arguments.size() != 4 || node.arguments[1].kind() != Argument::Kind::kGraph) {
    return Unimplemented(node.op, ": only cond and while_loop run sub-graphs on compiled tiers");
  }
  const std::vector<Graph*> graphs = {node.arguments[0].graph().get(),
                                      node.arguments[1].graph().get()};
  std::vector<Value*> carried, additional;
  node.arguments[2].ForEachValue([&](Value* v) { carried.push_back(v); });
  node.arguments[3].ForEachValue([&](Value* v) { additional.push_back(v); });
  std::vector<Value*> operands = carried;
  operands.insert(operands.end(), additional.begin(), additional.end());
  WhileStep step;
  const std::vector<Expr> symbols = BoundSymbolsOf(graphs, operands);
  LATHE_RETURN_IF_ERROR(Registers(symbols, &step.scalar_inputs));
  LATHE_ASSIGN_OR_RETURN(step.carried, TensorSlots(carried));
  LATHE_ASSIGN_OR_RETURN(step.additional, TensorSlots(additional));
  LATHE_ASSIGN_OR_RETURN(step.condition, EmitSubplan(*graphs[0], symbols));
  LATHE_ASSIGN_OR_RETURN(step.body, EmitSubplan(*graphs[1], symbols));
  step.outputs = ResultSlots(node);
  for (Value* operand : operands) Touch(roots_.Root(operand));
  Add(std::move(step));
  return BindSizes(node);
}

absl::Status PlanEmitter::EmitBranches(const Node& node) {
  std::vector<Graph*> graphs;
  std::vector<Value*> operands;
  std::optional<Argument> predicate;
  for (const Argument& argument : node.arguments) {
    if (argument.kind() == Argument::Kind::kGraph) {
      graphs.push_back(argument.graph().get());
    } else if (argument.is_list()) {
      argument.ForEachValue([&](Value* v) { operands.push_back(v); });
    } else if (!predicate.has_value()) {
      predicate = argument;
    }
  }
  if (graphs.size() != 2 || !predicate.has_value()) {
    return Unimplemented(node.op, ": only cond and while_loop run sub-graphs on compiled tiers");
  }
  CondStep step;
  step.node = NameOf(node);
  step.source = node.origin.source;
  LATHE_ASSIGN_OR_RETURN(step.predicate, Predicate(*predicate));
  std::vector<Expr> symbols = BoundSymbolsOf(graphs, operands);
  LATHE_RETURN_IF_ERROR(Registers(symbols, &step.scalar_inputs));
  LATHE_ASSIGN_OR_RETURN(step.inputs, TensorSlots(operands));
  for (Graph* graph : graphs) {
    LATHE_ASSIGN_OR_RETURN(step.branches.emplace_back(), EmitSubplan(*graph, symbols));
  }
  step.outputs = ResultSlots(node);
  for (Value* operand : operands) Touch(roots_.Root(operand));
  Add(std::move(step));
  return BindSizes(node);
}

absl::StatusOr<Register> PlanEmitter::Predicate(const Argument& predicate) {
  if (predicate.kind() == Argument::Kind::kBool) return Reg(predicate.boolean() ? 1 : 0);
  if (predicate.kind() == Argument::Kind::kInt) return Reg(predicate.expr());
  if (!predicate.is_value()) return InvalidArgument("the predicate is not a bool");
  Value* value = predicate.value();
  if (value->type.is_scalar()) return Reg(value->type.scalar().value);
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(value));
  const Register reg = registers_.New();
  Add(BindItemStep{slot, reg});
  return reg;
}

// Symbols that the sub-graphs mention and that are known here, in order of appearance.
std::vector<Expr> PlanEmitter::BoundSymbolsOf(const std::vector<Graph*>& graphs,
                                              const std::vector<Value*>& operands) {
  std::vector<Expr> symbols;
  const auto add = [&](const Expr& e) {
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (registers_.IsBound(symbol) &&
          std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) {
        symbols.push_back(symbol);
      }
    }
  };
  const auto add_type = [&](const ValueType& type) {
    if (type.is_scalar()) add(type.scalar().value);
    if (!type.is_tensor()) return;
    for (const Expr& size : type.tensor().sizes) add(size);
    for (const Expr& stride : type.tensor().strides) add(stride);
  };
  for (Value* operand : operands) add_type(operand->type);
  for (Graph* graph : graphs) {
    for (Value* input : graph->inputs()) add_type(input->type);
    for (Node* node = graph->first(); node != nullptr; node = node->next) {
      for (Value* result : node->results) add_type(result->type);
    }
  }
  return symbols;
}

}  // namespace lathe
