#include "capture/pt2/autocast.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_row.h"
#include "ir/passes/graph_edit.h"

namespace lathe {
namespace {

constexpr int kEnabled = 2;  // the position of the flag among wrap_with_autocast's arguments

bool HasAutocast(const Node& node) {
  return node.op == "wrap_with_autocast" && node.arguments.size() > kEnabled &&
         node.arguments[kEnabled].kind() == Argument::Kind::kBool &&
         node.arguments[kEnabled].boolean();
}

// Autocast leaves f64 alone, as it does everything that is no float.
bool IsCast(const Value& value) {
  if (!value.type.is_tensor()) return false;
  const DType dtype = value.type.tensor().dtype;
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

bool IsLower(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

class AutocastWriter {
 public:
  AutocastWriter(Program& program, const OpRegistry& registry)
      : shapes_(*program.shapes), registry_(registry) {}

  absl::Status Visit(Graph& graph, bool is_region) {
    if (!seen_.insert(&graph).second) return absl::OkStatus();
    for (Node* node : graph.nodes()) {
      const bool casts = node->op == "wrap_with_autocast" ? HasAutocast(*node) : is_region;
      for (const Argument& argument : node->arguments) {
        if (argument.kind() != Argument::Kind::kGraph) continue;
        LATHE_RETURN_IF_ERROR(Visit(*argument.graph(), casts));
      }
      if (HasAutocast(*node)) {
        graph.SetArgument(node, kEnabled, Argument::Bool(false));
      } else if (is_region) {
        LATHE_RETURN_IF_ERROR(CastOperands(graph, node));
      }
    }
    return absl::OkStatus();
  }

 private:
  // The float type that autocast gave the node's operands: that of a product (torch's documentation
  // of autocast lists them), or of a result which these operands would not give.
  std::optional<DType> CastTo(const Node& node) const {
    if (node.row == nullptr || node.row->infer == nullptr || node.results.empty() ||
        !IsCast(*node.results[0])) {
      return std::nullopt;
    }
    const DType recorded = node.results[0]->type.tensor().dtype;
    if (node.row->is_product && IsLower(recorded)) return recorded;
    const OpArgs args(node.row->parsed, node.arguments);
    const auto types = node.row->infer({args, shapes_, {node.op, node.origin.source}});
    const bool same = types.ok() && types->size() == node.results.size() &&
                      (*types)[0].is_tensor() && (*types)[0].tensor().dtype == recorded;
    return same ? std::nullopt : std::optional(recorded);
  }

  absl::Status CastOperands(Graph& graph, Node* node) {
    const std::optional<DType> dtype = CastTo(*node);
    if (!dtype.has_value()) return absl::OkStatus();
    absl::Status status;
    absl::flat_hash_map<Value*, Value*> casts;
    const auto cast = [&](Value* value) {
      if (!IsCast(*value) || value->type.tensor().dtype == *dtype) return Argument::Of(value);
      Value*& copy = casts[value];
      if (copy == nullptr) {
        TensorType type = value->type.tensor();
        type.dtype = *dtype;
        Node* to = graph.Insert(node, "aten.to.dtype", {Argument::Of(value), Argument::Of(*dtype)},
                                {ValueType(std::move(type))});
        to->origin = node->origin;
        status.Update(ResolveNode(to, registry_));
        copy = to->results[0];
      }
      return Argument::Of(copy);
    };
    for (size_t k = 0; k < node->arguments.size(); ++k) {
      graph.SetArgument(node, static_cast<int>(k), MapValues(node->arguments[k], cast));
    }
    return status;
  }

  ShapeEnv& shapes_;
  const OpRegistry& registry_;
  absl::flat_hash_set<const Graph*> seen_;
};

}  // namespace

absl::Status WriteAutocastCasts(Program& program, const OpRegistry& registry) {
  return AutocastWriter(program, registry).Visit(*program.main, false);
}

}  // namespace lathe
