#include "scheduler/lower/loop_node.h"

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/graph/call_classes.h"
#include "ir/ops/op_row.h"

namespace lathe {
namespace {

// Loops compute neither with complex numbers nor with dtypes that only store.
bool LoopsCanCompute(const ValueType& type) {
  if (!type.is_tensor()) return true;
  return !IsComplex(type.tensor().dtype) && !IsStorageOnly(type.tensor().dtype);
}

bool AllComputable(const Node& node) {
  bool fine = std::all_of(node.results.begin(), node.results.end(),
                          [](const Value* v) { return LoopsCanCompute(v->type); });
  for (const Argument& argument : node.arguments) {
    argument.ForEachValue([&](Value* v) { fine = fine && LoopsCanCompute(v->type); });
  }
  return fine;
}

bool HasTensorResult(const Node& node) {
  return std::any_of(node.results.begin(), node.results.end(),
                     [](const Value* v) { return v->type.is_tensor() || v->type.is_list(); });
}

bool HasSubgraph(const Node& node) {
  return std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const Argument& a) { return a.kind() == Argument::Kind::kGraph; });
}

class Lowerer {
 public:
  Lowerer(Graph& graph, ShapeEnv& shapes) {
    out_.graph = &graph;
    out_.shapes = &shapes;
    out_.class_of.resize(graph.next_id());
  }

  absl::StatusOr<LoopGraph> Run() {
    for (Node* node = out_.graph->first(); node != nullptr; node = node->next) {
      absl::Status status = LowerNode(node);
      if (!status.ok()) {
        const std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
        return AtNode(Annotate(status, node->op), name, node->origin.source);
      }
    }
    return std::move(out_);
  }

 private:
  absl::Status LowerNode(Node* node) {
    if (node->row == nullptr) return Internal("the node was not resolved");
    if (IsLiteral(*node)) return absl::OkStatus();
    // Sizes and assertions need no loops; the plan binds and checks them.
    if (HasSubgraph(*node) || !HasTensorResult(*node)) {
      out_.steps[node] = ScheduledControl{node};
      return absl::OkStatus();
    }
    if (node->row->lower == nullptr || !(AllComputable(*node) || node->row->is_view())) {
      return Opaque(
          node, node->row->lower == nullptr ? "it has no loops" : "loops do not compute its dtype");
    }
    const OpArgs args(node->row->parsed, node->arguments);
    LowerContext context{args, node->results, *out_.shapes};
    absl::StatusOr<std::vector<Lowered>> lowered = node->row->lower(context);
    if (absl::IsUnimplemented(lowered.status())) {
      return Opaque(node, std::string(lowered.status().message()));
    }
    if (!lowered.ok()) return lowered.status();
    return Add(node, *std::move(lowered));
  }

  // Literal tensors arrive like weights.
  static bool IsLiteral(const Node& node) {
    return std::any_of(node.arguments.begin(), node.arguments.end(),
                       [](const Argument& a) { return a.kind() == Argument::Kind::kTensor; });
  }

  absl::Status Opaque(Node* node, std::string reason) {
    if (node->row->evaluate == nullptr) {
      return Unimplemented("no kernel and no reference evaluation (", reason, ")");
    }
    out_.steps[node] = ScheduledOpaque{node, std::move(reason)};
    return absl::OkStatus();
  }

  absl::Status Add(Node* node, std::vector<Lowered> lowered) {
    if (lowered.size() == 1 && std::holds_alternative<ExternLoops>(lowered[0])) {
      ScheduledExtern step;
      step.node = node;
      step.call = std::get<ExternLoops>(std::move(lowered[0]));
      out_.steps[node] = std::move(step);
      return absl::OkStatus();
    }
    if (lowered.size() != node->results.size()) {
      return Internal("the lowering gave ", lowered.size(), " results, the node has ",
                      node->results.size());
    }
    for (size_t k = 0; k < lowered.size(); ++k) {
      const auto* view = std::get_if<ViewLoops>(&lowered[k]);
      if (view != nullptr && BitWidth(view->input->type.tensor().dtype) !=
                                 BitWidth(node->results[k]->type.tensor().dtype)) {
        return Opaque(node, "it sees bytes as elements of another width");
      }
    }
    out_.class_of[node->id] = ClassOf(*node);
    for (size_t k = 0; k < lowered.size(); ++k) {
      AddResult(node, node->results[k], std::make_shared<const Lowered>(std::move(lowered[k])));
    }
    return absl::OkStatus();
  }

  int ClassOf(const Node& node) {
    words_.clear();
    words_.Add(reinterpret_cast<uint64_t>(node.row));
    bool comparable = true;
    for (const Argument& argument : node.arguments) comparable &= words_.Add(argument);
    if (!comparable) words_.Add(reinterpret_cast<uint64_t>(&node));
    for (const Value* result : node.results) words_.Add(result->type);
    return classes_.Of(words_);
  }

  void AddResult(Node* node, Value* value, std::shared_ptr<const Lowered> lowered) {
    if (const auto* view = std::get_if<ViewLoops>(lowered.get())) {
      out_.views[value] = lowered;
      out_.roots.Add(value, view->input);
      return;
    }
    if (const auto* scatter = std::get_if<ScatterLoops>(lowered.get())) {
      out_.steps[node] = ScheduledScatter{node, scatter->base, value, {}};
      out_.scatters[node] = lowered;
      return;
    }
    LoopNode loop;
    loop.value = value;
    loop.node = node;
    loop.lowered = lowered;
    if (const auto* reduction = std::get_if<ReductionLoops>(lowered.get())) {
      loop.kind = LoopNode::Kind::kReduction;
      loop.domain = reduction->kept_sizes;
      loop.kept_rank = static_cast<int>(loop.domain.size());
      loop.domain.insert(loop.domain.end(), reduction->reduced_sizes.begin(),
                         reduction->reduced_sizes.end());
    } else {
      loop.domain = value->type.tensor().sizes;
      loop.kept_rank = static_cast<int>(loop.domain.size());
    }
    out_.index[value] = static_cast<int>(out_.nodes.size());
    out_.nodes.push_back(std::move(loop));
  }

  LoopGraph out_;
  CallWords words_;
  WordClasses classes_;
};

}  // namespace

OpsValue LoopGraph::Rounded(OpsHandler& ops, OpsValue value, const LoopNode& node) const {
  const DType dtype = node.value->type.tensor().dtype;
  bool converts = false;
  for (const Argument& argument : node.node->arguments) {
    argument.ForEachValue([&](Value* v) {
      converts = converts || (v->type.is_tensor() && v->type.tensor().dtype != dtype);
    });
  }
  if (!keeps_wide || !IsFloat(dtype) || converts) value = ops.Cast(value, dtype);
  return ops.Cast(value, LoadedDType(dtype));
}

absl::StatusOr<LoopGraph> LowerGraph(Graph& graph, ShapeEnv& shapes) {
  return Lowerer(graph, shapes).Run();
}

}  // namespace lathe
