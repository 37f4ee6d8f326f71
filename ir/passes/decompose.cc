#include "ir/passes/decompose.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/known_types.h"
#include "ir/passes/adopt_symbols.h"
#include "ir/passes/graph_edit.h"
#include "ir/passes/layout.h"

namespace lathe {
namespace {

// Decompositions of decompositions: a row that reaches itself would never end.
constexpr int kDepthLimit = 64;

bool IsComposite(const OpRow& row) { return row.composite; }

bool IsNotLowered(const OpRow& row) { return !row.lower; }

// Its decomposition would be written once for the types and once more when its node's turn comes.
bool TakesTypesFromDecomposition(const OpRow& row) {
  return IsNotLowered(row) && row.infers_by_decomposition;
}

class Decomposer {
 public:
  Decomposer(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes, Builder::RowSet chosen,
             bool keep_views)
      : graph_(graph),
        registry_(registry),
        shapes_(shapes),
        chosen_(chosen),
        keep_views_(keep_views),
        types_(shapes) {}

  absl::StatusOr<bool> Run() {
    bool changed = false;
    Node* node = graph_.first();
    while (node != nullptr) {
      if (node->row == nullptr || !node->row->decompose || !chosen_(*node->row)) {
        node = node->next;
        continue;
      }
      // Next come the nodes that the decomposition wrote, then those behind.
      Node* previous = node->previous;
      if (absl::Status status = Decompose(node); !status.ok()) {
        return AtNode(status,
                      node->results.empty() ? node->op : absl::StrCat("%", node->results[0]->name),
                      node->origin.source);
      }
      changed = true;
      node = previous == nullptr ? graph_.first() : previous->next;
    }
    if (stale_types_) LATHE_RETURN_IF_ERROR(InferTypes(graph_, shapes_).status());
    return changed;
  }

 private:
  absl::Status Decompose(Node* node) {
    auto depth_entry = depth_.find(node);
    const int depth = depth_entry == depth_.end() ? 0 : depth_entry->second;
    if (depth > kDepthLimit) return Internal(node->op, ": its decomposition never ends");

    Node* previous = node->previous;
    const int64_t first_new_id = graph_.next_id();
    const size_t known_symbols = shapes_.symbols().size();
    Builder builder(graph_, registry_, shapes_);
    builder.SetInsertionPoint(node);
    builder.SetOrigin(node->origin);
    builder.InlineDecompositions(keep_views_ ? IsComposite : TakesTypesFromDecomposition);
    builder.TakeTypesFrom(&types_);
    absl::StatusOr<std::vector<Argument>> results =
        node->row->decompose(builder, OpArgs(node->row->parsed, node->arguments));
    LATHE_RETURN_IF_ERROR(builder.status());
    if (!results.ok()) return results.status();
    if (results->size() < node->results.size()) {
      return InvalidArgument(node->op, ": its decomposition has ", results->size(),
                             " results, not ", node->results.size());
    }
    for (Node* n = previous == nullptr ? graph_.first() : previous->next; n != node; n = n->next) {
      depth_[n] = depth + 1;
      n->tags = node->tags;
      if (!keep_views_ && n->row != nullptr && n->row->effect == Effect::kMutates) {
        return Internal(node->op, ": its decomposition writes in place with ", n->op);
      }
    }
    for (size_t i = 0; i < node->results.size(); ++i) {
      if ((*results)[i].is_value() && (*results)[i].value() == nullptr) {
        return Internal(node->op, ": its decomposition gives nothing for result ", i);
      }
      // Types from a file are not inferred yet when composites go.
      const bool declared = node->results[i]->type.is_list();
      if (declared != IsList((*results)[i])) {
        return InvalidArgument(node->op, ": result ", i, " is declared as ",
                               declared ? "a list" : "one value", ", the operator gives ",
                               declared ? "one value" : "a list");
      }
    }
    AdoptSymbols(previous == nullptr ? graph_.first() : previous->next, node, *results,
                 absl::MakeConstSpan(shapes_.symbols()).subspan(known_symbols), shapes_.context());
    for (size_t i = 0; i < node->results.size(); ++i) {
      Argument& result = (*results)[i];
      if (result.is_value()) {
        result = KeepLayout(builder, result.value(), *node->results[i], first_new_id);
      }
      ReplaceWith(graph_, node->results[i], result);
    }
    LATHE_RETURN_IF_ERROR(builder.status());
    EraseReplaced(graph_, node, *results, first_new_id);
    return absl::OkStatus();
  }

  static bool IsList(const Argument& argument) {
    return argument.is_list() || (argument.is_value() && argument.value()->type.is_list());
  }

  // A view chain's tensor was there before the decomposition, so the result shares its storage.
  static bool IsOld(const Value* value, int64_t first_new_id) {
    while (value->definition != nullptr && value->definition->id >= first_new_id) {
      const Node& node = *value->definition;
      if (node.row == nullptr || !node.row->is_view()) return false;
      value = node.arguments[0].value();
    }
    return true;
  }

  // Later nodes were typed for the strides of the replaced result. The result of a composite or a
  // view may be a view, which no copy may replace: then types are inferred anew.
  Argument KeepLayout(Builder& builder, Value* value, const Value& replaced, int64_t first_new_id) {
    if (!value->type.is_tensor() || !replaced.type.is_tensor() || !replaced.is_used()) {
      return Argument::Of(value);
    }
    const bool keep_view = keep_views_ || replaced.definition->row->is_view();
    // An output must not share storage with what its operator read.
    if (!keep_view && replaced.output_uses > 0 && IsOld(value, first_new_id)) {
      value = builder.Call("aten.clone", {value});
      if (value == nullptr) return {};
    }
    if (value->type == replaced.type) return Argument::Of(value);
    if (keep_view) {
      stale_types_ = true;
      return Argument::Of(value);
    }
    value = WithLayout(builder, value, replaced.type.tensor());
    return value == nullptr ? Argument() : Argument::Of(value);
  }

  Graph& graph_;
  const OpRegistry& registry_;
  ShapeEnv& shapes_;
  const Builder::RowSet chosen_;
  const bool keep_views_;
  KnownTypes types_;
  bool stale_types_ = false;
  absl::flat_hash_map<const Node*, int> depth_;
};

absl::StatusOr<bool> DecomposeAll(Program& program, const OpRegistry& registry,
                                  Builder::RowSet chosen, bool keep_views) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    LATHE_ASSIGN_OR_RETURN(bool graph_changed,
                           Decomposer(*graph, registry, *program.shapes, chosen, keep_views).Run());
    changed |= graph_changed;
  }
  return changed;
}

}  // namespace

Pass DecomposeCompositesPass() {
  return {"decompose_composites", "replaces composite operators, keeping views",
          [](Program& program, const OpRegistry& registry) {
            return DecomposeAll(program, registry, IsComposite, true);
          }};
}

Pass DecomposePass() {
  return {"decompose", "replaces operators that have a decomposition and no lowering",
          [](Program& program, const OpRegistry& registry) {
            return DecomposeAll(program, registry, IsNotLowered, false);
          }};
}

}  // namespace lathe
