#include "ir/passes/functionalize.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/derived_rows.h"
#include "ir/ops/written_targets.h"
#include "ir/passes/graph_edit.h"
#include "ir/passes/storage_tracker.h"

namespace lathe {
namespace {

// "aten.add_.Tensor" -> "aten.add.Tensor"; "" when the op is not named like an in-place one.
std::string FunctionalName(const OpRow& row) {
  if (!row.functional.empty()) return row.functional;
  std::vector<std::string> parts = absl::StrSplit(row.parsed.name, '.');
  if (parts.size() < 2 || parts[1].empty() || parts[1].back() != '_') return "";
  parts[1].pop_back();
  std::string name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) absl::StrAppend(&name, ".", parts[i]);
  return name;
}

bool IsMutating(const Node& node) {
  if (node.row == nullptr) return false;
  for (const SchemaArgument& argument : node.row->parsed.arguments) {
    if (argument.is_written) return true;
  }
  return false;
}

class Functionalizer {
 public:
  Functionalizer(Graph& graph, const OpRegistry& registry, ShapeEnv& shapes, bool is_main)
      : graph_(graph),
        registry_(registry),
        shapes_(shapes),
        is_main_(is_main),
        builder_(graph, registry, shapes),
        storage_(builder_) {}

  absl::StatusOr<bool> Run() {
    for (Node* node : graph_.nodes()) {
      builder_.SetInsertionPoint(node);
      builder_.SetOrigin(node->origin);
      if (absl::Status status = Visit(node); !status.ok()) {
        return AtNode(status,
                      node->results.empty() ? node->op : absl::StrCat("%", node->results[0]->name),
                      node->origin.source);
      }
    }
    builder_.SetInsertionPoint(nullptr);
    builder_.SetOrigin({});
    LATHE_RETURN_IF_ERROR(RewriteOutputs());
    return changed_;
  }

 private:
  absl::Status Visit(Node* node) {
    const std::vector<Argument> handles = node->arguments;
    LATHE_RETURN_IF_ERROR(TakeCurrentContents(node));
    if (IsMutating(*node)) {
      changed_ = true;
      return ReplaceMutation(node, handles);
    }
    if (node->row == nullptr || !node->row->is_view()) return absl::OkStatus();
    for (size_t k = 0; k < node->results.size(); ++k) {
      const int aliased = node->row->parsed.AliasedArgument(static_cast<int>(k));
      if (aliased < 0 || !handles[aliased].is_value()) continue;
      storage_.AddView(node->results[k], node->row, handles, aliased);
    }
    return absl::OkStatus();
  }

  absl::Status TakeCurrentContents(Node* node) {
    if (!storage_.any_written()) return absl::OkStatus();
    for (size_t i = 0; i < node->arguments.size(); ++i) {
      Argument current = CurrentOf(node->arguments[i]);
      LATHE_RETURN_IF_ERROR(builder_.status());
      if (!(current == node->arguments[i])) graph_.SetArgument(node, i, std::move(current));
    }
    return absl::OkStatus();
  }

  Argument CurrentOf(const Argument& argument) {
    return MapValues(argument, [this](Value* v) -> Argument {
      if (!v->type.is_tensor()) return Argument::Of(v);
      Value* current = storage_.Current(v);
      return Argument::Of(current == nullptr ? v : current);
    });
  }

  absl::Status ReplaceMutation(Node* node, const std::vector<Argument>& handles) {
    const Schema& schema = node->row->parsed;
    std::vector<int> written;
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      if (!schema.arguments[i].is_written || node->arguments[i].is_none()) continue;
      if (!node->arguments[i].is_value()) {
        return Unimplemented(node->op, ": writing a list of tensors");
      }
      LATHE_RETURN_IF_ERROR(CheckTarget(*node, handles[i].value()));
      written.push_back(static_cast<int>(i));
    }
    LATHE_ASSIGN_OR_RETURN(const std::vector<Value*> values, Functional(*node));

    if (values.empty()) return Internal(node->op, ": its functional form has no result");
    // The functional form gives the plain results, then what was written; or, where each result
    // is a written argument, one value a result.
    size_t next = 0;
    std::vector<Value*> plain(node->results.size(), nullptr);
    const bool has_plain = HasPlainResults(schema);
    for (size_t k = 0; has_plain && k < node->results.size(); ++k) {
      if (next < values.size()) plain[k] = values[next++];
    }
    for (int w : written) {
      if (next >= values.size()) {
        return Internal(node->op, ": its functional form has too few results");
      }
      LATHE_RETURN_IF_ERROR(Write(*node, handles[w].value(), values[next++]));
    }
    for (size_t k = 0; k < node->results.size(); ++k) {
      const int aliased = has_plain ? -1 : schema.AliasedArgument(static_cast<int>(k));
      Value* result = aliased >= 0 ? handles[aliased].value() : plain[k];
      if (result != nullptr) graph_.ReplaceAllUses(node->results[k], result);
    }
    std::vector<Argument> replacements;
    for (Value* value : values) replacements.push_back(Argument::Of(value));
    EraseReplaced(graph_, node, replacements, values[0]->definition->id);
    return absl::OkStatus();
  }

  static bool HasPlainResults(const Schema& schema) {
    for (const Schema::Return& r : schema.returns) {
      if (!r.is_written) return true;
    }
    return false;
  }

  // Several elements at one place have no defined value after a write, unless all get the same.
  absl::Status CheckTarget(const Node& node, Value* target) {
    if (!target->type.is_tensor()) {
      return InvalidArgument(node.op, ": %", target->name, " is no tensor to write to");
    }
    if (WritesOneValue(node.op)) return absl::OkStatus();
    const TensorType& type = target->type.tensor();
    if (NumElements(type) == 0) return absl::OkStatus();
    for (int d = 0; d < type.rank(); ++d) {
      if (!(type.strides[d] == Expr(0))) continue;
      if (shapes_.IsKnownTrue(symbolic::Le(type.sizes[d], 1))) continue;
      return InvalidArgument(node.op, ": ", kOverlappingTarget, " (%", target->name, ": ",
                             ToString(type), ")");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Value*>> Functional(const Node& node) {
    const std::string name = FunctionalName(*node.row);
    if (name.empty() || registry_.Find(name) == nullptr) {
      return Unimplemented(node.op, ": has no functional form");
    }
    std::vector<Argument> given = node.arguments;
    const Schema& schema = node.row->parsed;
    if (schema.arguments.back().is_written && schema.arguments.back().keyword_only) {
      given = FunctionalArguments(registry_.Find(name)->parsed, schema, OpArgs(schema, given));
    }
    std::vector<CallArgument> arguments;
    for (Argument& argument : given) arguments.emplace_back(std::move(argument));
    std::vector<Value*> values = builder_.CallMany(name, std::move(arguments));
    LATHE_RETURN_IF_ERROR(builder_.status());
    return values;
  }

  absl::Status Write(const Node& node, Value* target, Value* contents) {
    const DType dtype = target->type.tensor().dtype;
    if (contents->type.tensor().dtype != dtype) {
      contents = builder_.Call("aten._to_copy", {contents}, {{"dtype", dtype}});
      LATHE_RETURN_IF_ERROR(builder_.status());
    }
    Value* root = storage_.Root(target);
    if (root->definition == nullptr && !is_main_) {
      return Unimplemented(node.op, ": writes to %", root->name, ", an input of the sub-graph @",
                           graph_.name());
    }
    return storage_.Write(target, contents);
  }

  absl::Status RewriteOutputs() {
    std::vector<bool> is_listed(graph_.inputs().size(), false);  // as a mutation, by the importer
    for (int i = 0; i < static_cast<int>(graph_.outputs().size()); ++i) {
      OutputSpec& spec = graph_.output_specs()[i];
      if (spec.kind == OutputSpec::Kind::kMutation) is_listed[spec.input] = true;
      const Argument handle = graph_.outputs()[i];
      Argument current = CurrentOf(handle);
      LATHE_RETURN_IF_ERROR(builder_.status());
      const bool is_tensor = handle.is_value() && handle.value()->type.is_tensor();
      if (is_tensor && is_main_ && spec.kind == OutputSpec::Kind::kUser) {
        NoteAlias(storage_.Root(handle.value()), i, spec);
        LATHE_ASSIGN_OR_RETURN(Value * own, OwnValue(handle.value(), current.value()));
        current = Argument::Of(own);
      }
      if (!(current == handle)) graph_.SetOutput(i, std::move(current));
    }
    for (Value* input : graph_.inputs()) {
      if (!input->type.is_tensor() || !storage_.IsWritten(input) || is_listed[input->index]) {
        continue;
      }
      graph_.AddOutput(Argument::Of(storage_.Current(input)), OutputSpec::Mutation(input->index));
    }
    return absl::OkStatus();
  }

  void NoteAlias(Value* root, int output, OutputSpec& spec) {
    auto [first, is_new] = first_output_.try_emplace(root, output);
    const OutputSpec old = spec;
    if (root->definition == nullptr) {
      spec.alias_input = root->index;
    } else if (!is_new) {
      spec.alias_output = first->second;
    }
    changed_ |= old.alias_input != spec.alias_input || old.alias_output != spec.alias_output;
  }

  // Two outputs that do not share storage must not be one value.
  absl::StatusOr<Value*> OwnValue(Value* handle, Value* current) {
    Value* root = storage_.Root(handle);
    auto [owner, is_new] = owner_.try_emplace(current, root);
    const bool foreign_input = current->definition == nullptr && current != root;
    if (owner->second == root && !foreign_input) return current;
    Value* own = builder_.Call("aten.clone", {current});
    LATHE_RETURN_IF_ERROR(builder_.status());
    changed_ = true;
    return own;
  }

  Graph& graph_;
  const OpRegistry& registry_;
  ShapeEnv& shapes_;
  const bool is_main_;
  Builder builder_;
  StorageTracker storage_;
  bool changed_ = false;
  absl::flat_hash_map<Value*, int> first_output_;  // by root
  absl::flat_hash_map<Value*, Value*> owner_;      // contents given out -> root
};

absl::StatusOr<bool> Run(Program& program, const OpRegistry& registry) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    LATHE_ASSIGN_OR_RETURN(
        bool graph_changed,
        Functionalizer(*graph, registry, *program.shapes, graph == program.main.get()).Run());
    changed |= graph_changed;
  }
  return changed;
}

}  // namespace

Pass FunctionalizePass() {
  return {"functionalize", "replaces in-place operators; outputs say what they mutate and alias",
          Run};
}

}  // namespace lathe
