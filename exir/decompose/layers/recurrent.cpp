// LSTM, GRU and plain RNN layers and cells, step by step.
//
// The input half of the gates does not depend on the state, so it is one matrix product for all
// steps of a layer; what remains per step is one small product and the gates.
//
//     gates[t] = (x W_ih^T + b_ih)[t] + h[t-1] W_hh^T + b_hh
//
// A small static number of steps is unrolled; otherwise the step is the body of a scan.

#include "exir/decompose/layers/recurrent.h"

namespace taper::exir {
namespace {

constexpr int64_t kMostUnrolledSteps = 64;

// The weights of one direction; null where there is none. Those that a step uses are transposed:
// its product is h * hidden.
struct Weights {
  Value* input;
  Value* input_bias;
  Value* hidden;
  Value* hidden_bias;
  Value* projection;
};

struct State {
  Value* h;
  Value* c;  // LSTM only.
};

Value* affine(Builder& b, Value* x, Value* weight, Value* bias) {
  return b.op("linear", {x, weight, bias ? Argument(bias) : Argument()});
}
Value* sigmoid(Builder& b, Value* x) { return b.op("sigmoid", {x}); }
Value* tanh(Builder& b, Value* x) { return b.op("tanh", {x}); }

// The `index`-th of the gates that lie side by side in the last dimension.
Value* gate(Builder& b, Value* gates, int64_t index, const Sym& width) {
  return b.slice(gates, -1, Sym(index) * width, Sym(index + 1) * width);
}

State lstm_step(Builder& b, Value* gates, const State& s, const Weights& w) {
  const Sym width = dim_of(s.c, -1);
  Value* in = sigmoid(b, gate(b, gates, 0, width));
  Value* forget = sigmoid(b, gate(b, gates, 1, width));
  Value* fresh = tanh(b, gate(b, gates, 2, width));
  Value* out = sigmoid(b, gate(b, gates, 3, width));
  Value* c = b.add(b.mul(forget, s.c), b.mul(in, fresh));
  Value* h = b.mul(out, tanh(b, c));
  return {w.projection ? b.op("mm", {h, w.projection}) : h, c};
}

State gru_step(Builder& b, Value* x, Value* h_gates, const State& s, const Sym& width) {
  Value* reset = sigmoid(b, b.add(gate(b, x, 0, width), gate(b, h_gates, 0, width)));
  Value* keep = sigmoid(b, b.add(gate(b, x, 1, width), gate(b, h_gates, 1, width)));
  Value* fresh = tanh(b, b.add(gate(b, x, 2, width), b.mul(reset, gate(b, h_gates, 2, width))));
  return {b.add(fresh, b.mul(keep, b.sub(s.h, fresh))), nullptr};
}

State step(Builder& b, Cell cell, Value* x, const State& s, const Weights& w) {
  Value* h_gates =
      w.hidden_bias ? b.op("addmm", {w.hidden_bias, s.h, w.hidden}) : b.op("mm", {s.h, w.hidden});
  switch (cell) {
    case Cell::kLstm:
      return lstm_step(b, b.add(x, h_gates), s, w);
    case Cell::kGru:
      return gru_step(b, x, h_gates, s, dim_of(s.h, -1));
    case Cell::kTanh:
      return {tanh(b, b.add(x, h_gates)), nullptr};
    default:
      return {b.op("relu", {b.add(x, h_gates)}), nullptr};
  }
}

Value* unrolled(Builder& b, Cell cell, Value* gates, State* s, const Weights& w, bool backward) {
  const int64_t steps = gates->type.sizes[0].as_int();
  std::vector<Value*> outputs(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = backward ? steps - 1 - i : i;
    *s = step(b, cell, b.select(gates, 0, t), *s, w);
    outputs[static_cast<size_t>(t)] = b.unsqueeze(s->h, 0);
  }
  return b.cat(outputs, 0);
}

Value* scanned(Builder& b, Cell cell, Value* gates, State* s, const Weights& w, bool backward) {
  const auto in_order = [&](Value* x) { return backward ? b.op("flip", {x, int_list({0})}) : x; };
  std::vector<Value*> initial = {s->h}, constant = {w.hidden};
  if (s->c) initial.push_back(s->c);
  for (Value* one : {w.hidden_bias, w.projection}) {
    if (one) constant.push_back(one);
  }
  const auto body = [&](Builder& inner, const std::vector<Value*>& in) {
    size_t at = 0;
    const auto next = [&](const Value* like) { return like ? in.at(at++) : nullptr; };
    Value* h = in.at(at++);
    State state = {h, cell == Cell::kLstm ? in.at(at++) : nullptr};
    Value* x = in.at(at++);
    Weights weights = {nullptr, nullptr, next(w.hidden), next(w.hidden_bias), next(w.projection)};
    state = step(inner, cell, x, state, weights);
    return state.c ? std::vector{state.h, state.c, state.h} : std::vector{state.h, state.h};
  };
  const std::vector<Value*> out = b.scan(initial, {in_order(gates)}, constant, body);
  *s = {out[0], s->c ? out[1] : nullptr};
  return in_order(out.back());
}

// Runs one direction of one layer over x [T, B, I]: returns [T, B, H], leaves the last state in
// `s`.
Value* run_direction(Builder& b, Cell cell, Value* x, State* s, const Weights& w, bool backward) {
  Value* gates = affine(b, x, w.input, w.input_bias);
  const Sym& steps = gates->type.sizes[0];
  const bool few = steps.is_int() && steps.as_int() <= kMostUnrolledSteps;
  return few ? unrolled(b, cell, gates, s, w, backward) : scanned(b, cell, gates, s, w, backward);
}

Weights transposed(Builder& b, const LayerWeights& w) {
  return {w.input, w.input_bias, b.permute(w.hidden, {1, 0}), w.hidden_bias,
          w.projection != nullptr ? b.permute(w.projection, {1, 0}) : nullptr};
}

void recurrent(Builder& b, Cell cell) {
  const RecurrentCall call = read_recurrent(b, cell);
  const bool batch_first = b.arg("batch_first").to_bool();
  Value* x = b.in("input");
  const bool unbatched = x->type.rank() == 2;
  if (unbatched)
    x = b.unsqueeze(x, 1);
  else if (batch_first)
    x = b.transpose(x, 0, 1);
  const Argument& hx = b.arg("hx");
  const auto initial = [&](size_t k, int64_t i) -> Value* {
    if (!hx.is_list()) return k == 0 ? b.select(hx.value(), 0, i) : nullptr;
    if (k >= hx.list().size()) throw Failure("hx must hold a hidden state and that of the cells");
    return b.select(hx.list()[k].value(), 0, i);
  };
  std::vector<Value*> hs, cs;
  for (int64_t layer = 0; layer < call.layers; ++layer) {
    std::vector<Value*> sides;
    for (int64_t side = 0; side < call.directions; ++side) {
      const int64_t i = layer * call.directions + side;
      State s = {initial(0, i), cell == Cell::kLstm ? initial(1, i) : nullptr};
      if (unbatched) {
        s.h = b.unsqueeze(s.h, 0);
        if (s.c) s.c = b.unsqueeze(s.c, 0);
      }
      const Weights weights = transposed(b, call.weights[static_cast<size_t>(i)]);
      sides.push_back(run_direction(b, cell, x, &s, weights, side == 1));
      hs.push_back(b.unsqueeze(s.h, 0));
      if (s.c) cs.push_back(b.unsqueeze(s.c, 0));
    }
    x = b.cat(sides, 2);
  }
  if (unbatched)
    x = b.squeeze(x, 1);
  else if (batch_first)
    x = b.transpose(x, 0, 1);
  const auto last = [&](const std::vector<Value*>& all, size_t result) {
    b.result(b.view(b.cat(all, 0), b.out_type(result).sizes), result);
  };
  b.result(x, 0);
  last(hs, 1);
  if (cell == Cell::kLstm) last(cs, 2);
}

void lstm(Builder& b) { recurrent(b, Cell::kLstm); }
void gru(Builder& b) { recurrent(b, Cell::kGru); }
void rnn_tanh(Builder& b) { recurrent(b, Cell::kTanh); }
void rnn_relu(Builder& b) { recurrent(b, Cell::kRelu); }

Weights cell_weights(Builder& b) {
  const auto optional = [&](std::string_view name) { return b.has(name) ? b.in(name) : nullptr; };
  return {b.in("w_ih"), optional("b_ih"), b.permute(b.in("w_hh"), {1, 0}), optional("b_hh"),
          nullptr};
}
State cell_step(Builder& b, Cell cell, const State& s) {
  const Weights w = cell_weights(b);
  return step(b, cell, affine(b, b.in("input"), w.input, w.input_bias), s, w);
}
void lstm_cell(Builder& b) {
  const Argument::List& hx = b.arg("hx").list();
  const State s = cell_step(b, Cell::kLstm, {hx.at(0).value(), hx.at(1).value()});
  b.result(s.h, 0);
  b.result(s.c, 1);
}
void gru_cell(Builder& b) { b.result(cell_step(b, Cell::kGru, {b.in("hx"), nullptr}).h); }
void rnn_tanh_cell(Builder& b) { b.result(cell_step(b, Cell::kTanh, {b.in("hx"), nullptr}).h); }
void rnn_relu_cell(Builder& b) { b.result(cell_step(b, Cell::kRelu, {b.in("hx"), nullptr}).h); }

}  // namespace

RecurrentCall read_recurrent(Builder& b, Cell cell) {
  const Argument::List& params = b.arg("params").list();
  const bool biases = b.arg("has_biases").to_bool();
  RecurrentCall call{
      cell, {}, b.arg("num_layers").to_int(), b.arg("bidirectional").to_bool() ? 2 : 1};
  const auto count = static_cast<size_t>(call.layers * call.directions);
  const size_t plain = biases ? 4 : 2;
  const bool projects = cell == Cell::kLstm && params.size() == count * (plain + 1);
  const size_t each = plain + projects;
  if (params.size() != count * each) {
    throw Failure(std::string(b.node().target()) + " is given " + std::to_string(params.size()) +
                  " weights where " + std::to_string(count * plain) + " are expected");
  }
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](size_t k) { return params[i * each + k].value(); };
    call.weights.push_back({at(0), at(1), biases ? at(2) : nullptr, biases ? at(3) : nullptr,
                            projects ? at(plain) : nullptr});
  }
  return call;
}

const Decompositions& recurrent_rules() {
  static const Decompositions table = {
      {"lstm.input", lstm},
      {"gru.input", gru},
      {"rnn_tanh.input", rnn_tanh},
      {"rnn_relu.input", rnn_relu},
      {"lstm_cell", lstm_cell},
      {"gru_cell", gru_cell},
      {"rnn_tanh_cell", rnn_tanh_cell},
      {"rnn_relu_cell", rnn_relu_cell},
  };
  return table;
}

}  // namespace taper::exir
