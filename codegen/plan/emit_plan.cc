#include "codegen/plan/emit_plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/plan/load_bounds.h"
#include "codegen/plan/register_file.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/lift_offsets.h"
#include "ir/ops/op_row.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// What the plans of one program share.
struct Tables {
  EmittedPlan out;
  absl::flat_hash_map<std::string, int32_t> kernel_of;  // by spec name and error rows
  const ScheduleOptions* options = nullptr;
};

int32_t KernelIndex(Tables& tables, const KernelSpec& spec) {
  // Equal code with other error rows is another entry: the rows name the user's lines.
  std::string key = spec.name;
  for (const ErrorRow& row : spec.errors) absl::StrAppend(&key, "|", row.node, "|", row.message);
  auto [it, added] = tables.kernel_of.emplace(key, static_cast<int32_t>(tables.out.kernels.size()));
  if (added) {
    PlanKernel kernel;
    kernel.name = spec.name;
    kernel.grain = spec.grain;
    for (const ErrorRow& row : spec.errors) {
      kernel.errors.push_back({row.node, row.source, row.message});
    }
    tables.out.plan.kernels.push_back(std::move(kernel));
    tables.out.kernels.push_back(spec);
    LiftOffsets(tables.out.kernels.back());
  }
  return it->second;
}

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

class PlanEmitter {
 public:
  PlanEmitter(Graph& graph, ShapeEnv& shapes, Tables& tables)
      : graph_(graph), shapes_(shapes), tables_(tables) {}

  // `outer_symbols`: of a sub-graph, the symbols that arrive in registers 0, 1...
  absl::StatusOr<Plan> Run(const std::vector<Expr>& outer_symbols) {
    for (const Expr& symbol : outer_symbols) registers_.Bind(symbol, registers_.New());
    LATHE_ASSIGN_OR_RETURN(schedule_, ScheduleGraph(graph_, shapes_, *tables_.options));
    FindRoots();
    StartSegment();
    LATHE_RETURN_IF_ERROR(EmitInputs());
    LATHE_RETURN_IF_ERROR(EmitLiterals());
    for (const ScheduledStep& step : schedule_.steps) {
      LATHE_RETURN_IF_ERROR(EmitStep(step));
    }
    LATHE_RETURN_IF_ERROR(EmitMutations());
    LATHE_RETURN_IF_ERROR(EmitReturn());
    SetLifetimes();
    plan_.register_count = registers_.count();
    tables_.out.schedules.push_back(std::move(schedule_));
    return std::move(plan_);
  }

 private:
  // ---- Slots ----
  void FindRoots() {
    roots_ = schedule_.roots;
    // A view that runs by its reference evaluation shares storage too.
    for (Node* node = graph_.first(); node != nullptr; node = node->next) {
      if (node->row == nullptr || !node->row->is_view()) continue;
      for (Value* result : node->results) {
        Value* input = FirstTensor(*node);
        if (input != nullptr && !roots_.IsView(result)) roots_.Add(result, input);
      }
    }
    for (const Argument& output : graph_.outputs()) {
      output.ForEachValue([&](Value* v) { escapes_.insert(roots_.Root(v)); });
    }
  }

  template <typename Step>
  Step& Add(Step step) {
    plan_.steps.emplace_back(std::move(step));
    return std::get<Step>(plan_.steps.back());
  }
  int32_t Here() const { return static_cast<int32_t>(plan_.steps.size()); }

  void StartSegment() {
    segment_eval_ = Here();
    plan_.steps.emplace_back(EvalStep{});
    segment_reserve_ = Here();
    plan_.steps.emplace_back(ReserveStep{});
  }
  SizeProgram& Program() { return std::get<EvalStep>(plan_.steps[segment_eval_]).program; }
  absl::StatusOr<Register> Reg(const Expr& e) { return registers_.Of(e, Program()); }

  absl::Status Registers(const std::vector<Expr>& exprs, std::vector<Register>* out) {
    for (const Expr& e : exprs) {
      LATHE_ASSIGN_OR_RETURN(Register reg, Reg(e));
      out->push_back(reg);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ViewStep> ViewOf(const TensorType& type, TensorSlot slot) {
    ViewStep view;
    view.tensor = slot;
    view.dtype = type.dtype;
    LATHE_RETURN_IF_ERROR(Registers(type.sizes, &view.sizes));
    LATHE_RETURN_IF_ERROR(Registers(type.strides, &view.strides));
    return view;
  }

  // Bytes of a dense or strided buffer: last element's position plus one, in whole bytes.
  static Expr BytesOf(const TensorType& type) {
    Expr last = 0, count = 1;
    for (int k = 0; k < type.rank(); ++k) {
      last = last + (type.sizes[k] - 1) * type.strides[k];
      count = count * type.sizes[k];
    }
    const int bits = BitWidth(type.dtype);
    const Expr elements = IsContiguous(type) ? count : Max(last + 1, 0);
    return bits % 8 == 0 ? elements * (bits / 8) : symbolic::CeilDiv(elements * bits, 8);
  }

  // A new buffer for `value`, from the arena unless it outlives the call.
  absl::StatusOr<TensorSlot> NewBuffer(Value* value) {
    TensorType type = value->type.tensor();
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, NewBuffer(type, escapes_.contains(value)));
    slots_[value] = slot;
    return slot;
  }

  absl::StatusOr<TensorSlot> NewBuffer(const TensorType& type, bool escapes) {
    const StorageSlot storage = plan_.storage_count++;
    LATHE_ASSIGN_OR_RETURN(Register bytes, Reg(BytesOf(type)));
    if (escapes) {
      Add(AllocateStep{storage, bytes});
    } else {
      std::get<ReserveStep>(plan_.steps[segment_reserve_])
          .pieces.push_back({storage, bytes, Here(), Here()});
      pieces_[storage] = {segment_reserve_,
                          std::get<ReserveStep>(plan_.steps[segment_reserve_]).pieces.size() - 1};
    }
    const TensorSlot slot = plan_.tensor_count++;
    LATHE_ASSIGN_OR_RETURN(ViewStep view, ViewOf(type, slot));
    view.storage = storage;
    LATHE_ASSIGN_OR_RETURN(view.offset, Reg(0));
    storage_of_slot_[slot] = storage;
    Add(std::move(view));
    return slot;
  }

  // The slot of any tensor value; views are made over their root's slot on first use.
  absl::StatusOr<TensorSlot> Slot(Value* value) {
    Value* root = roots_.Root(value);
    Touch(root);
    if (auto it = slots_.find(value); it != slots_.end()) return it->second;
    if (root == value) return Internal("no buffer was made for %", value->name);
    LATHE_ASSIGN_OR_RETURN(TensorSlot base, Slot(root));
    TensorType type = value->type.tensor();
    // Views of what a callback made count from that tensor's first element.
    if (callback_results_.contains(root)) type.offset = type.offset - root->type.tensor().offset;
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, ViewOver(base, type));
    slots_[value] = slot;
    return slot;
  }

  absl::StatusOr<TensorSlot> ViewOver(TensorSlot base, const TensorType& type) {
    const TensorSlot slot = plan_.tensor_count++;
    LATHE_ASSIGN_OR_RETURN(ViewStep view, ViewOf(type, slot));
    view.base = base;
    LATHE_ASSIGN_OR_RETURN(view.offset, Reg(type.offset));
    if (auto it = storage_of_slot_.find(base); it != storage_of_slot_.end()) {
      storage_of_slot_[slot] = it->second;
    }
    Add(std::move(view));
    return slot;
  }

  // The buffer behind `root` is used by the step about to be added.
  void Touch(Value* root) { used_roots_.push_back({root, Here()}); }

  // ---- Inputs ----
  std::string InputName(int k) const { return graph_.inputs()[k]->name; }

  absl::Status EmitInputs() {
    for (size_t k = 0; k < graph_.inputs().size(); ++k) {
      LATHE_RETURN_IF_ERROR(EmitInput(static_cast<int>(k)));
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
          absl::StrCat("the inputs do not meet the precondition ", symbolic::ToString(condition)),
          "", ""));
    }
    return absl::OkStatus();
  }

  bool AllBound(const Expr& e) const {
    const std::vector<Expr> symbols = symbolic::FreeSymbols(e);
    return std::all_of(symbols.begin(), symbols.end(),
                       [&](const Expr& s) { return registers_.IsBound(s); });
  }

  struct PendingCheck {
    Expr expected;
    Register actual;
    std::string what;
  };

  absl::Status EmitInput(int k) {
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

  bool IsMutated(int k) const {
    return std::any_of(graph_.output_specs().begin(), graph_.output_specs().end(),
                       [&](const OutputSpec& spec) {
                         return spec.kind == OutputSpec::Kind::kMutation && spec.input == k;
                       });
  }

  void BindTensor(Value* value, int k, PlanInput* input) {
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
    if (input->is_weight || input->needs_contiguous) return;
    for (int d = 0; d < type.rank(); ++d) {
      input->stride_registers.push_back(registers_.New());
      BindOrCheck(type.strides[d], input->stride_registers[d],
                  absl::StrCat("stride ", d, " of input ", InputName(k)));
    }
  }

  void BindOrCheck(const Expr& e, Register reg, std::string what) {
    if (e.is_symbol() && !registers_.IsBound(e)) {
      registers_.Bind(e, reg);
      described_.emplace(e, std::move(what));
    } else {
      checks_.push_back({e, reg, std::move(what)});
    }
  }

  absl::Status EmitSizeCheck(const PendingCheck& check) {
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
    step.message = absl::StrCat(check.what, " must be ", symbolic::ToString(check.expected));
    step.names = {"expected", "given"};
    step.values = {expected, check.actual};
    Add(std::move(step));
    return absl::OkStatus();
  }

  absl::Status EmitRange(const Expr& symbol) {
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

  absl::Status EmitAssert(const Expr& condition, std::string message, std::string node,
                          std::string source) {
    if (condition.AsBool() == true) return absl::OkStatus();
    AssertStep step;
    LATHE_ASSIGN_OR_RETURN(step.condition, Reg(condition));
    step.message = std::move(message);
    step.node = std::move(node);
    step.source = std::move(source);
    for (const Expr& symbol : symbolic::FreeSymbols(condition)) {
      auto it = described_.find(symbol);
      step.names.push_back(it == described_.end() ? std::string(symbol.symbol_name())
                                                  : absl::StrCat(it->second));
      LATHE_ASSIGN_OR_RETURN(Register reg, Reg(symbol));
      step.values.push_back(reg);
    }
    Add(std::move(step));
    return absl::OkStatus();
  }

  // Literal tensors are bound once, like weights.
  absl::Status EmitLiterals() {
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

  // ---- Steps ----
  absl::Status EmitStep(const ScheduledStep& step) {
    if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) return EmitKernel(*kernel);
    if (const auto* call = std::get_if<ScheduledExtern>(&step)) return EmitExtern(*call);
    if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) return EmitScatter(*scatter);
    if (const auto* opaque = std::get_if<ScheduledOpaque>(&step)) return EmitOpaque(*opaque);
    return EmitControl(*std::get<ScheduledControl>(step).node);
  }

  // Sizes that do not fit one another are refused before the kernel reads past a buffer.
  absl::Status EmitBounds(const ScheduledKernel& kernel) {
    for (const BoundsCondition& bounds : UnprovedBounds(kernel, shapes_)) {
      if (!AllBound(bounds.condition)) continue;
      const Node* node = kernel.nodes.empty() ? nullptr : kernel.nodes.front();
      LATHE_RETURN_IF_ERROR(EmitAssert(
          bounds.condition,
          absl::StrCat("sizes do not fit: more elements of %", bounds.buffer->name,
                       " are read than it has",
                       bounds.condition.AsBool().has_value()
                           ? ""
                           : absl::StrCat(", unless ", symbolic::ToString(bounds.condition))),
          node == nullptr ? "" : node->op, node == nullptr ? "" : node->origin.source));
    }
    return absl::OkStatus();
  }

  // `absent` has no buffer: the launch has -1 in its place.
  absl::StatusOr<LaunchStep> LaunchOf(const ScheduledKernel& kernel, Value* absent = nullptr) {
    LaunchStep launch;
    launch.kernel = KernelIndex(tables_, kernel.spec);
    KernelSpec lifted = kernel.spec;
    launch.offsets = LiftOffsets(lifted);
    for (Value* value : kernel.buffers) {
      if (value != absent && !slots_.contains(value)) {
        LATHE_RETURN_IF_ERROR(NewBuffer(value).status());
      }
    }
    LATHE_RETURN_IF_ERROR(EmitBounds(kernel));
    LATHE_RETURN_IF_ERROR(Registers(kernel.symbols, &launch.scalars));
    LATHE_ASSIGN_OR_RETURN(launch.extent, Reg(kernel.extent));
    for (Value* value : kernel.buffers) {
      TensorSlot slot = -1;
      if (value != absent) {
        LATHE_ASSIGN_OR_RETURN(slot, Slot(value));
      }
      launch.buffers.push_back(slot);
    }
    return launch;
  }

  absl::Status EmitKernel(const ScheduledKernel& kernel) {
    LATHE_ASSIGN_OR_RETURN(LaunchStep launch, LaunchOf(kernel));
    Add(std::move(launch));
    return absl::OkStatus();
  }

  // The operand as the extern wants it: its own view, or a contiguous copy.
  absl::StatusOr<TensorSlot> ExternInput(const ExternLoops& call, size_t k) {
    Value* value = call.inputs[k];
    if (value == nullptr) return TensorSlot{-1};
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(value));
    const bool wants = k < call.contiguous_inputs.size() && call.contiguous_inputs[k];
    const TensorType& type = value->type.tensor();
    if (!wants || IsContiguous(type)) return slot;
    LATHE_ASSIGN_OR_RETURN(TensorSlot copy,
                           NewBuffer(ContiguousType(type.dtype, type.sizes), false));
    Add(CopyStep{copy, slot});
    return copy;
  }

  absl::Status EmitExtern(const ScheduledExtern& scheduled) {
    const ExternLoops& call = scheduled.call;
    ExternStep step;
    step.id = call.id;
    step.attributes = call.attributes;
    step.allocates = call.allocates;
    step.node = absl::StrCat("%", scheduled.node->results[0]->name);
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

  absl::Status EmitScatter(const ScheduledScatter& scatter) {
    LATHE_ASSIGN_OR_RETURN(TensorSlot base, Slot(scatter.base));
    LATHE_ASSIGN_OR_RETURN(TensorSlot result, NewBuffer(scatter.result));
    Touch(roots_.Root(scatter.base));
    Add(CopyStep{result, base});
    return EmitKernel(scatter.kernel);
  }

  absl::Status EmitOpaque(const ScheduledOpaque& opaque) {
    Node* node = opaque.node;
    OpaqueStep step;
    step.node = node->results.empty() ? node->op : absl::StrCat("%", node->results[0]->name);
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
  absl::Status OpaqueOperands(const Argument& argument, OpaqueStep* step, PlanCallback* callback) {
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

  void AddExpressions(const Argument& argument, PlanCallback* callback) {
    if (argument.kind() == Argument::Kind::kInt) AddKnownInteger(argument.expr(), callback);
    if (argument.is_list()) {
      for (const Argument& item : argument.list()) AddExpressions(item, callback);
    }
  }

  void AddKnownInteger(const Expr& e, PlanCallback* callback) {
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (!registers_.IsBound(symbol)) continue;
      if (std::find(callback->integers.begin(), callback->integers.end(), symbol) ==
          callback->integers.end()) {
        callback->integers.push_back(symbol);
      }
    }
  }

  // Sizes that only now are known start a new segment.
  absl::Status BindSizes(const Node& node) {
    bool bound = false;
    for (Value* result : node.results) {
      if (!result->type.is_tensor()) continue;
      const TensorType& type = result->type.tensor();
      for (int d = 0; d < type.rank(); ++d) {
        const Expr& size = type.sizes[d];
        if (!size.is_symbol() || registers_.IsBound(size)) continue;
        const Register reg = registers_.New();
        Add(BindSizeStep{slots_[result], d, reg});
        registers_.Bind(size, reg);
        bound = true;
      }
      for (const Expr& symbol : UnbackedIn(result->type)) {
        if (!registers_.IsBound(symbol)) {
          return Unimplemented("the size ", symbol.symbol_name(), " of %", result->name,
                               " is bound by no dimension of its own");
        }
      }
    }
    if (bound) StartSegment();
    return absl::OkStatus();
  }

  // ---- Control and sizes ----
  absl::Status EmitControl(const Node& node) {
    if (HasSubgraph(node)) return EmitSubgraphs(node);
    for (const Value* result : node.results) {
      if (!result->type.is_scalar()) continue;
      const Expr& e = result->type.scalar().value;
      if (e.is_symbol() && !registers_.IsBound(e)) return EmitItem(node, e);
    }
    if (node.row->effect == Effect::kOrdered) return EmitAssertion(node);
    return absl::OkStatus();
  }

  static bool HasSubgraph(const Node& node) {
    return std::any_of(node.arguments.begin(), node.arguments.end(),
                       [](const Argument& a) { return a.kind() == Argument::Kind::kGraph; });
  }

  absl::Status EmitItem(const Node& node, const Expr& symbol) {
    Value* tensor = FirstTensor(node);
    if (tensor == nullptr) return Internal(node.op, " binds a symbol without a tensor");
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(tensor));
    const Register reg = registers_.New();
    Add(BindItemStep{slot, reg});
    registers_.Bind(symbol, reg);
    StartSegment();
    return absl::OkStatus();
  }

  static Value* FirstTensor(const Node& node) {
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
  absl::Status EmitAssertion(const Node& node) {
    if (node.arguments.empty()) return absl::OkStatus();
    std::string message = absl::StrCat("an assertion of the program failed: ", node.op);
    for (const Argument& argument : node.arguments) {
      if (argument.kind() == Argument::Kind::kString) message = argument.string();
    }
    const Argument& condition = node.arguments[0];
    if (condition.kind() == Argument::Kind::kBool) {
      return condition.boolean()
                 ? absl::OkStatus()
                 : EmitAssert(Expr::Bool(false), message, node.op, node.origin.source);
    }
    if (condition.kind() == Argument::Kind::kInt) {
      const Expr e = condition.expr().type() == symbolic::ExprType::kBool ? condition.expr()
                                                                          : Ne(condition.expr(), 0);
      return EmitAssert(e, message, node.op, node.origin.source);
    }
    if (!condition.is_value()) return absl::OkStatus();
    Value* value = condition.value();
    if (value->type.is_scalar()) {
      const Expr& e = value->type.scalar().value;
      return EmitAssert(e.type() == symbolic::ExprType::kBool ? e : Ne(e, 0), message, node.op,
                        node.origin.source);
    }
    if (!value->type.is_tensor() || node.arguments.size() < 2) return absl::OkStatus();
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(value));
    AssertStep step;
    step.condition = registers_.New();
    Add(BindItemStep{slot, step.condition});
    step.message = message;
    step.node = node.op;
    step.source = node.origin.source;
    Add(std::move(step));
    return absl::OkStatus();
  }

  absl::Status EmitSubgraphs(const Node& node) {
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
      return Unimplemented(node.op, ": only cond runs sub-graphs on compiled tiers");
    }
    CondStep step;
    LATHE_ASSIGN_OR_RETURN(step.predicate, Predicate(*predicate));
    std::vector<Expr> symbols = BoundSymbolsOf(graphs, operands);
    LATHE_RETURN_IF_ERROR(Registers(symbols, &step.scalar_inputs));
    for (Value* operand : operands) {
      if (!operand->type.is_tensor()) continue;
      LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(operand));
      step.inputs.push_back(slot);
    }
    for (Graph* graph : graphs) {
      LATHE_ASSIGN_OR_RETURN(Plan plan, PlanEmitter(*graph, shapes_, tables_).Run(symbols));
      step.branches.push_back(static_cast<int32_t>(tables_.out.plan.subplans.size()));
      tables_.out.plan.subplans.push_back(std::move(plan));
    }
    for (Value* result : node.results) {
      slots_[result] = plan_.tensor_count++;
      step.outputs.push_back(slots_[result]);
    }
    for (Value* operand : operands) Touch(roots_.Root(operand));
    Add(std::move(step));
    return BindSizes(node);
  }

  absl::StatusOr<Register> Predicate(const Argument& predicate) {
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
  std::vector<Expr> BoundSymbolsOf(const std::vector<Graph*>& graphs,
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

  // ---- Ends ----
  // The source of a write-back must not be an input that another write-back changes first.
  absl::Status EmitMutations() {
    std::vector<CopyStep> copies;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const OutputSpec& spec = graph_.output_specs()[k];
      if (spec.kind != OutputSpec::Kind::kMutation) continue;
      Value* value = graph_.outputs()[k].value();
      LATHE_ASSIGN_OR_RETURN(TensorSlot source, Slot(value));
      if (IsInput(roots_.Root(value))) {
        const TensorType& type = value->type.tensor();
        LATHE_ASSIGN_OR_RETURN(TensorSlot copy,
                               NewBuffer(ContiguousType(type.dtype, type.sizes), false));
        Add(CopyStep{copy, source});
        source = copy;
      }
      copies.push_back({slots_.at(graph_.inputs()[spec.input]), source});
    }
    for (CopyStep& copy : copies) Add(std::move(copy));
    return absl::OkStatus();
  }

  bool IsInput(const Value* value) const { return value->definition == nullptr; }

  absl::Status EmitReturn() {
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
  bool IsWhole(int input, const Value* value) const {
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

  absl::StatusOr<ReturnStep::Output> OutputOf(size_t k, const std::vector<TensorSlot>& earlier) {
    using Kind = ReturnStep::Output::Kind;
    const Argument& argument = graph_.outputs()[k];
    const OutputSpec& spec = graph_.output_specs()[k];
    ReturnStep::Output output;
    if (argument.is_value() && argument.value()->type.is_tensor()) {
      Value* value = argument.value();
      if (spec.alias_input >= 0) {
        const TensorSlot base = slots_.at(graph_.inputs()[spec.alias_input]);
        const Value* seen =
            IsWhole(spec.alias_input, value) ? graph_.inputs()[spec.alias_input] : value;
        LATHE_ASSIGN_OR_RETURN(output.tensor, ViewOver(base, seen->type.tensor()));
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
  void SetLifetimes() {
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

  void Extend(StorageSlot storage, int32_t step) {
    auto it = pieces_.find(storage);
    if (it == pieces_.end()) return;
    auto& piece = std::get<ReserveStep>(plan_.steps[it->second.first]).pieces[it->second.second];
    piece.last_step = std::max(piece.last_step, step);
  }

  Graph& graph_;
  ShapeEnv& shapes_;
  Tables& tables_;
  Schedule schedule_;
  Plan plan_;
  RegisterFile registers_;
  ViewRoots roots_;
  absl::flat_hash_set<const Value*> escapes_;
  absl::flat_hash_set<const Value*> callback_results_;
  absl::flat_hash_map<const Value*, TensorSlot> slots_;
  absl::flat_hash_map<TensorSlot, StorageSlot> storage_of_slot_;
  absl::flat_hash_map<StorageSlot, std::pair<int32_t, size_t>> pieces_;
  std::vector<std::pair<Value*, int32_t>> used_roots_;
  std::vector<TensorSlot> keep_;
  std::vector<PendingCheck> checks_;
  absl::flat_hash_map<Expr, std::string> described_;
  int32_t segment_eval_ = 0, segment_reserve_ = 0;
};

}  // namespace

absl::StatusOr<EmittedPlan> EmitPlan(const Program& program, const ScheduleOptions& options) {
  Tables tables;
  tables.options = &options;
  PlanEmitter emitter(*program.main, *program.shapes, tables);
  LATHE_ASSIGN_OR_RETURN(Plan plan, emitter.Run({}));
  plan.kernels = std::move(tables.out.plan.kernels);
  plan.callbacks = std::move(tables.out.plan.callbacks);
  plan.subplans = std::move(tables.out.plan.subplans);
  tables.out.plan = std::move(plan);
  return std::move(tables.out);
}

}  // namespace lathe
