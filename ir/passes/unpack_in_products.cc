#include "ir/passes/unpack_in_products.h"

#include <algorithm>
#include <variant>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/lowering.h"
#include "ir/ops/view/compose.h"
#include "ir/passes/graph_edit.h"

namespace lathe {
namespace {

// With more rows, unpacking once for all of them costs less.
constexpr int64_t kMostRows = 8;
constexpr int kMostSteps = 16;  // from the product back to the packed tensor

bool IsPointwise(const Node& node, ShapeEnv& shapes) {
  if (node.row == nullptr || node.row->lower == nullptr || node.results.size() != 1) return false;
  const OpArgs args(node.row->parsed, node.arguments);
  const auto lowered = node.row->lower({args, node.results, shapes});
  return lowered.ok() && std::holds_alternative<PointwiseLoops>((*lowered)[0]);
}

// Computed from a sub-byte tensor by views and pointwise operations, for one reader.
bool IsUnpacked(const Value* value, ShapeEnv& shapes, int steps) {
  if (!value->type.is_tensor() || steps == 0) return false;
  if (IsSubByte(value->type.tensor().dtype)) return true;
  const Node* node = value->definition;
  if (node == nullptr || node->row == nullptr || value->users.size() + value->output_uses != 1) {
    return false;
  }
  if (!node->row->is_view() && !IsPointwise(*node, shapes)) return false;
  bool unpacked = false;
  for (const Argument& argument : node->arguments) {
    argument.ForEachValue(
        [&](Value* v) { unpacked = unpacked || IsUnpacked(v, shapes, steps - 1); });
  }
  return unpacked;
}

bool Matches(const Node& node, ShapeEnv& shapes) {
  if (node.row == nullptr || (node.op != "aten.mm" && node.op != "lathe.mm")) return false;
  const TensorType& rows = node.arguments[0].value()->type.tensor();
  const std::optional<int64_t> count = rows.sizes[0].AsInt();
  return IsFloat(rows.dtype) && count.has_value() && *count <= kMostRows &&
         IsUnpacked(node.arguments[1].value(), shapes, kMostSteps);
}

absl::Status Rewrite(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes, Node* node) {
  Value* result = node->results[0];
  const int64_t first_new_id = graph.next_id();
  Builder b(graph, registry, shapes);
  b.SetInsertionPoint(node);
  b.SetOrigin(node->origin);
  // Products and sums in the type that a matrix product sums in.
  Value* x = b.Call("aten.unsqueeze", {Widen(b, node->arguments[0].value()), 1});
  Value* w = b.Call("aten.transpose.int", {Widen(b, node->arguments[1].value()), 0, 1});
  Value* products = Mul(b, x, b.Call("aten.unsqueeze", {w, 0}));
  Value* sum = b.Call("aten.sum.dim_IntList", {products, std::vector<Expr>{-1}});
  sum = CastTo(b, sum, result->type.tensor().dtype);
  LATHE_RETURN_IF_ERROR(b.status());
  graph.ReplaceAllUses(result, sum);
  EraseReplaced(graph, node, {Argument::Of(sum)}, first_new_id);
  return absl::OkStatus();
}

absl::StatusOr<bool> Run(Program& program, const OpRegistry& registry) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    for (Node* node : graph->nodes()) {
      if (!Matches(*node, *program.shapes)) continue;
      LATHE_RETURN_IF_ERROR(Rewrite(*graph, registry, *program.shapes, node));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

Pass UnpackInProductsPass() {
  return {"unpack_in_products", "multiplies by packed weights without unpacking them to memory",
          Run};
}

}  // namespace lathe
