#include "ir/passes/fold_constants.h"

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/host_call.h"
#include "ir/passes/graph_edit.h"

namespace lathe {
namespace {

constexpr int64_t kSizeLimitBytes = 1024;

// No sub-graph, and no symbol inside.
bool IsClosed(const Argument& argument) {
  if (argument.kind() == Argument::Kind::kGraph) return false;
  if (argument.kind() == Argument::Kind::kInt) return argument.expr().AsInt().has_value();
  if (!argument.is_list()) return true;
  return std::all_of(argument.list().begin(), argument.list().end(), IsClosed);
}

// A contiguous host tensor of known sizes within the limit.
bool IsSmall(const ValueType& type) {
  if (!type.is_tensor()) return false;
  const TensorType& tensor = type.tensor();
  int64_t count = 1;
  for (const Expr& size : tensor.sizes) {
    if (!size.is_const() || *size.AsInt() < 1 || *size.AsInt() > kSizeLimitBytes * 8) return false;
    count *= *size.AsInt();
    if (count > kSizeLimitBytes * 8) return false;
  }
  return ByteSize(tensor.dtype, count).value_or(kSizeLimitBytes + 1) <= kSizeLimitBytes &&
         IsContiguous(tensor) && tensor.offset == Expr(0) && tensor.device == Device::Cpu();
}

class Folder {
 public:
  Folder(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes)
      : graph_(graph), registry_(registry), shapes_(shapes) {}

  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (Node* node : graph_.nodes()) {
      bool reads_values = false;
      if (!CanFold(*node, reads_values)) continue;
      // An error is the program's own, and belongs to its run.
      if (!RunNode(*node, known_, nullptr).ok() || !reads_values) continue;
      LATHE_RETURN_IF_ERROR(Replace(node));
      changed = true;
    }
    return changed;
  }

 private:
  bool CanFold(const Node& node, bool& reads_values) const {
    if (node.row == nullptr || node.row->effect != Effect::kPure || !node.row->evaluate ||
        node.results.size() != 1 || !IsSmall(node.results[0]->type)) {
      return false;
    }
    bool known = true;
    for (const Argument& argument : node.arguments) {
      known = known && IsClosed(argument);
      argument.ForEachValue([&](Value* v) {
        reads_values = true;
        known = known && known_.values.contains(v);
      });
    }
    return known;
  }

  absl::Status Replace(Node* node) {
    Value* result = node->results[0];
    const Tensor tensor = known_.values.at(result).tensor().Clone();
    Builder builder(graph_, registry_, shapes_);
    builder.SetInsertionPoint(node);
    builder.SetOrigin(node->origin);
    const int64_t first_new_id = graph_.next_id();
    Value* folded =
        IsUniform(tensor)
            ? builder.Call("aten.full", {result->type.tensor().sizes, tensor.AtLinear(0)},
                           {{"dtype", tensor.dtype()}})
            : builder.Call("constant", {Argument::Of(tensor)});
    LATHE_RETURN_IF_ERROR(builder.status());
    known_.values[folded] = tensor;
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
};

absl::StatusOr<bool> Run(Program& program, const OpRegistry& registry) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    LATHE_ASSIGN_OR_RETURN(bool graph_changed, Folder(*graph, registry, *program.shapes).Run());
    changed |= graph_changed;
  }
  return changed;
}

}  // namespace

Pass FoldConstantsPass() {
  return {"fold_constants", "computes small nodes whose inputs are constants", Run};
}

}  // namespace lathe
