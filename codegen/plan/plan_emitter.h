#ifndef LATHE_CODEGEN_PLAN_PLAN_EMITTER_H_
#define LATHE_CODEGEN_PLAN_PLAN_EMITTER_H_

// The inside of EmitPlan: writes the Plan of one graph; sub-graphs get emitters of their own.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/plan/emit_plan.h"
#include "codegen/plan/in_place.h"
#include "codegen/plan/load_bounds.h"
#include "codegen/plan/register_file.h"
#include "codegen/plan/size_assumptions.h"

namespace lathe {

// What the plans of one program share.
struct PlanTables {
  EmittedPlan out;
  absl::flat_hash_map<std::string, int32_t> kernel_of;  // by spec name and error rows
  const ScheduleOptions* options = nullptr;

  int32_t KernelIndex(const KernelSpec& spec);
};

class PlanEmitter {
 public:
  PlanEmitter(Graph& graph, ShapeEnv& shapes, PlanTables& tables)
      : graph_(graph), shapes_(shapes), tables_(tables) {}

  // `outer_symbols`: of a sub-graph, the symbols that arrive in registers 0, 1...
  // As errors name it: "%sum", or the operator of a node without results.
  static std::string NameOf(const Node& node);
  absl::StatusOr<Plan> Run(const std::vector<Expr>& outer_symbols);

 private:
  // ---- Slots and buffers: emit_slots.cc ----
  void FindRoots();
  template <typename Step>
  Step& Add(Step step) {
    plan_.steps.emplace_back(std::move(step));
    return std::get<Step>(plan_.steps.back());
  }
  int32_t Here() const { return static_cast<int32_t>(plan_.steps.size()); }
  void StartSegment();
  SizeProgram& Program() { return std::get<EvalStep>(plan_.steps[segment_eval_]).program; }
  absl::StatusOr<Register> Reg(const Expr& e) { return registers_.Of(e, Program()); }
  absl::Status Registers(const std::vector<Expr>& exprs, std::vector<Register>* out);
  absl::StatusOr<ViewStep> ViewOf(const TensorType& type, TensorSlot slot);
  static Expr BytesOf(const TensorType& type);
  absl::StatusOr<TensorSlot> NewBuffer(Value* value);
  absl::StatusOr<TensorSlot> NewBuffer(const TensorType& type, bool escapes, const Node* node);
  absl::StatusOr<TensorSlot> Slot(Value* value);
  absl::StatusOr<TensorSlot> ViewOver(TensorSlot base, const TensorType& type);
  // The buffer behind `root` is used by the step about to be added.
  void Touch(Value* root) { used_roots_.push_back({root, Here()}); }

  // ---- Inputs and checks: emit_inputs.cc ----
  std::string InputName(int k) const { return graph_.inputs()[k]->name; }
  absl::Status EmitInputs();
  bool AllBound(const Expr& e) const;
  struct PendingCheck {
    Expr expected;
    Register actual;
    std::string what;
    const Node* node = nullptr;  // whose result it is; nullptr: an input
  };
  absl::Status EmitInput(int k);
  bool IsMutated(int k) const;
  void BindTensor(Value* value, int k, PlanInput* input);
  void BindOrCheck(const Expr& e, Register reg, std::string what);
  absl::Status SolveFor(const PendingCheck& check);
  absl::Status EmitSizeCheck(const PendingCheck& check);
  absl::Status EmitRange(const Expr& symbol);
  absl::Status EmitAssert(const Expr& condition, std::string message, std::string node,
                          std::string source);
  absl::Status NameSymbols(const Expr& e, AssertStep& step);
  absl::Status EmitLiterals();
  absl::Status EmitAssumptions();

  // ---- Kernels, externs, callbacks: emit_steps.cc ----
  absl::Status EmitStep(const ScheduledStep& step);
  absl::Status EmitBounds(const ScheduledKernel& kernel, int32_t number);
  // The value whose storage holds `root`.
  const Value* PlaceOf(const Value* root) const {
    const auto it = in_place_.find(root);
    return it == in_place_.end() ? root : it->second;
  }
  // The kernel as it writes in place; nullopt when it does not.
  std::optional<ScheduledKernel> InPlace(const ScheduledKernel& kernel) const;
  // `absent` has no buffer: the launch has -1 in its place.
  absl::StatusOr<LaunchStep> LaunchOf(const ScheduledKernel& kernel, Value* absent = nullptr);
  absl::Status EmitKernel(const ScheduledKernel& kernel);
  absl::StatusOr<TensorSlot> ExternInput(const ExternLoops& call, size_t k);
  absl::Status EmitExtern(const ScheduledExtern& scheduled);
  absl::Status EmitScatter(const ScheduledScatter& scatter);
  absl::Status EmitOpaque(const ScheduledOpaque& opaque);
  absl::Status OpaqueOperands(const Argument& argument, OpaqueStep* step, PlanCallback* callback);
  void AddExpressions(const Argument& argument, PlanCallback* callback);
  void AddKnownInteger(const Expr& e, PlanCallback* callback);
  std::vector<Expr> AssumedConditions() const;
  absl::Status BindSizes(const Node& node);
  std::vector<std::vector<bool>> FoundSizes(const Node& node);

  // ---- Control flow and sizes: emit_control.cc ----
  absl::Status EmitControl(const Node& node);
  static bool HasSubgraph(const Node& node);
  absl::Status EmitItem(const Node& node, const Expr& symbol);
  static Value* FirstTensor(const Node& node);
  absl::Status EmitAssertion(const Node& node);
  absl::Status EmitSubgraphs(const Node& node);
  absl::Status EmitBranches(const Node& node);
  absl::Status EmitLoop(const Node& node);
  // The index of the sub-plan, whose registers 0, 1... are the symbols.
  absl::StatusOr<int32_t> EmitSubplan(Graph& graph, const std::vector<Expr>& symbols);
  absl::StatusOr<std::vector<TensorSlot>> TensorSlots(const std::vector<Value*>& operands);
  std::vector<TensorSlot> ResultSlots(const Node& node);
  absl::StatusOr<Register> Predicate(const Argument& predicate);
  std::vector<Expr> BoundSymbolsOf(const std::vector<Graph*>& graphs,
                                   const std::vector<Value*>& operands);

  // ---- Write-backs, results, lifetimes: emit_ends.cc ----
  absl::Status EmitMutations();
  bool IsInput(const Value* value) const { return value->definition == nullptr; }
  absl::Status EmitReturn();
  bool IsWhole(int input, const Value* value) const;
  absl::StatusOr<TensorType> TypeOver(int input, const Value* value);
  absl::StatusOr<ReturnStep::Output> OutputOf(size_t k, const std::vector<TensorSlot>& earlier);
  void SetLifetimes();
  void Extend(StorageSlot storage, int32_t step);

  Graph& graph_;
  ShapeEnv& shapes_;
  PlanTables& tables_;
  Schedule schedule_;
  Plan plan_;
  RegisterFile registers_;
  ViewRoots roots_;
  absl::flat_hash_set<const Value*> escapes_;
  InPlaceTargets in_place_;
  absl::flat_hash_set<const Value*> callback_results_;
  absl::flat_hash_map<const Value*, TensorSlot> slots_;
  absl::flat_hash_map<TensorSlot, StorageSlot> storage_of_slot_;
  absl::flat_hash_map<StorageSlot, std::pair<int32_t, size_t>> pieces_;
  std::vector<std::pair<Value*, int32_t>> used_roots_;
  std::vector<TensorSlot> keep_;
  std::vector<PendingCheck> checks_;
  // Symbols in the user's words; those of the graph around this one.
  absl::flat_hash_map<Expr, std::string> described_, outer_names_;
  std::vector<SizeAssumption> assumptions_;
  KnownBounds bounds_;
  size_t assumed_ = 0;  // how many of them, in order of when they can be checked, are asserted
  bool checks_divisors_ = false;  // some assertion so far is there to keep a divisor from zero
  int32_t segment_eval_ = 0, segment_reserve_ = 0;
};

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_PLAN_EMITTER_H_
