#include "ir/graph/graph.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"

namespace lathe {
namespace {

// "aten.add.Tensor" -> "add": the word between the name space and the overload.
absl::string_view ShortName(absl::string_view op) {
  const size_t dot = op.find('.');
  if (dot == absl::string_view::npos) return op;
  op.remove_prefix(dot + 1);
  return op.substr(0, op.find('.'));
}

// Replaces inside lists too; returns the number of replacements.
int ReplaceValue(Argument& argument, Value* old_value, Value* new_value) {
  if (argument.is_value()) {
    if (argument.value() != old_value) return 0;
    argument = Argument::Of(new_value);
    return 1;
  }
  int count = 0;
  if (argument.is_list()) {
    for (Argument& item : argument.list()) count += ReplaceValue(item, old_value, new_value);
  }
  return count;
}

int CountGraphs(const Argument& argument) {
  if (argument.kind() == Argument::Kind::kGraph) return 1;
  int count = 0;
  if (argument.is_list()) {
    for (const Argument& item : argument.list()) count += CountGraphs(item);
  }
  return count;
}

void DropUser(Value* value, Node* node) {
  // From the end: the youngest use is the likeliest to go.
  auto it = std::find(value->users.rbegin(), value->users.rend(), node);
  LATHE_CHECK(it != value->users.rend()) << "%" << value->name << " lacks a user";
  *it = value->users.back();
  value->users.pop_back();
}

}  // namespace

Graph::Graph(std::string name, std::shared_ptr<ExprContext> context)
    : name_(std::move(name)), context_(std::move(context)) {}

Graph::~Graph() = default;

Value* Graph::NewValue(absl::string_view name, ValueType type, Node* definition, int index) {
  Value& value = value_storage_.emplace_back();
  value.name = UniqueName(name);
  value.type = std::move(type);
  value.definition = definition;
  value.index = index;
  by_name_.emplace(value.name, &value);
  return &value;
}

std::string Graph::UniqueName(absl::string_view wanted) {
  if (wanted.empty()) wanted = "v";
  if (!by_name_.contains(wanted)) return std::string(wanted);
  int& suffix = next_suffix_[wanted];
  std::string name;
  do {
    name = absl::StrCat(wanted, "_", ++suffix);
  } while (by_name_.contains(name));
  return name;
}

Value* Graph::AddInput(absl::string_view name, ValueType type, InputSpec spec) {
  Value* value = NewValue(name, std::move(type), nullptr, static_cast<int>(inputs_.size()));
  inputs_.push_back(value);
  input_specs_.push_back(std::move(spec));
  return value;
}

void Graph::EraseInput(int index) {
  Value* value = inputs_[index];
  LATHE_CHECK(!value->is_used()) << "input %" << value->name << " is used";
  by_name_.erase(value->name);
  inputs_.erase(inputs_.begin() + index);
  input_specs_.erase(input_specs_.begin() + index);
  for (size_t i = index; i < inputs_.size(); ++i) inputs_[i]->index = static_cast<int>(i);
  for (OutputSpec& spec : output_specs_) {
    LATHE_CHECK(spec.input != index && spec.alias_input != index)
        << "input %" << value->name << " is named by an output";
    if (spec.input > index) --spec.input;
    if (spec.alias_input > index) --spec.alias_input;
  }
}

void Graph::AddOutput(Argument value, OutputSpec spec) {
  value.ForEachValue([](Value* v) { ++v->output_uses; });
  outputs_.push_back(std::move(value));
  output_specs_.push_back(spec);
}

void Graph::SetOutput(int index, Argument value) {
  value.ForEachValue([](Value* v) { ++v->output_uses; });
  outputs_[index].ForEachValue([](Value* v) { --v->output_uses; });
  outputs_[index] = std::move(value);
}

void Graph::ClearOutputs() {
  for (const Argument& output : outputs_) {
    output.ForEachValue([](Value* v) { --v->output_uses; });
  }
  outputs_.clear();
  output_specs_.clear();
}

void Graph::AddUses(Node* node, const Argument& argument) {
  argument.ForEachValue([node](Value* v) { v->users.push_back(node); });
  graph_arguments_ += CountGraphs(argument);
}

void Graph::DropUses(Node* node, const Argument& argument) {
  argument.ForEachValue([node](Value* v) { DropUser(v, node); });
  graph_arguments_ -= CountGraphs(argument);
}

Node* Graph::Insert(Node* before, std::string op, std::vector<Argument> arguments,
                    std::vector<ValueType> result_types, std::vector<std::string> result_names) {
  Node* node = &node_storage_.emplace_back();
  node->graph = this;
  node->id = next_id_++;
  node->arguments = std::move(arguments);
  for (const Argument& argument : node->arguments) AddUses(node, argument);
  node->results.reserve(result_types.size());
  for (size_t i = 0; i < result_types.size(); ++i) {
    const absl::string_view name = i < result_names.size() ? result_names[i] : ShortName(op);
    node->results.push_back(NewValue(name, std::move(result_types[i]), node, static_cast<int>(i)));
  }
  node->op = std::move(op);
  ++node_count_;
  node->next = before;
  node->previous = before ? before->previous : last_;
  (node->previous ? node->previous->next : first_) = node;
  (before ? before->previous : last_) = node;
  return node;
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> nodes;
  nodes.reserve(node_count_);
  for (Node* node = first_; node != nullptr; node = node->next) nodes.push_back(node);
  return nodes;
}

void Graph::SetArgument(Node* node, int index, Argument value) {
  AddUses(node, value);
  DropUses(node, node->arguments[index]);
  node->arguments[index] = std::move(value);
}

void Graph::SetArguments(Node* node, std::vector<Argument> arguments) {
  for (const Argument& argument : arguments) AddUses(node, argument);
  for (const Argument& argument : node->arguments) DropUses(node, argument);
  node->arguments = std::move(arguments);
}

void Graph::ReplaceAllUses(Value* old_value, Value* new_value) {
  if (old_value == new_value) return;
  std::vector<Node*> users = std::move(old_value->users);
  old_value->users.clear();
  // A node with two uses is listed twice; its second visit finds nothing left to replace.
  for (Node* user : users) {
    for (Argument& argument : user->arguments) ReplaceValue(argument, old_value, new_value);
  }
  new_value->users.insert(new_value->users.end(), users.begin(), users.end());
  if (old_value->output_uses == 0) return;
  for (Argument& output : outputs_) ReplaceValue(output, old_value, new_value);
  new_value->output_uses += old_value->output_uses;
  old_value->output_uses = 0;
}

void Graph::Erase(Node* node) {
  for (Value* result : node->results) {
    LATHE_CHECK(!result->is_used()) << "%" << result->name << " is used";
    by_name_.erase(result->name);
  }
  for (const Argument& argument : node->arguments) DropUses(node, argument);
  // The node stays where it is until the graph goes, as maps may name it; what it holds need not.
  node->arguments = {};
  node->names = {};
  node->tags = {};
  node->origin = {};
  for (Value* result : node->results) result->users = {};
  (node->previous ? node->previous->next : first_) = node->next;
  (node->next ? node->next->previous : last_) = node->previous;
  node->graph = nullptr;
  --node_count_;
}

void Graph::Move(Node* node, Node* before) {
  if (node == before || node->next == before) return;
  (node->previous ? node->previous->next : first_) = node->next;
  (node->next ? node->next->previous : last_) = node->previous;
  node->next = before;
  node->previous = before ? before->previous : last_;
  (node->previous ? node->previous->next : first_) = node;
  (before ? before->previous : last_) = node;
}

Value* Graph::FindValue(absl::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

void Graph::Rename(Value* value, absl::string_view name) {
  if (value->name == name) return;
  by_name_.erase(value->name);
  value->name = UniqueName(name);
  by_name_.emplace(value->name, value);
}

namespace {

class Cloner {
 public:
  Cloner(absl::flat_hash_map<const Value*, Value*>* values) : values_(*values) {}

  Argument Copy(const Argument& argument) {
    if (argument.is_value()) return Argument::Of(values_.at(argument.value()));
    if (argument.is_list()) {
      std::vector<Argument> items;
      items.reserve(argument.list().size());
      for (const Argument& item : argument.list()) items.push_back(Copy(item));
      return Argument::List(std::move(items));
    }
    if (argument.kind() == Argument::Kind::kGraph && argument.graph() != nullptr) {
      std::shared_ptr<Graph>& copy = graphs_[argument.graph().get()];
      if (copy == nullptr) copy = argument.graph()->Clone();
      return Argument::Of(copy);
    }
    return argument;
  }

  std::vector<Argument> Copy(const std::vector<Argument>& arguments) {
    std::vector<Argument> copies;
    copies.reserve(arguments.size());
    for (const Argument& argument : arguments) copies.push_back(Copy(argument));
    return copies;
  }

 private:
  absl::flat_hash_map<const Value*, Value*>& values_;
  absl::flat_hash_map<const Graph*, std::shared_ptr<Graph>> graphs_;
};

}  // namespace

std::shared_ptr<Graph> Graph::Clone(absl::flat_hash_map<const Value*, Value*>* map) const {
  absl::flat_hash_map<const Value*, Value*> own;
  if (map == nullptr) map = &own;
  Cloner cloner(map);
  auto copy = std::make_shared<Graph>(name_, context_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    (*map)[inputs_[i]] = copy->AddInput(inputs_[i]->name, inputs_[i]->type, input_specs_[i]);
  }
  for (const Node* node = first_; node != nullptr; node = node->next) {
    std::vector<ValueType> types;
    std::vector<std::string> names;
    for (const Value* result : node->results) {
      types.push_back(result->type);
      names.push_back(result->name);
    }
    Node* n =
        copy->Append(node->op, cloner.Copy(node->arguments), std::move(types), std::move(names));
    n->row = node->row;
    n->names = node->names;
    n->origin = node->origin;
    n->tags = node->tags;
    for (size_t i = 0; i < n->results.size(); ++i) (*map)[node->results[i]] = n->results[i];
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    copy->AddOutput(cloner.Copy(outputs_[i]), output_specs_[i]);
  }
  copy->preconditions_ = preconditions_;
  return copy;
}

}  // namespace lathe
