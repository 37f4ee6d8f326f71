// Recurrent layers, written out step by step over a sequence of known length. Formulas: Cho et al.,
// arXiv:1406.1078 (GRU, with the reset gate after the product as cuDNN has it); Hochreiter and
// Schmidhuber, 1997 (LSTM).

#include <functional>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/families.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

// The state of one direction of one layer: h, and c for an LSTM.
using State = std::vector<Value*>;
// From the input's gates at one step (already multiplied by the input weights) to the next state.
using Cell =
    std::function<State(Builder& b, Value* input_gates, Value* hidden_gates, const State& state)>;

struct Layout {
  int first_param, has_biases, layers, dropout, train, bidirectional, batch_first;
};

std::vector<Value*> Gates(Builder& b, Value* all, int count) {
  if (all == nullptr) return std::vector<Value*>(count, nullptr);
  return b.CallMany("aten.chunk", {all, count, -1});
}

State GruCell(Builder& b, Value* input_gates, Value* hidden_gates, const State& state) {
  const std::vector<Value*> x = Gates(b, input_gates, 3), h = Gates(b, hidden_gates, 3);
  if (!b.status().ok()) return state;
  const auto add = [&](Value* p, Value* q) { return b.Call("aten.add.Tensor", {p, q}); };
  const auto mul = [&](Value* p, Value* q) { return b.Call("aten.mul.Tensor", {p, q}); };
  Value* reset = b.Call("aten.sigmoid", {add(x[0], h[0])});
  Value* update = b.Call("aten.sigmoid", {add(x[1], h[1])});
  Value* fresh = b.Call("aten.tanh", {add(x[2], mul(reset, h[2]))});
  // (h - fresh) * update + fresh
  Value* kept = mul(b.Call("aten.sub.Tensor", {state[0], fresh}), update);
  return {add(kept, fresh)};
}

State LstmCell(Builder& b, Value* input_gates, Value* hidden_gates, const State& state) {
  const std::vector<Value*> g = Gates(b, b.Call("aten.add.Tensor", {input_gates, hidden_gates}), 4);
  if (!b.status().ok()) return state;
  const auto mul = [&](Value* p, Value* q) { return b.Call("aten.mul.Tensor", {p, q}); };
  Value* in = b.Call("aten.sigmoid", {g[0]});
  Value* forget = b.Call("aten.sigmoid", {g[1]});
  Value* fresh = b.Call("aten.tanh", {g[2]});
  Value* out = b.Call("aten.sigmoid", {g[3]});
  Value* cell = b.Call("aten.add.Tensor", {mul(forget, state[1]), mul(in, fresh)});
  return {mul(out, b.Call("aten.tanh", {cell})), cell};
}

Cell PlainCell(const char* activation) {
  return [activation](Builder& b, Value* x, Value* h, const State&) -> State {
    return {b.Call(activation, {b.Call("aten.add.Tensor", {x, h})})};
  };
}

Value* Select(Builder& b, Value* x, int64_t index) {
  return b.Call("aten.select.int", {x, 0, index});
}

class Unroller {
 public:
  Unroller(Builder& b, const OpArgs& args, const Layout& at, Cell cell)
      : b_(b), args_(args), at_(at), cell_(std::move(cell)) {}

  // `states`: [layers * directions, batch, hidden] tensors, one or two. Results: the output, then
  // the last states.
  absl::StatusOr<std::vector<Argument>> Run(const std::vector<Value*>& states) {
    LATHE_ASSIGN_OR_RETURN(int64_t layers, args_.ConstantInt(at_.layers));
    if (args_.Float(at_.dropout) != 0 && args_.Bool(at_.train)) {
      return Unimplemented(args_.schema().name, ": dropout while training draws random numbers");
    }
    const bool swaps = args_.Bool(at_.batch_first) && args_.Type(0).rank() == 3;
    Value* x = args_.Tensor(0);
    if (swaps) x = b_.Call("aten.transpose.int", {x, 0, 1});
    LATHE_RETURN_IF_ERROR(b_.status());
    const std::optional<int64_t> steps = x->type.tensor().sizes[0].AsInt();
    if (!steps.has_value()) {
      return Unimplemented(args_.schema().name, ": a sequence of symbolic length");
    }
    const int directions = args_.Bool(at_.bidirectional) ? 2 : 1;
    std::vector<std::vector<Value*>> last(states.size());
    for (int64_t layer = 0; layer < layers; ++layer) {
      std::vector<Value*> outputs;
      for (int direction = 0; direction < directions; ++direction) {
        State state;
        const int64_t k = layer * directions + direction;
        for (Value* all : states) state.push_back(Select(b_, all, k));
        LATHE_RETURN_IF_ERROR(b_.status());
        outputs.push_back(Direction(x, *steps, k, direction == 1, &state));
        LATHE_RETURN_IF_ERROR(b_.status());
        for (size_t s = 0; s < state.size(); ++s) last[s].push_back(state[s]);
      }
      x = directions == 1 ? outputs[0] : b_.Call("aten.cat", {outputs, -1});
    }
    if (swaps) x = b_.Call("aten.transpose.int", {x, 0, 1});
    std::vector<Argument> results = {Argument::Of(x)};
    for (const std::vector<Value*>& state : last) {
      results.push_back(Argument::Of(b_.Call("aten.stack", {state, 0})));
    }
    LATHE_RETURN_IF_ERROR(b_.status());
    return results;
  }

 private:
  // One direction of one layer over the whole sequence. The input's products are one matrix
  // product for all steps.
  Value* Direction(Value* x, int64_t steps, int64_t k, bool backwards, State* state) {
    const bool biased = args_.Bool(at_.has_biases);
    const std::vector<Value*> params = args_.Tensors(at_.first_param);
    // A hidden state of another width than the cell's is a projection of the output (eager's rule).
    const bool projects = state->size() == 2 && !((*state)[0]->type.tensor().sizes.back() ==
                                                  (*state)[1]->type.tensor().sizes.back());
    const size_t unprojected = biased ? 4 : 2, per_direction = unprojected + (projects ? 1 : 0),
                 first = static_cast<size_t>(k) * per_direction;
    if (first + per_direction > params.size()) {
      b_.Fail(InvalidArgument(args_.schema().name, ": expected ", per_direction,
                              " weights a layer and direction, got ", params.size(), " in all"));
      return nullptr;
    }
    const auto linear = [&](Value* v, size_t weight) {
      std::vector<CallArgument> call = {v, params[first + weight]};
      if (biased) call.push_back(params[first + 2 + weight]);
      return b_.Call("aten.linear", std::move(call));
    };
    Value* gates = linear(x, 0);
    std::vector<Value*> outputs(steps);
    for (int64_t step = 0; step < steps && b_.status().ok(); ++step) {
      const int64_t t = backwards ? steps - 1 - step : step;
      *state = cell_(b_, Select(b_, gates, t), linear((*state)[0], 1), *state);
      if (projects && b_.status().ok()) {
        (*state)[0] = b_.Call("aten.linear", {(*state)[0], params[first + unprojected]});
      }
      outputs[t] = (*state)[0];
    }
    return b_.Call("aten.stack", {outputs, 0});
  }

  Builder& b_;
  const OpArgs& args_;
  const Layout& at_;
  Cell cell_;
};

OpRow RecurrentRow(std::string schema, std::string doc, Cell cell) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.composite = true;
  row.decompose = [cell](Builder& b, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    static constexpr Layout kLayout = {2, 3, 4, 5, 6, 7, 8};
    std::vector<Value*> states =
        args[1].is_list() ? args.Tensors(1) : std::vector<Value*>{args.Tensor(1)};
    return Unroller(b, args, kLayout, cell).Run(states);
  };
  return row;
}

// ---- One step: lstm_cell, gru_cell... ----

// The cell's arguments: input, state(s), the weights of both, the biases of both.
absl::StatusOr<std::vector<Argument>> OneStep(Builder& b, const OpArgs& args, const Cell& cell,
                                              int states, int gates) {
  const std::vector<Value*> state =
      args[1].is_list() ? args.Tensors(1) : std::vector<Value*>{args.Tensor(1)};
  if (static_cast<int>(state.size()) != states) {
    return InvalidArgument(args.schema().name, ": expected ", states, " states, got ",
                           state.size());
  }
  const TensorType &hidden = state[0]->type.tensor(), &weight = args.Type(3);
  if (hidden.rank() == 0 || weight.rank() != 2 ||
      symbolic::IsRefused(b.shapes(), symbolic::Ne(weight.sizes[0], weight.sizes[1] * gates))) {
    return InvalidArgument(args.schema().name, ": expected hidden weights of ", gates,
                           " times as many rows as columns, got ", ToString(weight));
  }
  const auto linear = [&](Value* x, int weight) {
    return b.Call("aten.linear", {x, args.Tensor(weight), args[weight + 2]});
  };
  std::vector<Argument> results;
  for (Value* v : cell(b, linear(args.Tensor(0), 2), linear(state[0], 3), state)) {
    results.push_back(v == nullptr ? Argument() : Argument::Of(v));
  }
  return results;
}

OpRow CellRow(const std::string& name, std::string doc, int states, int gates, Cell cell) {
  const bool has_list = states > 1;
  return CompositeRow(
      "aten::" + name + "(Tensor input, " + (has_list ? "Tensor[]" : "Tensor") +
          " hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> " +
          (has_list ? "(Tensor, Tensor)" : "Tensor"),
      std::move(doc),
      [=](Builder& b, const OpArgs& args) { return OneStep(b, args, cell, states, gates); },
      has_list ? std::vector<std::string>()
               : std::vector<std::string>{"aten." + name + "(f32[2, 3], f32[2, 4], f32[" +
                                          (name == "gru_cell" ? "12" : "4") + ", 3], f32[" +
                                          (name == "gru_cell" ? "12" : "4") + ", 4])"});
}

}  // namespace

std::vector<OpRow> RecurrentRows() {
  std::vector<OpRow> rows;
  rows.push_back(CellRow("gru_cell", "A gated recurrent unit: one step.", 1, 3, GruCell));
  rows.push_back(
      CellRow("lstm_cell", "Long short-term memory: one step, state and cell.", 2, 4, LstmCell));
  rows.push_back(
      CellRow("rnn_tanh_cell", "A plain recurrent step with tanh.", 1, 1, PlainCell("aten.tanh")));
  rows.push_back(
      CellRow("rnn_relu_cell", "A plain recurrent step with relu.", 1, 1, PlainCell("aten.relu")));
  rows.push_back(RecurrentRow(
      "aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
      "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
      "Gated recurrent units over a sequence: outputs of the last layer, last states.", GruCell));
  rows.push_back(RecurrentRow(
      "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor, Tensor)",
      "Long short-term memory over a sequence: outputs of the last layer, last states and cells.",
      LstmCell));
  rows.push_back(RecurrentRow(
      "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor)",
      "A plain recurrent layer with tanh.", PlainCell("aten.tanh")));
  rows.push_back(RecurrentRow(
      "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
      "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
      "Tensor)",
      "A plain recurrent layer with relu.", PlainCell("aten.relu")));
  return rows;
}

}  // namespace lathe
