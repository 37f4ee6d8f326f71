// Operators that hold sub-graphs. Sub-graphs are closed: what they use comes as operands.

#include <algorithm>
#include <optional>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/control/control_parts.h"
#include "ir/ops/families.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

std::vector<ValueType> OutputTypes(const Graph& graph) {
  std::vector<ValueType> types;
  for (const Argument& output : graph.outputs()) {
    if (output.is_value()) {
      types.push_back(output.value()->type);
    } else {
      types.push_back(NoneType());
    }
  }
  return types;
}

// What a caller sees of a branch's result: a fresh contiguous tensor.
ValueType AsFreshTensor(const ValueType& type) {
  if (!type.is_tensor()) return type;
  const TensorType& tensor = type.tensor();
  return ContiguousType(tensor.dtype, tensor.sizes, tensor.device);
}

// Of two tensors that differ in sizes: where these do, only running tells.
std::optional<ValueType> OfEitherSize(const ValueType& a, const ValueType& b,
                                      const InferContext& c) {
  if (!a.is_tensor() || !b.is_tensor()) return std::nullopt;
  const TensorType &x = a.tensor(), &y = b.tensor();
  if (x.dtype != y.dtype || x.rank() != y.rank() || x.device != y.device) return std::nullopt;
  std::vector<Expr> sizes = x.sizes;
  for (int d = 0; d < x.rank(); ++d) {
    if (x.sizes[d] == y.sizes[d]) continue;
    const symbolic::Range one = c.shapes.RangeOf(x.sizes[d]), other = c.shapes.RangeOf(y.sizes[d]);
    sizes[d] = c.shapes.FreshUnbacked(
        symbolic::Source::Item(c.asker.node),
        symbolic::Range{std::min(one.lower, other.lower), std::max(one.upper, other.upper)});
  }
  return ContiguousType(x.dtype, std::move(sizes), x.device);
}

Types InferCond(const InferContext& c) {
  const std::vector<ValueType> then_types = OutputTypes(*c.args[1].graph());
  const std::vector<ValueType> else_types = OutputTypes(*c.args[2].graph());
  if (then_types.size() != else_types.size()) {
    return InvalidArgument("cond: the branches give ", then_types.size(), " and ",
                           else_types.size(), " results");
  }
  std::vector<ValueType> types;
  for (size_t k = 0; k < then_types.size(); ++k) {
    const ValueType a = AsFreshTensor(then_types[k]), b = AsFreshTensor(else_types[k]);
    const std::optional<ValueType> joined = a == b ? a : OfEitherSize(a, b, c);
    if (!joined.has_value()) {
      return InvalidArgument("cond: result ", k, " is ", ToString(a), " in one branch and ",
                             ToString(b), " in the other");
    }
    types.push_back(*joined);
  }
  return types;
}

// Operands of a sub-graph: a list, or one alone.
std::vector<HostValue> OperandsOf(const HostArgs& args, int i) {
  const HostValue& value = args.value(i);
  if (value.is_none()) return {};
  if (const auto* list = std::get_if<HostList>(&value)) return *list;
  return {value};
}

bool IsTrue(const HostArgs& args) {
  if (args.value(0).is_tensor()) return args.Tensor(0).AtLinear(0).ToBool();
  return args.Number(0).ToBool();
}

absl::StatusOr<std::vector<HostValue>> EvaluateCond(const EvaluateContext& c) {
  const Graph& branch = *c.args.literal(IsTrue(c.args) ? 1 : 2).graph();
  return c.run_graph(branch, OperandsOf(c.args, 3));
}

OpRow CondRow() {
  OpRow row;
  row.schema = "cond(Any pred, Graph true_graph, Graph false_graph, Any operands=[]) -> Any[]";
  row.doc =
      "Runs one of two sub-graphs on the operands. Both give results of the same dtypes and ranks; "
      "a size in which they differ is known only after running.";
  row.infer = InferCond;
  row.evaluate = EvaluateCond;
  return row;
}

// What the loop carries. The body's own types are compared: what it is given it must give again.
Types InferLoop(const InferContext& c) {
  const Graph& body = *c.args[1].graph();
  const std::vector<ValueType> next = OutputTypes(body);
  const std::vector<Argument>& carried = c.args[2].list();
  if (next.size() != carried.size() || body.inputs().size() < carried.size()) {
    return InvalidArgument("while_loop: its body takes ", body.inputs().size(),
                           " values and gives ", next.size(), ", it carries ", carried.size());
  }
  std::vector<ValueType> types;
  for (size_t k = 0; k < carried.size(); ++k) {
    const ValueType& from = body.inputs()[k]->type;
    if (!from.is_tensor() || !carried[k].is_value() || !carried[k].value()->type.is_tensor()) {
      return Unimplemented("while_loop: carried value ", k, " is ", ToString(from),
                           ", only tensors can be carried");
    }
    if (!next[k].is_tensor() || from.tensor().dtype != next[k].tensor().dtype ||
        from.tensor().sizes != next[k].tensor().sizes) {
      return InvalidArgument("while_loop: carried value ", k, " is ", ToString(from),
                             ", its body makes it ", ToString(next[k]));
    }
    types.push_back(carried[k].value()->type);
  }
  return types;
}

absl::StatusOr<std::vector<HostValue>> EvaluateLoop(const EvaluateContext& c) {
  std::vector<HostValue> state = OperandsOf(c.args, 2);
  const std::vector<HostValue> additional = OperandsOf(c.args, 3);
  const auto run = [&](int graph) {
    std::vector<HostValue> operands = state;
    operands.insert(operands.end(), additional.begin(), additional.end());
    return c.run_graph(*c.args.literal(graph).graph(), std::move(operands));
  };
  for (;;) {
    LATHE_ASSIGN_OR_RETURN(const std::vector<HostValue> more, run(0));
    const bool goes_on =
        more[0].is_tensor() ? more[0].tensor().AtLinear(0).ToBool() : more[0].scalar().ToBool();
    if (!goes_on) break;
    LATHE_ASSIGN_OR_RETURN(state, run(1));
  }
  // Results are the loop's own, also where no turn made them.
  for (size_t k = 0; k < state.size(); ++k) {
    const Tensor value = state[k].tensor();
    Tensor own = Tensor::EmptyStrided(value.dtype(), value.sizes(), value.strides());
    own.CopyFrom(value);
    state[k] = own;
  }
  return state;
}

OpRow LoopRow() {
  OpRow row;
  row.schema =
      "while_loop(Graph cond_graph, Graph body_graph, Any carried_inputs=[], Any "
      "additional_inputs=[]) -> Any[]";
  row.doc =
      "Runs the body while the condition holds, both on what is carried and the additional inputs; "
      "the body gives what is carried next, of the same dtypes and sizes.";
  row.infer = InferLoop;
  row.evaluate = EvaluateLoop;
  return row;
}

// A region that only carries a mode: inlined before everything else (ir/passes/inline_wrappers).
OpRow WrapperRow(std::string schema, int body) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "A region of the program that runs in a mode; its body is inlined.";
  row.infer = [body](const InferContext& c) -> Types { return OutputTypes(*c.args[body].graph()); };
  row.evaluate = [body](const EvaluateContext& c) {
    return c.run_graph(*c.args.literal(body).graph(), OperandsOf(c.args, c.args.size() - 1));
  };
  return row;
}

}  // namespace

std::vector<OpRow> ControlRows() {
  std::vector<OpRow> rows = {CondRow(), LoopRow()};
  rows.push_back(WrapperRow(
      "wrap_with_set_grad_enabled(Any enabled, Graph body, Any operands=[]) -> Any[]", 1));
  rows.push_back(WrapperRow(
      "wrap_with_autocast(Any device_type, Any dtype, Any enabled, Any cache_enabled, Graph body, "
      "Any operands=[]) -> Any[]",
      4));
  rows.push_back(WrapperRow("wrap(Graph body, Any operands=[]) -> Any[]", 0));
  rows.push_back(
      WrapperRow("invoke_subgraph(Graph body, Any identifier, Any operands=[]) -> Any[]", 0));
  rows.push_back(WrapperRow("tag_activation_checkpoint(Graph body, Any operands=[]) -> Any[]", 0));
  for (OpRow& row : SizeRows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace lathe
