// PlanEmitter: what a call brings, and what is checked of it.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/plan/plan_emitter.h"
#include "codegen/plan/total_condition.h"
#include "dtypes/base/status.h"
#include "ir/loops/affine_index.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

std::vector<Expr> SymbolsOf(const std::vector<Expr>& items) {
  std::vector<Expr> symbols;
  for (const Expr& e : items) symbolic::CollectFreeSymbols(e, symbols);
  return symbols;
}

// The order of dimensions in which the elements lie dense, from the outermost in memory to the
// innermost, when the sizes alone say so: transposed, channels last. Empty: they do not.
std::vector<int32_t> DenseOrder(const TensorType& type, const ShapeEnv& shapes) {
  const std::vector<Expr> known = SymbolsOf(type.sizes);
  for (const Expr& symbol : SymbolsOf(type.strides)) {
    if (std::find(known.begin(), known.end(), symbol) == known.end()) return {};
  }
  std::vector<int32_t> order, left;
  for (int d = 0; d < type.rank(); ++d) {
    const bool steps = type.sizes[d] != Expr(1) && type.sizes[d] != Expr(0);
    (steps ? left : order).push_back(d);
  }
  const size_t outer = order.size();
  Expr step = 1;
  while (!left.empty()) {
    const auto next = std::find_if(left.rbegin(), left.rend(), [&](int32_t d) {
      return shapes.IsKnownEqual(type.strides[d], step);
    });
    if (next == left.rend()) return {};
    step = step * type.sizes[*next];
    order.insert(order.begin() + outer, *next);
    left.erase(std::prev(next.base()));
  }
  return order;
}

}  // namespace

absl::Status PlanEmitter::EmitInputs() {
  for (size_t k = 0; k < graph_.inputs().size(); ++k) {
    LATHE_RETURN_IF_ERROR(EmitInput(static_cast<int>(k)));
  }
  for (const PendingCheck& check : checks_) {
    LATHE_RETURN_IF_ERROR(SolveFor(check));
  }
  for (const PendingCheck& check : checks_) {
    LATHE_RETURN_IF_ERROR(EmitSizeCheck(check));
  }
  for (const Expr& symbol : shapes_.symbols()) {
    LATHE_RETURN_IF_ERROR(EmitRange(symbol));
  }
  for (const Expr& condition : graph_.preconditions()) {
    if (!AllBound(condition)) continue;
    LATHE_RETURN_IF_ERROR(EmitAssert(
        condition,
        absl::StrCat("the inputs do not meet the precondition ", symbolic::ToString(condition)), "",
        ""));
  }
  return absl::OkStatus();
}

bool PlanEmitter::AllBound(const Expr& e) const {
  const std::vector<Expr> symbols = symbolic::FreeSymbols(e);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](const Expr& s) { return registers_.IsBound(s); });
}

absl::Status PlanEmitter::EmitInput(int k) {
  Value* value = graph_.inputs()[k];
  const InputSpec& spec = graph_.input_specs()[k];
  PlanInput input;
  input.is_weight = spec.kind != InputSpec::Kind::kUser;
  input.name = input.is_weight ? spec.target : value->name;
  input.is_mutated = IsMutated(k);
  if (value->type.is_scalar()) {
    input.is_scalar = true;
    input.dtype = value->type.scalar().kind == symbolic::ExprType::kInt    ? DType::kI64
                  : value->type.scalar().kind == symbolic::ExprType::kBool ? DType::kBool
                                                                           : DType::kF64;
    input.scalar = registers_.New();
    BindOrCheck(value->type.scalar().value, input.scalar, absl::StrCat("input ", value->name));
  } else if (value->type.is_tensor()) {
    BindTensor(value, k, &input);
  }
  plan_.inputs.push_back(std::move(input));
  return absl::OkStatus();
}

bool PlanEmitter::IsMutated(int k) const {
  return std::any_of(graph_.output_specs().begin(), graph_.output_specs().end(),
                     [&](const OutputSpec& spec) {
                       return spec.kind == OutputSpec::Kind::kMutation && spec.input == k;
                     });
}

void PlanEmitter::BindTensor(Value* value, int k, PlanInput* input) {
  const TensorType& type = value->type.tensor();
  input->dtype = type.dtype;
  input->rank = type.rank();
  input->expected_offset = type.offset.AsInt().value_or(0);
  input->tensor = plan_.tensor_count++;
  slots_[value] = input->tensor;
  for (int d = 0; d < type.rank(); ++d) {
    const std::optional<int64_t> constant = type.sizes[d].AsInt();
    input->expected_sizes.push_back(constant.value_or(-1));
    input->size_registers.push_back(-1);
    if (constant.has_value()) continue;
    input->size_registers[d] = registers_.New();
    BindOrCheck(type.sizes[d], input->size_registers[d],
                absl::StrCat("size ", d, " of input ", InputName(k)));
  }
  // Weights come with the strides that the program was compiled for.
  input->needs_contiguous = !input->is_weight && IsContiguous(type);
  if (!input->is_weight && !input->needs_contiguous) {
    input->memory_order = DenseOrder(type, shapes_);
    input->needs_contiguous = !input->memory_order.empty();
  }
  if (input->is_weight || input->needs_contiguous) return;
  for (int d = 0; d < type.rank(); ++d) {
    input->stride_registers.push_back(registers_.New());
    BindOrCheck(type.strides[d], input->stride_registers[d],
                absl::StrCat("stride ", d, " of input ", InputName(k)));
  }
}

void PlanEmitter::BindOrCheck(const Expr& e, Register reg, std::string what) {
  if (e.is_symbol() && !registers_.IsBound(e)) {
    registers_.Bind(e, reg);
    described_.emplace(e, std::move(what));
  } else {
    checks_.push_back({e, reg, std::move(what)});
  }
}

// Of a size such as 2*s0 + 1 that no input gives by itself, s0; that it is right the check of the
// size finds.
absl::Status PlanEmitter::SolveFor(const PendingCheck& check) {
  for (const Expr& symbol : symbolic::FreeSymbols(check.expected)) {
    if (registers_.IsBound(symbol)) continue;
    const std::optional<Expr> factor = AffineCoefficient(check.expected, symbol);
    if (!factor || !factor->AsInt() || *factor->AsInt() == 0) return absl::OkStatus();
    const Expr rest = check.expected - *factor * symbol;
    if (!AllBound(rest)) return absl::OkStatus();
    SizeInstruction left, quotient;
    left.op = SizeOp::kSub;
    left.a = check.actual;
    LATHE_ASSIGN_OR_RETURN(left.b, Reg(rest));
    left.dst = registers_.New();
    Program().code.push_back(left);
    quotient.op = SizeOp::kFloorDiv;
    quotient.a = left.dst;
    LATHE_ASSIGN_OR_RETURN(quotient.b, Reg(*factor));
    quotient.dst = registers_.New();
    Program().code.push_back(quotient);
    registers_.Bind(symbol, quotient.dst);
    described_.emplace(symbol, absl::StrCat(symbol.symbol_name(), ", where ", check.what, " is ",
                                            symbolic::ToString(check.expected), ","));
  }
  return absl::OkStatus();
}

absl::Status PlanEmitter::EmitSizeCheck(const PendingCheck& check) {
  if (!AllBound(check.expected)) {
    return Unimplemented(check.what, " is ", symbolic::ToString(check.expected),
                         ", which no input gives");
  }
  LATHE_ASSIGN_OR_RETURN(Register expected, Reg(check.expected));
  SizeInstruction equal;
  equal.op = SizeOp::kEq;
  equal.dst = registers_.New();
  equal.a = expected;
  equal.b = check.actual;
  Program().code.push_back(equal);
  AssertStep step;
  step.condition = equal.dst;
  const auto same = described_.find(check.expected);
  step.message = absl::StrCat(check.what, " must be ", symbolic::ToString(check.expected),
                              same == described_.end() ? "" : ", which is " + same->second);
  if (check.node != nullptr) {
    step.node = NameOf(*check.node);
    step.source = check.node->origin.source;
  }
  step.names = {"expected", "given"};
  step.values = {expected, check.actual};
  if (!check.expected.is_symbol()) LATHE_RETURN_IF_ERROR(NameSymbols(check.expected, step));
  Add(std::move(step));
  return absl::OkStatus();
}

absl::Status PlanEmitter::EmitRange(const Expr& symbol) {
  auto described = described_.find(symbol);
  if (described == described_.end()) return absl::OkStatus();
  const symbolic::Range range = shapes_.RangeOf(symbol);
  if (range.lower > 0) {
    LATHE_RETURN_IF_ERROR(
        EmitAssert(Ge(symbol, range.lower),
                   absl::StrCat(described->second, " must be at least ", range.lower), "", ""));
  }
  if (range.upper != symbolic::Range::kMax) {
    LATHE_RETURN_IF_ERROR(
        EmitAssert(Le(symbol, range.upper),
                   absl::StrCat(described->second, " must be at most ", range.upper), "", ""));
  }
  return absl::OkStatus();
}

absl::Status PlanEmitter::EmitAssert(const Expr& condition, std::string message, std::string node,
                                     std::string source) {
  if (condition.AsBool() == true) return absl::OkStatus();
  AssertStep step;
  const Expr total = TotalCondition(condition, *graph_.context());
  // A division by zero further on must not speak before the message of this check.
  if (total != condition) checks_divisors_ = true;
  LATHE_ASSIGN_OR_RETURN(step.condition, Reg(total));
  step.message = std::move(message);
  step.node = std::move(node);
  step.source = std::move(source);
  LATHE_RETURN_IF_ERROR(NameSymbols(condition, step));
  Add(std::move(step));
  return absl::OkStatus();
}

// The values of the symbols in `e`, in the user's words, for the message of `step`.
absl::Status PlanEmitter::NameSymbols(const Expr& e, AssertStep& step) {
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    auto it = described_.find(symbol);
    step.names.push_back(it == described_.end() ? std::string(symbol.symbol_name()) : it->second);
    LATHE_ASSIGN_OR_RETURN(Register reg, Reg(symbol));
    step.values.push_back(reg);
  }
  return absl::OkStatus();
}

// Of what the operators assume about sizes: all that can be checked by now.
absl::Status PlanEmitter::EmitAssumptions() {
  const auto waiting = std::stable_partition(
      assumptions_.begin() + assumed_, assumptions_.end(),
      [&](const SizeAssumption& assumption) { return AllBound(assumption.condition); });
  const auto ready = assumptions_.begin() + assumed_;
  assumed_ = waiting - assumptions_.begin();
  for (auto assumption = ready; assumption != waiting; ++assumption) {
    LATHE_RETURN_IF_ERROR(
        EmitAssert(assumption->condition,
                   absl::StrCat("the sizes do not fit: ", assumption->node->op, " needs ",
                                symbolic::ToString(assumption->condition)),
                   NameOf(*assumption->node), assumption->node->origin.source));
  }
  return absl::OkStatus();
}

// Literal tensors are bound once, like weights.
absl::Status PlanEmitter::EmitLiterals() {
  for (Node* node = graph_.first(); node != nullptr; node = node->next) {
    for (const Argument& argument : node->arguments) {
      if (argument.kind() != Argument::Kind::kTensor) continue;
      Value* value = node->results[0];
      PlanInput input;
      input.is_weight = true;
      input.needs_contiguous = false;
      input.name = absl::StrCat("@constant.", tables_.out.constants.size());
      input.dtype = argument.tensor().dtype();
      input.rank = argument.tensor().rank();
      input.expected_sizes = argument.tensor().sizes().ToVector();
      input.size_registers.assign(input.rank, -1);
      input.tensor = plan_.tensor_count++;
      slots_[value] = input.tensor;
      tables_.out.constants[input.name] = argument.tensor();
      plan_.inputs.push_back(std::move(input));
    }
  }
  return absl::OkStatus();
}

}  // namespace lathe
