#include "scheduler/schedule_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/loops/lift_offsets.h"
#include "scheduler/fusion/fuse.h"
#include "scheduler/kernels/build_kernel.h"
#include "scheduler/kernels/known_kernels.h"
#include "scheduler/lower/loop_node.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

class GraphScheduler {
 public:
  GraphScheduler(LoopGraph loops, Fusion fusion, const ScheduleOptions& options)
      : loops_(std::move(loops)),
        fusion_(std::move(fusion)),
        kernels_(loops_, fusion_),
        options_(options) {}

  // Later steps say which values of earlier ones need buffers, so steps are built back to front.
  absl::StatusOr<Schedule> Run() {
    for (const Argument& output : loops_.graph->outputs()) {
      output.ForEachValue([&](Value* v) { Need(v); });
    }
    for (const auto& [order, item] : ItemsByOrder()) {
      if (item.group >= 0) {
        LATHE_RETURN_IF_ERROR(BuildGroup(fusion_.groups[item.group]));
      } else {
        LATHE_RETURN_IF_ERROR(BuildStep(item.node));
      }
    }
    Schedule schedule;
    schedule.steps.assign(std::make_move_iterator(steps_.rbegin()),
                          std::make_move_iterator(steps_.rend()));
    schedule.buffers = std::move(needed_);
    schedule.roots = std::move(loops_.roots);
    schedule.decisions = std::move(fusion_.decisions);
    return schedule;
  }

 private:
  struct Item {
    int group = -1;
    const Node* node = nullptr;
  };

  std::vector<std::pair<int, Item>> ItemsByOrder() const {
    std::vector<std::pair<int, Item>> items;
    for (size_t g = 0; g < fusion_.groups.size(); ++g) {
      items.push_back({fusion_.groups[g].order, {static_cast<int>(g), nullptr}});
    }
    for (const auto& [node, order] : fusion_.step_order) items.push_back({order, {-1, node}});
    std::sort(items.begin(), items.end(),
              [](const auto& a, const auto& b) { return a.first > b.first; });
    return items;
  }

  void Need(Value* value) {
    if (value->type.is_tensor()) needed_.insert(loops_.roots.Root(value));
  }

  void NeedOperands(const Node& node) {
    for (const Argument& argument : node.arguments) {
      argument.ForEachValue([&](Value* v) { Need(v); });
    }
  }

  absl::Status BuildGroup(const FusionGroup& group) {
    LATHE_ASSIGN_OR_RETURN(const bool computes_operand, BuildOperand(group));
    if (computes_operand) return absl::OkStatus();
    if (const Node* host = EpilogueHost(group)) {
      const TensorType& type = host->results[0]->type.tensor();
      const Expr rows = RowsOf(type);
      absl::StatusOr<std::optional<ScheduledKernel>> kernel = kernels_.Build(group, needed_, rows);
      if (kernel.ok()) {
        if (!kernel->has_value()) return absl::OkStatus();
        if (ReadsOwnRows(**kernel, host->results[0])) {
          fusion_.decisions.push_back(absl::StrCat("fused the kernel of %", NameOf(group),
                                                   " into the rows of %", host->results[0]->name));
          epilogues_[host].push_back(**std::move(kernel));
          return absl::OkStatus();
        }
      } else if (!absl::IsFailedPrecondition(kernel.status())) {
        return kernel.status();
      }
      fusion_.decisions.push_back(absl::StrCat("not fused: the kernel of %", NameOf(group),
                                               " into the rows of %", host->results[0]->name,
                                               ": it reads other rows"));
    }
    LATHE_ASSIGN_OR_RETURN(std::optional<ScheduledKernel> kernel,
                           kernels_.Build(group, needed_, std::nullopt));
    if (kernel.has_value()) steps_.push_back(*std::move(kernel));
    return absl::OkStatus();
  }

  // A matrix made of packed integers, of which a product reads the columns: the product asks for
  // them as it goes, and the matrix is nowhere as a whole.
  absl::StatusOr<bool> BuildOperand(const FusionGroup& group) {
    if (!options_.fuse_epilogues || !ReadsPackedIntegers(group)) return false;
    Value* matrix = loops_.nodes[group.members.back()].value;
    ScheduledExtern* product = OnlyProductOf(matrix);
    if (product == nullptr) return false;
    const TensorType& columns = product->call.inputs[1]->type.tensor();
    absl::flat_hash_set<Value*> needed = needed_;
    absl::StatusOr<std::optional<ScheduledKernel>> kernel =
        kernels_.Build(group, needed, columns.sizes[1]);
    if (absl::IsFailedPrecondition(kernel.status())) return false;
    if (!kernel.ok()) return kernel.status();
    if (!kernel->has_value() || !WritesOwnRows(**kernel, matrix, columns.sizes[0])) return false;
    fusion_.decisions.push_back(absl::StrCat("fused the kernel of %", NameOf(group),
                                             " into the reads of %",
                                             product->node->results[0]->name));
    needed_ = std::move(needed);
    needed_.erase(matrix);
    product->operand = **std::move(kernel);
    product->computed = matrix;
    // Its rows are read again at once, not written past the caches.
    for (size_t k = 0; k < product->operand->buffers.size(); ++k) {
      SpecBuffer& buffer = product->operand->spec.buffers[k];
      if (product->operand->buffers[k] == matrix) buffer.role = BufferRole::kInOut;
    }
    product->operand->spec.name = NameOfSpec(product->operand->spec);
    return true;
  }

  // The product that alone reads the contiguous matrix, as its second operand [k, n] transposed.
  ScheduledExtern* OnlyProductOf(Value* matrix) {
    if (!matrix->type.is_tensor() || !IsContiguous(matrix->type.tensor())) return nullptr;
    const auto place = extern_places_.find(OnlyReader(matrix));
    if (place == extern_places_.end()) return nullptr;
    auto* call = std::get_if<ScheduledExtern>(&steps_[place->second]);
    const ExternLoops& loops = call->call;
    if (loops.id != "gemm" || loops.inputs.size() != 2 || call->operand.has_value()) return nullptr;
    if (loops_.roots.Root(loops.inputs[1]) != matrix) return nullptr;
    const TensorType& a = loops.inputs[0]->type.tensor();
    const TensorType& b = loops.inputs[1]->type.tensor();
    const bool transposed = b.rank() == 2 && b.strides[0] == Expr(1) &&
                            b.strides[1] == b.sizes[0] && b.offset == Expr(0);
    const bool fits = transposed && a.rank() >= 2 && !IsF8(a.dtype) && !IsF8(b.dtype);
    return fits && CountOf(b) == CountOf(matrix->type.tensor()) ? call : nullptr;
  }

  bool ReadsPackedIntegers(const FusionGroup& group) const {
    for (int n : group.members) {
      for (const Read& read : fusion_.access_of[n].reads) {
        if (IsSubByte(read.root->type.tensor().dtype)) return true;
      }
    }
    return false;
  }

  static Expr CountOf(const TensorType& type) { return symbolic::Product(type.sizes); }

  // The one node behind all views of the value, nullptr when it has several readers or escapes.
  const Node* OnlyReader(const Value* value) const {
    if (value->output_uses != 0) return nullptr;
    const Node* reader = nullptr;
    for (const Node* user : value->users) {
      const Node* found = user;
      if (user->results.size() == 1 && loops_.roots.IsView(user->results[0])) {
        found = OnlyReader(user->results[0]);
      }
      if (found == nullptr || (reader != nullptr && found != reader)) return nullptr;
      reader = found;
    }
    return reader;
  }

  // The kernel reads packed integers, and row i of its axis 0 is elements [i * length, ...) of the
  // matrix, the one thing it writes.
  static bool WritesOwnRows(const ScheduledKernel& kernel, const Value* matrix,
                            const Expr& length) {
    if (kernel.spec.outer != std::vector<int>{0}) return false;
    bool reads_packed = false;
    for (size_t k = 0; k < kernel.buffers.size(); ++k) {
      const SpecBuffer& buffer = kernel.spec.buffers[k];
      if (buffer.role == BufferRole::kIn) {
        reads_packed |= IsSubByte(buffer.dtype);
      } else if (kernel.buffers[k] != matrix) {
        return false;
      }
    }
    const Expr row = kernel.spec.axes[0].symbol;
    for (const SpecStage& stage : kernel.spec.stages) {
      for (const LoopOp& op : stage.body.ops) {
        const bool is_matrix = (op.kind == OpKind::kLoad || op.kind == OpKind::kStore) &&
                               kernel.buffers[op.buffer] == matrix;
        if (!is_matrix) continue;
        if (op.kind == OpKind::kLoad) return false;
        const std::vector<Expr> used = symbolic::FreeSymbols(op.index - row * length);
        if (std::find(used.begin(), used.end(), row) != used.end()) return false;
      }
    }
    return reads_packed;
  }

  std::string NameOf(const FusionGroup& group) const {
    return loops_.nodes[group.members.back()].value->name;
  }

  static Expr RowsOf(const TensorType& type) {
    return symbolic::Product({type.sizes.data(), type.sizes.size() - 1});
  }

  // The extern whose rows the group could run on: it reads the extern's first result element by
  // element, and everything else it reads is ready before the extern runs.
  const Node* EpilogueHost(const FusionGroup& group) const {
    if (!options_.fuse_epilogues) return nullptr;
    const Node* host = nullptr;
    int host_order = 0;
    for (int n : group.members) {
      for (const Read& read : fusion_.access_of[n].reads) {
        const auto order = fusion_.order_of.find(read.root);
        if (order == fusion_.order_of.end() || order->second == group.order) continue;
        if (order->second > host_order) {
          host_order = order->second;
          host = read.root->definition;
        }
      }
    }
    if (host == nullptr) return nullptr;
    const auto step = loops_.steps.find(host);
    if (step == loops_.steps.end()) return nullptr;
    const auto* call = std::get_if<ScheduledExtern>(&step->second);
    if (call == nullptr || !call->call.row_epilogue) return nullptr;
    const TensorType& type = host->results[0]->type.tensor();
    if (type.rank() == 0 || !IsContiguous(type)) return nullptr;
    return host;
  }

  // Every load of the host's result stays in the kernel's own row.
  bool ReadsOwnRows(const ScheduledKernel& kernel, const Value* result) const {
    ExprContext& context = loops_.shapes->context();
    const Expr row = kernel.spec.axes[0].symbol;
    const Expr length = result->type.tensor().sizes.back();
    if (kernel.spec.outer != std::vector<int>{0}) return false;
    std::vector<Expr> inner_symbols, inner_sizes;
    for (size_t k = 1; k < kernel.spec.axes.size(); ++k) {
      inner_symbols.push_back(kernel.spec.axes[k].symbol);
      inner_sizes.push_back(kernel.spec.axes[k].extent);
    }
    for (const SpecStage& stage : kernel.spec.stages) {
      for (const LoopOp& op : stage.body.ops) {
        if (op.kind != OpKind::kLoad || kernel.buffers[op.buffer] != result) continue;
        const Expr in_row = op.index - row * length;
        const std::vector<Expr> used = symbolic::FreeSymbols(in_row);
        if (std::find(used.begin(), used.end(), row) != used.end()) return false;
        // The whole row in order: the inner axes' row-major position.
        Expr linear = 0;
        for (size_t k = 0; k < inner_symbols.size(); ++k) {
          linear = linear * inner_sizes[k] + inner_symbols[k];
        }
        if (in_row != linear && !(length == Expr(1) && in_row == Expr(0))) return false;
      }
    }
    (void)context;
    return true;
  }

  absl::Status BuildStep(const Node* node) {
    ScheduledStep step = std::move(loops_.steps.at(node));
    if (auto* scatter = std::get_if<ScheduledScatter>(&step)) {
      if (!needed_.contains(scatter->result)) return absl::OkStatus();
      Need(scatter->base);
      const auto& loops = std::get<ScatterLoops>(*loops_.scatters.at(node));
      LATHE_ASSIGN_OR_RETURN(scatter->kernel,
                             BuildScatter(loops_, fusion_, loops, scatter->result, needed_));
    } else if (auto* call = std::get_if<ScheduledExtern>(&step)) {
      // Where only running tells the size, that may be what is wanted: dce left the node.
      if (!AnyNeeded(*node) && !epilogues_.contains(node) && !call->call.allocates) {
        return absl::OkStatus();
      }
      for (Value* input : call->call.inputs) {
        if (input != nullptr) Need(input);
      }
      for (Value* result : node->results) needed_.insert(result);
      call->epilogues = std::move(epilogues_[node]);
      std::reverse(call->epilogues.begin(), call->epilogues.end());
      extern_places_[node] = steps_.size();
    } else {
      NeedOperands(*node);
      for (Value* result : node->results) Need(result);
    }
    steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  bool AnyNeeded(const Node& node) const {
    return std::any_of(node.results.begin(), node.results.end(),
                       [&](Value* v) { return needed_.contains(v); });
  }

  LoopGraph loops_;
  Fusion fusion_;
  KnownKernels kernels_;
  const ScheduleOptions& options_;
  absl::flat_hash_set<Value*> needed_;
  absl::flat_hash_map<const Node*, std::vector<ScheduledKernel>> epilogues_;
  std::vector<ScheduledStep> steps_;                        // from the last to the first
  absl::flat_hash_map<const Node*, size_t> extern_places_;  // in steps_
};

}  // namespace

absl::StatusOr<Schedule> ScheduleGraph(Graph& graph, ShapeEnv& shapes,
                                       const ScheduleOptions& options) {
  LATHE_ASSIGN_OR_RETURN(LoopGraph loops, LowerGraph(graph, shapes));
  loops.keeps_wide = options.keep_wide;
  Fusion fusion = FuseLoops(loops);
  return GraphScheduler(std::move(loops), std::move(fusion), options).Run();
}

namespace {

void AppendKernel(const ScheduledKernel& kernel, absl::string_view indent, std::string* text) {
  absl::StrAppend(text, indent, "kernel ", kernel.spec.name, " computes");
  for (const Node* node : kernel.nodes) absl::StrAppend(text, " ", node->op);
  absl::StrAppend(text, "\n", indent, "  buffers");
  for (size_t k = 0; k < kernel.buffers.size(); ++k) {
    const BufferRole role = kernel.spec.buffers[k].role;
    absl::StrAppend(text,
                    role == BufferRole::kIn    ? " "
                    : role == BufferRole::kOut ? " out "
                                               : " inout ",
                    "%", kernel.buffers[k]->name);
  }
  absl::StrAppend(text, "\n");
}

void AppendStep(const ScheduledStep& step, std::string* text) {
  if (const auto* kernel = std::get_if<ScheduledKernel>(&step)) {
    AppendKernel(*kernel, "", text);
  } else if (const auto* call = std::get_if<ScheduledExtern>(&step)) {
    absl::StrAppend(text, "extern ", call->call.id, " computes ", call->node->op, " into %",
                    call->node->results[0]->name, "\n");
    if (call->operand.has_value()) {
      AppendKernel(*call->operand, "  for its second operand: ", text);
    }
    for (const ScheduledKernel& kernel : call->epilogues)
      AppendKernel(kernel, "  on its rows: ", text);
  } else if (const auto* scatter = std::get_if<ScheduledScatter>(&step)) {
    absl::StrAppend(text, "copy %", scatter->base->name, " into %", scatter->result->name, "\n");
    AppendKernel(scatter->kernel, "", text);
  } else if (const auto* opaque = std::get_if<ScheduledOpaque>(&step)) {
    absl::StrAppend(text, "reference evaluation of ", opaque->node->op, ": ", opaque->reason, "\n");
  } else {
    absl::StrAppend(text, "control ", std::get<ScheduledControl>(step).node->op, "\n");
  }
}

}  // namespace

std::string ToString(const Schedule& schedule) {
  std::string text;
  for (const ScheduledStep& step : schedule.steps) AppendStep(step, &text);
  for (const std::string& decision : schedule.decisions)
    absl::StrAppend(&text, "// ", decision, "\n");
  return text;
}

}  // namespace lathe
