#ifndef LATHE_IR_GRAPH_INTERPRETER_H_
#define LATHE_IR_GRAPH_INTERPRETER_H_

// One loop over the nodes of a graph with values of any kind: host tensors (the reference), types,
// nodes of another graph (joint tracing, vmap). A subclass says what one call means.
//
//   class Shapes : public Interpreter<TensorType> {
//     absl::StatusOr<std::vector<TensorType>> Call(const Node& node, Env& env) override { ... }
//   };
//   Shapes().Run(graph, {input type...});

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/graph/graph.h"

namespace lathe {

// What the values of one graph stand for during one run. A value is dropped after its last use.
template <typename V>
class Environment {
 public:
  bool Has(const Value* value) const { return entries_.contains(value); }
  const V& Get(const Value* value) const {
    auto it = entries_.find(value);
    LATHE_CHECK(it != entries_.end()) << "%" << value->name << " has no value";
    return it->second.held;
  }
  const V& operator[](const Value* value) const { return Get(value); }
  void Set(const Value* value, V held) {
    const int uses = static_cast<int>(value->users.size()) + value->output_uses;
    if (uses > 0) entries_.insert_or_assign(value, Entry{std::move(held), uses});
  }
  // One use of every value in `argument` is over.
  void Release(const Argument& argument) {
    argument.ForEachValue([this](Value* value) {
      auto it = entries_.find(value);
      if (it != entries_.end() && --it->second.uses_left == 0) entries_.erase(it);
    });
  }

 private:
  struct Entry {
    V held;
    int uses_left;
  };
  absl::flat_hash_map<const Value*, Entry> entries_;
};

template <typename V>
class Interpreter {
 public:
  using Env = Environment<V>;
  virtual ~Interpreter() = default;

  // The values of the graph's outputs. InvalidArgument for a wrong number of inputs; an error of a
  // call carries its node and source line.
  absl::StatusOr<std::vector<V>> Run(const Graph& graph, std::vector<V> inputs) {
    if (inputs.size() != graph.inputs().size()) {
      return InvalidArgument("@", graph.name(), " takes ", graph.inputs().size(), " inputs, not ",
                             inputs.size());
    }
    Env env;
    for (size_t i = 0; i < inputs.size(); ++i) env.Set(graph.inputs()[i], std::move(inputs[i]));
    for (const Node* node = graph.first(); node != nullptr; node = node->next) {
      LATHE_RETURN_IF_ERROR(RunNode(*node, env));
    }
    std::vector<V> outputs;
    outputs.reserve(graph.outputs().size());
    for (const Argument& output : graph.outputs()) {
      LATHE_ASSIGN_OR_RETURN(V value, Resolve(output, env));
      outputs.push_back(std::move(value));
    }
    return outputs;
  }

 protected:
  // The results of one node, as many as node.results. Sub-graphs among the arguments are run with
  // Run(*argument.graph(), ...).
  virtual absl::StatusOr<std::vector<V>> Call(const Node& node, Env& env) = 0;

  // What an output stands for that is no value: a number, none, a list.
  virtual absl::StatusOr<V> Literal(const Argument& /*argument*/, Env& /*env*/) {
    return Unimplemented("an output that is no value");
  }

  absl::StatusOr<V> Resolve(const Argument& argument, Env& env) {
    if (argument.is_value()) return env.Get(argument.value());
    return Literal(argument, env);
  }

 private:
  absl::Status RunNode(const Node& node, Env& env) {
    absl::StatusOr<std::vector<V>> results = Call(node, env);
    if (!results.ok()) {
      return AtNode(results.status(), node.results.empty() ? node.op : node.results[0]->name,
                    node.origin.source);
    }
    LATHE_CHECK(results->size() == node.results.size())
        << node.op << " gave " << results->size() << " results, not " << node.results.size();
    for (const Argument& argument : node.arguments) env.Release(argument);
    for (size_t i = 0; i < results->size(); ++i) {
      env.Set(node.results[i], std::move((*results)[i]));
    }
    return absl::OkStatus();
  }
};

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_INTERPRETER_H_
