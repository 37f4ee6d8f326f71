#ifndef LATHE_IR_GRAPH_GRAPH_H_
#define LATHE_IR_GRAPH_GRAPH_H_

// A tensor program in SSA form: nodes call operators on values and produce values.
//
//   Graph graph("f", context);
//   Value* x = graph.AddInput("x", ContiguousType(DType::kF32, {4}), InputSpec::User());
//   Node* n = graph.Append("aten.relu", {Argument::Of(x)}, {x->type});
//   graph.AddOutput(Argument::Of(n->results[0]), OutputSpec::User());

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "ir/graph/type.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/tensor.h"
#include "symbolic/expr.h"

namespace lathe {

class Graph;
struct Node;
struct OpRow;  // ir/ops/op_row.h

enum class Layout : uint8_t { kStrided, kSparseCoo };
enum class MemoryFormat : uint8_t { kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };

struct Value {
  std::string name;  // unique in its graph, without the %
  ValueType type;
  Node* definition = nullptr;  // nullptr: a graph input
  int index = 0;               // among the definition's results, or the graph's inputs
  std::vector<Node*> users;    // one entry a use by a node, in no order
  int output_uses = 0;         // uses as a graph output
  bool is_used() const { return !users.empty() || output_uses > 0; }
};

// One actual argument of a call. Integers are expressions, so a size needs no node of its own; a
// Scalar argument of ATen is a kScalar, or a kInt when it is a symbolic integer.
class Argument {
 public:
  enum class Kind : uint8_t {
    kNone,
    kValue,
    kInt,
    kBool,
    kScalar,
    kString,
    kDType,
    kDevice,
    kLayout,
    kMemoryFormat,
    kList,
    kGraph,
    kTensor  // kTensor: a literal constant's data, in `constant` nodes alone
  };
  Argument() = default;
  static Argument None() { return {}; }
  static Argument Of(Value* v) { return Argument(Data(std::in_place_index<1>, v)); }
  static Argument Int(Expr e) { return Argument(Data(std::in_place_index<2>, e)); }
  static Argument Bool(bool b) { return Argument(Data(std::in_place_index<3>, b)); }
  static Argument Float(double d) { return Number(lathe::Scalar(d)); }
  static Argument Number(lathe::Scalar s) { return Argument(Data(std::in_place_index<4>, s)); }
  static Argument String(std::string s) {
    return Argument(Data(std::in_place_index<5>, std::move(s)));
  }
  static Argument Of(DType d) { return Argument(Data(std::in_place_index<6>, d)); }
  static Argument Of(Device d) { return Argument(Data(std::in_place_index<7>, d)); }
  static Argument Of(Layout l) { return Argument(Data(std::in_place_index<8>, l)); }
  static Argument Of(MemoryFormat m) { return Argument(Data(std::in_place_index<9>, m)); }
  static Argument List(std::vector<Argument> items) {
    return Argument(Data(std::in_place_index<10>, std::move(items)));
  }
  static Argument Ints(const std::vector<Expr>& items);
  static Argument Of(std::shared_ptr<Graph> g) {
    return Argument(Data(std::in_place_index<11>, std::move(g)));
  }
  static Argument Of(Tensor t) {
    return Argument(
        Data(std::in_place_index<12>, std::make_shared<const lathe::Tensor>(std::move(t))));
  }

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_none() const { return kind() == Kind::kNone; }
  bool is_value() const { return kind() == Kind::kValue; }
  bool is_list() const { return kind() == Kind::kList; }
  Value* value() const { return std::get<1>(data_); }
  const Expr& expr() const { return std::get<2>(data_); }
  bool boolean() const { return std::get<3>(data_); }
  const lathe::Scalar& number() const { return std::get<4>(data_); }
  const std::string& string() const { return std::get<5>(data_); }
  DType dtype() const { return std::get<6>(data_); }
  const Device& device() const { return std::get<7>(data_); }
  Layout layout() const { return std::get<8>(data_); }
  MemoryFormat memory_format() const { return std::get<9>(data_); }
  const std::vector<Argument>& list() const { return std::get<10>(data_); }
  std::vector<Argument>& list() { return std::get<10>(data_); }
  const std::shared_ptr<Graph>& graph() const { return std::get<11>(data_); }
  const Tensor& tensor() const { return *std::get<12>(data_); }

  // Calls `visit` for every value inside, lists included, in order.
  template <typename Visit>
  void ForEachValue(const Visit& visit) const {
    if (is_value()) {
      visit(value());
    } else if (is_list()) {
      for (const Argument& item : list()) item.ForEachValue(visit);
    }
  }
  // Structural equality; values by pointer, numbers by Scalar::Identical, graphs by pointer.
  friend bool operator==(const Argument& a, const Argument& b);

 private:
  // A program has many arguments and few of them are tensors, which are large: those lie outside.
  using Data = std::variant<std::monostate, Value*, Expr, bool, lathe::Scalar, std::string, DType,
                            Device, Layout, MemoryFormat, std::vector<Argument>,
                            std::shared_ptr<Graph>, std::shared_ptr<const lathe::Tensor>>;
  explicit Argument(Data data) : data_(std::move(data)) {}
  Data data_;
};

// What a node carries from the user's program through every pass.
struct Origin {
  std::string source;       // "model.py:41", "" when the model has no source lines
  std::string module_path;  // "encoder.layer.0.attention"
};

struct Node {
  std::string op;                   // "aten.add.Tensor"; ".default" is left out
  const OpRow* row = nullptr;       // resolved by OpRegistry::Resolve; nullptr before
  std::vector<Argument> arguments;  // in schema order once resolved
  std::vector<std::string> names;   // before resolution: the argument names ("" positional);
                                    // empty once resolved
  std::vector<Value*> results;
  Origin origin;
  std::vector<std::string> tags;  // "recompute", "must_save"...
  Graph* graph = nullptr;
  Node* previous = nullptr;
  Node* next = nullptr;
  int64_t id = 0;  // unique in its graph, grows with creation
};

struct InputSpec {
  enum class Kind : uint8_t { kUser, kParameter, kBuffer, kConstant, kToken };
  Kind kind = Kind::kUser;
  std::string target;  // the weight's name ("fc.weight"), for all but kUser
  bool persistent = true;
  static InputSpec User() { return {}; }
  static InputSpec Weight(Kind kind, std::string name) { return {kind, std::move(name), true}; }
};

// What one output of the graph is (design §2). Mutations come from functionalization; a mutation
// output is written back into its input after the call and is not shown to the user.
struct OutputSpec {
  enum class Kind : uint8_t { kUser, kMutation, kGradient, kToken };
  Kind kind = Kind::kUser;
  int input = -1;  // kMutation, kGradient: which input
  // A user output that shares storage at run time: with an input or with an earlier output, seen
  // through the output value's own sizes, strides and offset.
  int alias_input = -1;
  int alias_output = -1;
  static OutputSpec User() { return {}; }
  static OutputSpec Mutation(int input) { return {Kind::kMutation, input, -1, -1}; }
};

class Graph {
 public:
  Graph(std::string name, std::shared_ptr<ExprContext> context);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const std::shared_ptr<ExprContext>& context() const { return context_; }

  Value* AddInput(absl::string_view name, ValueType type, InputSpec spec);
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<InputSpec>& input_specs() const { return input_specs_; }
  std::vector<InputSpec>& input_specs() { return input_specs_; }
  // Removes an unused input.
  void EraseInput(int index);

  void AddOutput(Argument value, OutputSpec spec);
  const std::vector<Argument>& outputs() const { return outputs_; }
  const std::vector<OutputSpec>& output_specs() const { return output_specs_; }
  std::vector<OutputSpec>& output_specs() { return output_specs_; }
  void SetOutput(int index, Argument value);
  void ClearOutputs();

  // Facts about the inputs that the caller must meet: `where` in the text form.
  std::vector<Expr>& preconditions() { return preconditions_; }
  const std::vector<Expr>& preconditions() const { return preconditions_; }

  // New nodes. `before` == nullptr appends. Result values are named after the op ("add", "add_1")
  // unless `result_names` gives names; a taken name gets a suffix.
  Node* Insert(Node* before, std::string op, std::vector<Argument> arguments,
               std::vector<ValueType> result_types, std::vector<std::string> result_names = {});
  Node* Append(std::string op, std::vector<Argument> arguments, std::vector<ValueType> result_types,
               std::vector<std::string> result_names = {}) {
    return Insert(nullptr, std::move(op), std::move(arguments), std::move(result_types),
                  std::move(result_names));
  }
  Node* first() const { return first_; }
  Node* last() const { return last_; }
  int64_t node_count() const { return node_count_; }
  // Whether any node takes a graph as an argument.
  bool calls_graphs() const { return graph_arguments_ > 0; }
  // The id of the next node to be made: what is new since a moment has at least its next_id().
  int64_t next_id() const { return next_id_; }
  // Nodes in order; safe against erasing or inserting at the current node while iterating.
  std::vector<Node*> nodes() const;

  void SetArgument(Node* node, int index, Argument value);
  void SetArguments(Node* node, std::vector<Argument> arguments);
  // All uses, outputs included.
  void ReplaceAllUses(Value* old_value, Value* new_value);
  // Requires that no result is used.
  void Erase(Node* node);
  // Moves `node` before `before` (nullptr: to the end).
  void Move(Node* node, Node* before);
  Value* FindValue(absl::string_view name) const;
  // Renames; a taken name gets a suffix.
  void Rename(Value* value, absl::string_view name);

  // A deep copy in the same context, sub-graphs copied too; `map` gets old value -> new value.
  std::shared_ptr<Graph> Clone(absl::flat_hash_map<const Value*, Value*>* map = nullptr) const;

 private:
  Value* NewValue(absl::string_view name, ValueType type, Node* definition, int index);
  std::string UniqueName(absl::string_view wanted);
  void AddUses(Node* node, const Argument& argument);
  void DropUses(Node* node, const Argument& argument);

  std::string name_;
  std::shared_ptr<ExprContext> context_;
  std::deque<Node> node_storage_;
  std::deque<Value> value_storage_;
  std::vector<Value*> inputs_;
  std::vector<InputSpec> input_specs_;
  std::vector<Argument> outputs_;
  std::vector<OutputSpec> output_specs_;
  std::vector<Expr> preconditions_;
  absl::flat_hash_map<absl::string_view, Value*> by_name_;  // the keys lie in the values
  absl::flat_hash_map<std::string, int> next_suffix_;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  int64_t node_count_ = 0;
  int64_t graph_arguments_ = 0;
  int64_t next_id_ = 0;
};

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_GRAPH_H_
