#include "codegen/plan/in_place.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ir/loops/affine_index.h"
#include "ir/loops/lift_offsets.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

std::optional<BufferId> BufferOf(const ScheduledKernel& kernel, const Value* value) {
  const auto it = std::find(kernel.buffers.begin(), kernel.buffers.end(), value);
  if (it == kernel.buffers.end()) return std::nullopt;
  return static_cast<BufferId>(it - kernel.buffers.begin());
}

bool Writes(const ScheduledKernel& kernel, const Value* value) {
  const std::optional<BufferId> buffer = BufferOf(kernel, value);
  return buffer.has_value() && kernel.spec.buffers[*buffer].role != BufferRole::kIn;
}

bool Uses(const ScheduledKernel& kernel, const Value* value) {
  return BufferOf(kernel, value).has_value();
}

// Of one kernel: is every place of `target` that it loads the one that the same iteration of the
// outer axes then stores to, as `result`?
class SamePlaces {
 public:
  SamePlaces(const KernelSpec& spec, BufferId target, BufferId result, ExprContext& context)
      : spec_(spec), target_(target), result_(result), context_(context) {}

  bool Hold() const {
    const SpecStage* storing = nullptr;
    const LoopOp* store = nullptr;
    for (const SpecStage& stage : spec_.stages) {
      for (const LoopOp& op : stage.body.ops) {
        if (op.kind == OpKind::kStore && op.buffer == result_) {
          if (store != nullptr || op.mode != StoreMode::kPlain || op.mask != kNoValue) return false;
          storing = &stage;
          store = &op;
        }
        if (op.kind == OpKind::kLoad && op.buffer == result_) return false;
      }
    }
    if (store == nullptr || !StoresEachPlaceOnce(*storing, store->index)) return false;
    bool stored = false;
    for (const SpecStage& stage : spec_.stages) {
      for (const LoopOp& op : stage.body.ops) {
        stored = stored || &op == store;
        if (op.kind != OpKind::kLoad || op.buffer != target_) continue;
        if (stored || !SamePlace(stage, op.index, *storing, store->index)) return false;
      }
    }
    return true;
  }

 private:
  // A place that is stored to again would be loaded from in between.
  bool StoresEachPlaceOnce(const SpecStage& stage, const Expr& index) const {
    std::vector<int> axes = spec_.outer;
    axes.insert(axes.end(), stage.axes.begin(), stage.axes.end());
    return std::all_of(axes.begin(), axes.end(), [&](int axis) {
      const SpecAxis& a = spec_.axes[axis];
      return a.kind == AxisKind::kReduce || a.extent == Expr(1) || UsesSymbol(index, a.symbol);
    });
  }

  // Over all inner axes of the stages the two indexes go through the same places, in one stage in
  // the same order.
  bool SamePlace(const SpecStage& a, const Expr& index, const SpecStage& b,
                 const Expr& stored) const {
    if (&a == &b) return index == stored;
    if (a.axes.size() != b.axes.size()) return false;
    absl::flat_hash_map<Expr, Expr> renamed;
    for (size_t k = 0; k < a.axes.size(); ++k) {
      const SpecAxis &from = spec_.axes[a.axes[k]], &to = spec_.axes[b.axes[k]];
      if (!(from.extent == to.extent)) return false;
      renamed[from.symbol] = to.symbol;
    }
    // Without outer axes a call does a range of axis 0, which both stages must share.
    const bool shares_rows =
        !spec_.outer.empty() || (!a.axes.empty() && a.axes[0] == 0 && b.axes[0] == 0);
    return shares_rows && symbolic::Substitute(index, renamed, context_) == stored;
  }

  const KernelSpec& spec_;
  const BufferId target_, result_;
  ExprContext& context_;
};

class Finder {
 public:
  Finder(const Graph& graph, const Schedule& schedule, const ViewRoots& roots,
         const ShapeEnv& shapes)
      : graph_(graph), schedule_(schedule), roots_(roots), context_(shapes.context()) {}

  InPlaceTargets Run() {
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      if (IsMutation(k)) TryWriteBack(k);
    }
    for (size_t s = 0; s < schedule_.steps.size(); ++s) TryScatter(s);
    return std::move(result_);
  }

 private:
  bool IsMutation(size_t k) const {
    return graph_.output_specs()[k].kind == OutputSpec::Kind::kMutation &&
           graph_.outputs()[k].is_value();
  }

  // The root of output `k`, nullptr for one that is no tensor.
  const Value* RootOf(size_t k) const {
    const Argument& output = graph_.outputs()[k];
    if (!output.is_value() || !output.value()->type.is_tensor()) return nullptr;
    return roots_.Root(output.value());
  }

  void TryWriteBack(size_t k) {
    Value* value = graph_.outputs()[k].value();
    const int input = graph_.output_specs()[k].input;
    Value* target = graph_.inputs()[input];
    Value* root = roots_.Root(value);
    if (root->definition == nullptr || result_.contains(root)) return;
    if (taken_.contains(target) || !SameLayout(value->type.tensor(), target->type.tensor()) ||
        !IsWhole(value->type.tensor(), root->type.tensor())) {
      return;
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (i == k) continue;
      const Value* other = RootOf(i);
      if (other == target) return;  // its old contents go out
      const bool shares = !IsMutation(i) && graph_.output_specs()[i].alias_input == input;
      if (other == root && !shares) return;
    }
    const std::optional<size_t> maker = MakerOf(root);
    if (!maker.has_value() || !CanMakeAt(*maker, root, target)) return;
    result_[root] = target;
    taken_.insert(target);
    PlaceBases(*maker, target);
  }

  // Step `maker` may write `root` over `target`, whose old contents nobody reads later.
  bool CanMakeAt(size_t maker, const Value* root, const Value* target) const {
    if (!MakesInPlace(schedule_.steps[maker], root, target)) return false;
    for (size_t s = maker + 1; s < schedule_.steps.size(); ++s) {
      if (Reads(schedule_.steps[s], target)) return false;
    }
    return true;
  }

  // What a scatter over `target` starts from can be there already, and what that starts from.
  void PlaceBases(size_t at, Value* target) {
    for (const auto* scatter = std::get_if<ScheduledScatter>(&schedule_.steps[at]);
         scatter != nullptr && scatter->base != target;
         scatter = std::get_if<ScheduledScatter>(&schedule_.steps[at])) {
      Value* base = scatter->base;
      const std::optional<size_t> maker = MakerOf(base);
      if (!maker.has_value() || result_.contains(base) || !EndsAt(at, *scatter) ||
          !CanMakeAt(*maker, base, target)) {
        return;
      }
      result_[base] = target;
      at = *maker;
    }
  }

  // The scatter of step `at` is the last to see its base, a buffer of this call.
  bool EndsAt(size_t at, const ScheduledScatter& scatter) const {
    Value* base = scatter.base;
    if (roots_.Root(base) != base || base->definition == nullptr) return false;
    if (!SameLayout(base->type.tensor(), scatter.result->type.tensor())) return false;
    if (Uses(scatter.kernel, base)) return false;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      if (RootOf(k) == base) return false;
    }
    for (size_t s = at + 1; s < schedule_.steps.size(); ++s) {
      if (Reads(schedule_.steps[s], base)) return false;
    }
    return true;
  }

  // A scatter's base that is a buffer of this call and that nobody reads afterwards.
  void TryScatter(size_t at) {
    const auto* scatter = std::get_if<ScheduledScatter>(&schedule_.steps[at]);
    if (scatter == nullptr || result_.contains(scatter->result)) return;
    Value* base = scatter->base;
    if (!EndsAt(at, *scatter) || taken_.contains(base) || !MakerOf(base).has_value()) return;
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      if (RootOf(k) == scatter->result) return;  // gets a storage of its own
    }
    const auto placed = result_.find(base);
    if (placed != result_.end() && placed->second->definition == nullptr) return;
    result_[scatter->result] = placed == result_.end() ? base : placed->second;
    taken_.insert(base);
  }

  static bool SameLayout(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
  }

  // The view covers all of its root's buffer, from its first element on.
  static bool IsWhole(const TensorType& view, const TensorType& root) {
    return view.dtype == root.dtype && view.offset == root.offset &&
           NumElements(view) == NumElements(root) && LastElement(view) == LastElement(root);
  }
  static Expr LastElement(const TensorType& type) {
    std::vector<Expr> terms;
    for (int d = 0; d < type.rank(); ++d) terms.push_back((type.sizes[d] - 1) * type.strides[d]);
    return symbolic::Sum(terms);
  }

  std::optional<size_t> MakerOf(const Value* root) const {
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      const ScheduledStep& step = schedule_.steps[s];
      if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) {
        if (Writes(*kernel, root)) return s;
      } else if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) {
        if (scatter->result == root) return s;
      } else if (const auto* call = std::get_if<ScheduledExtern>(&step)) {
        for (const ScheduledKernel& kernel : call->epilogues) {
          if (Writes(kernel, root)) return s;
        }
      }
    }
    return std::nullopt;
  }

  bool MakesInPlace(const ScheduledStep& step, const Value* root, const Value* target) const {
    if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) {
      return KernelMakesInPlace(*kernel, root, target);
    }
    if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) {
      const bool is_whole = scatter->base == target || roots_.Root(scatter->base) != target;
      return is_whole && !Uses(scatter->kernel, target);
    }
    const auto* call = std::get_if<ScheduledExtern>(&step);
    if (call == nullptr) return false;
    if (call->operand.has_value() && Uses(*call->operand, target)) return false;
    for (const Value* input : call->call.inputs) {
      if (input != nullptr && roots_.Root(const_cast<Value*>(input)) == target) return false;
    }
    for (const ScheduledKernel& kernel : call->epilogues) {
      if (Writes(kernel, root) ? !KernelMakesInPlace(kernel, root, target) : Uses(kernel, target)) {
        return false;
      }
    }
    return true;
  }

  bool KernelMakesInPlace(const ScheduledKernel& kernel, const Value* root,
                          const Value* target) const {
    const std::optional<BufferId> from = BufferOf(kernel, target), to = BufferOf(kernel, root);
    if (!from.has_value()) return true;
    return SamePlaces(kernel.spec, *from, *to, context_).Hold();
  }

  bool Reads(const ScheduledStep& step, const Value* root) const {
    const auto is_root = [&](const Value* v) {
      return v != nullptr && roots_.Root(const_cast<Value*>(v)) == root;
    };
    if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) return Uses(*kernel, root);
    if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) {
      return is_root(scatter->base) || Uses(scatter->kernel, root);
    }
    if (const auto* call = std::get_if<ScheduledExtern>(&step)) {
      bool reads = false;
      for (const Value* input : call->call.inputs) reads = reads || is_root(input);
      for (const ScheduledKernel& kernel : call->epilogues) reads = reads || Uses(kernel, root);
      reads = reads || (call->operand.has_value() && Uses(*call->operand, root));
      return reads;
    }
    const Node* node = std::holds_alternative<ScheduledOpaque>(step)
                           ? std::get<ScheduledOpaque>(step).node
                           : std::get<ScheduledControl>(step).node;
    bool reads = false;
    for (const Argument& argument : node->arguments) {
      argument.ForEachValue([&](Value* v) { reads = reads || is_root(v); });
    }
    return reads;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const ViewRoots& roots_;
  ExprContext& context_;
  InPlaceTargets result_;
  absl::flat_hash_set<const Value*> taken_;  // written over already
};

}  // namespace

InPlaceTargets FindInPlace(const Graph& graph, const Schedule& schedule, const ViewRoots& roots,
                           const ShapeEnv& shapes) {
  return Finder(graph, schedule, roots, shapes).Run();
}

void StoreInPlace(ScheduledKernel& kernel, const Value* result, Value* target) {
  const std::optional<BufferId> to = BufferOf(kernel, result);
  if (!to.has_value()) return;
  const std::optional<BufferId> from = BufferOf(kernel, target);
  if (!from.has_value()) {
    kernel.buffers[*to] = target;
    return;
  }
  KernelSpec& spec = kernel.spec;
  spec.buffers[*from].role = BufferRole::kInOut;
  spec.buffers[*from].alignment_bytes =
      std::min(spec.buffers[*from].alignment_bytes, spec.buffers[*to].alignment_bytes);
  spec.buffers.erase(spec.buffers.begin() + *to);
  kernel.buffers.erase(kernel.buffers.begin() + *to);
  for (SpecStage& stage : spec.stages) {
    for (LoopOp& op : stage.body.ops) {
      if (op.kind != OpKind::kLoad && op.kind != OpKind::kStore) continue;
      if (op.buffer == *to) op.buffer = *from;
      if (op.buffer > *to) --op.buffer;
    }
  }
  spec.name = NameOfSpec(spec);
}

}  // namespace lathe
