#include "ir/passes/fold_constants.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/host_call.h"
#include "ir/ops/lowering.h"
#include "ir/passes/graph_edit.h"

namespace lathe {
namespace {

constexpr int64_t kSizeLimitBytes = 1024;
constexpr int64_t kWeightLimitBytes = 64 * 1024;

// No sub-graph, and no symbol inside.
bool IsClosed(const Argument& argument) {
  if (argument.kind() == Argument::Kind::kGraph) return false;
  if (argument.kind() == Argument::Kind::kInt) return argument.expr().AsInt().has_value();
  if (!argument.is_list()) return true;
  return std::all_of(argument.list().begin(), argument.list().end(), IsClosed);
}

// A contiguous host tensor of known sizes within the limit.
bool IsSmall(const ValueType& type, int64_t limit) {
  if (!type.is_tensor()) return false;
  const TensorType& tensor = type.tensor();
  int64_t count = 1;
  for (const Expr& size : tensor.sizes) {
    if (!size.is_const() || *size.AsInt() < 1 || *size.AsInt() > limit * 8) return false;
    count *= *size.AsInt();
    if (count > limit * 8) return false;
  }
  return ByteSize(tensor.dtype, count).value_or(limit + 1) <= limit && IsContiguous(tensor) &&
         tensor.offset == Expr(0) && tensor.device == Device::Cpu();
}

// The weights that no call changes, by the inputs that name them.
absl::flat_hash_map<const Value*, Tensor> FixedWeights(const Program& program) {
  const Graph& graph = *program.main;
  absl::flat_hash_set<const void*> changed;
  absl::flat_hash_map<const Value*, Tensor> weights;
  const auto weight = [&](int input) -> const Tensor* {
    const auto found = program.weights.find(graph.input_specs()[input].target);
    return found == program.weights.end() ? nullptr : &found->second;
  };
  for (const OutputSpec& output : graph.output_specs()) {
    if (output.kind != OutputSpec::Kind::kMutation) continue;
    if (const Tensor* t = weight(output.input)) changed.insert(t->storage().get());
  }
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    const Tensor* t = weight(static_cast<int>(k));
    if (t == nullptr || changed.contains(t->storage().get())) continue;
    if (IsSmall(graph.inputs()[k]->type, kWeightLimitBytes)) weights[graph.inputs()[k]] = *t;
  }
  return weights;
}

// A precompiled function reads the value from memory, maybe through views.
bool ReadByExtern(const Value& value, ShapeEnv& shapes) {
  for (Node* user : value.users) {
    if (user->row == nullptr || user->row->lower == nullptr) continue;
    if (user->row->is_view()) {
      if (ReadByExtern(*user->results[0], shapes)) return true;
      continue;
    }
    const OpArgs args(user->row->parsed, user->arguments);
    const auto lowered = user->row->lower({args, user->results, shapes});
    if (lowered.ok() && lowered->size() == 1 &&
        std::holds_alternative<ExternLoops>((*lowered)[0])) {
      return true;
    }
  }
  return false;
}

class Folder {
 public:
  Folder(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes,
         const absl::flat_hash_map<const Value*, Tensor>& weights)
      : graph_(graph), registry_(registry), shapes_(shapes) {
    for (const auto& [value, tensor] : weights) {
      known_.values[value] = tensor;
      of_weights_.insert(value);
    }
  }

  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (Node* node : graph_.nodes()) {
      Reads reads;
      if (!CanFold(*node, reads)) continue;
      // An error is the program's own, and belongs to its run.
      if (!RunNode(*node, known_, nullptr).ok()) continue;
      Value* result = node->results[0];
      if (reads.weights) of_weights_.insert(result);
      if (reads.weights && node->row->is_view()) continue;
      const bool in_memory = !IsLiteral(*node) && ReadByExtern(*result, shapes_);
      if (!reads.values && !in_memory) continue;
      LATHE_RETURN_IF_ERROR(Replace(node, in_memory));
      changed = true;
    }
    return changed;
  }

 private:
  struct Reads {
    bool values = false, weights = false;
  };

  static bool IsLiteral(const Node& node) {
    return std::any_of(node.arguments.begin(), node.arguments.end(),
                       [](const Argument& a) { return a.kind() == Argument::Kind::kTensor; });
  }

  bool CanFold(const Node& node, Reads& reads) const {
    if (node.row == nullptr || node.row->effect != Effect::kPure || !node.row->evaluate ||
        node.results.size() != 1) {
      return false;
    }
    bool known = true;
    for (const Argument& argument : node.arguments) {
      known = known && IsClosed(argument);
      argument.ForEachValue([&](Value* v) {
        reads.values = true;
        reads.weights = reads.weights || of_weights_.contains(v);
        known = known && known_.values.contains(v);
      });
    }
    return known &&
           IsSmall(node.results[0]->type, reads.weights ? kWeightLimitBytes : kSizeLimitBytes);
  }

  absl::Status Replace(Node* node, bool in_memory) {
    Value* result = node->results[0];
    const Tensor tensor = known_.values.at(result).tensor().Clone();
    const bool from_weights = of_weights_.contains(result);
    Builder builder(graph_, registry_, shapes_);
    builder.SetInsertionPoint(node);
    builder.SetOrigin(node->origin);
    const int64_t first_new_id = graph_.next_id();
    Value* folded =
        IsUniform(tensor) && !in_memory
            ? builder.Call("aten.full", {result->type.tensor().sizes, tensor.AtLinear(0)},
                           {{"dtype", tensor.dtype()}})
            : builder.Call("constant", {Argument::Of(tensor)});
    LATHE_RETURN_IF_ERROR(builder.status());
    known_.values[folded] = tensor;
    if (from_weights) of_weights_.insert(folded);
    graph_.ReplaceAllUses(result, folded);
    EraseReplaced(graph_, node, {Argument::Of(folded)}, first_new_id);
    return absl::OkStatus();
  }

  static bool IsUniform(const Tensor& tensor) {
    if (IsComplex(tensor.dtype())) return false;
    for (int64_t k = 1; k < tensor.numel(); ++k) {
      if (!tensor.AtLinear(k).Identical(tensor.AtLinear(0))) return false;
    }
    return true;
  }

  Graph& graph_;
  const OpRegistry& registry_;
  ShapeEnv& shapes_;
  HostEnvironment known_;
  absl::flat_hash_set<const Value*> of_weights_;  // known values that depend on a weight
};

absl::StatusOr<bool> Run(Program& program, const OpRegistry& registry) {
  bool changed = false;
  const absl::flat_hash_map<const Value*, Tensor> weights = FixedWeights(program);
  for (Graph* graph : AllGraphs(program)) {
    LATHE_ASSIGN_OR_RETURN(bool graph_changed,
                           Folder(*graph, registry, *program.shapes, weights).Run());
    changed |= graph_changed;
  }
  return changed;
}

}  // namespace

Pass FoldConstantsPass() {
  return {"fold_constants", "computes small nodes whose inputs are constants", Run};
}

}  // namespace lathe
