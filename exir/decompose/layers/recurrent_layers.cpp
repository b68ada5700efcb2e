// LSTM and GRU layers as operators of this runtime, one per layer for both directions.
//
// The input half of the gates of all steps is one matrix product, which a backend may take;
// taper::lstm and taper::gru do the rest, step by step. Their weights are packed here, so that
// constant folding lays them out at compile time: units in blocks of 16, padded with zeros; within
// a block, the weights of one element of the state are contiguous
// (kernels_portable/cores/recurrence.h).

#include "exir/decompose/layers/recurrent.h"

#include <algorithm>
#include <optional>

#include "kernels_portable/cores/recurrence.h"

namespace taper::exir {
namespace {

constexpr int64_t kTogether = portable::kUnitsTogether;

int64_t gates_of(Cell cell) { return cell == Cell::kLstm ? 4 : 3; }

// [G * units, outputs] -> [1, blocks, outputs, G * 16].
Value* packed(Builder& b, Value* hidden, int64_t gates) {
  const Sym& outputs = hidden->type.sizes[1];
  const int64_t units = hidden->type.sizes[0].as_int() / gates;
  const int64_t blocks = (units + kTogether - 1) / kTogether, missing = blocks * kTogether - units;
  Value* x = b.view(hidden, {Sym(gates), Sym(units), outputs});
  if (missing > 0) {
    const Argument::List pad = {int64_t{0}, int64_t{0}, int64_t{0}, missing};
    x = b.op("constant_pad_nd", {x, pad, 0.0});
  }
  x = b.view(x, {Sym(gates), Sym(blocks), Sym(kTogether), outputs});
  x = b.permute(x, {1, 3, 0, 2});
  return b.view(x, {Sym(1), Sym(blocks), outputs, Sym(gates * kTogether)});
}

Value* joined(Builder& b, const std::vector<Value*>& parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : b.cat(parts, dim);
}

// A weight that is dequantised from a constant of integers, with scales and zero points [rows].
struct Integers {
  Value* rows;
  Value* scales;
  Value* zero_points;  // Null if they are all 0.
};

bool is_constant(const Argument& arg) {
  return arg.is_value() && arg.value()->role == ValueRole::kConstant &&
         arg.value()->scales == nullptr;
}

std::optional<Integers> integers_of(Builder& b, const Value* weight) {
  const Node* maker = weight->producer;
  const bool one = maker != nullptr && maker->is("quantized_decomposed::dequantize_per_tensor");
  const bool each = maker != nullptr && maker->is("quantized_decomposed::dequantize_per_channel");
  if ((!one && !each) || !is_constant(maker->arg("input"))) return std::nullopt;
  Value* rows = maker->arg("input").value();
  const bool is_byte =
      rows->type.dtype == ScalarType::kChar || rows->type.dtype == ScalarType::kByte;
  if (!is_byte || weight->type.dtype != ScalarType::kFloat) return std::nullopt;
  const Sym& count = rows->type.sizes[0];
  if (one) {
    const Argument &scale = maker->arg("scale"), &point = maker->arg("zero_point");
    if (scale.is_value() || point.is_value()) return std::nullopt;
    const auto filled = [&](double number) {
      return b.full({count}, static_cast<double>(static_cast<float>(number)), ScalarType::kFloat);
    };
    return Integers{rows, filled(scale.to_double()),
                    point.to_int() == 0 ? nullptr : filled(static_cast<double>(point.to_int()))};
  }
  const Argument &scales = maker->arg("scales"), &points = maker->arg("zero_points");
  const bool known = is_constant(scales) && (points.is_none() || is_constant(points));
  if (!known || maker->arg("axis").to_int() != 0) return std::nullopt;
  // Otherwise differences or products are rounded or wrap around.
  const auto is_narrow = [](ScalarType dtype) {
    return dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
  };
  if (is_narrow(scales.value()->type.dtype)) return std::nullopt;
  if (points.is_value() &&
      (is_narrow(points.value()->type.dtype) || points.value()->type.dtype == rows->type.dtype)) {
    return std::nullopt;
  }
  return Integers{rows, b.cast(scales.value(), ScalarType::kFloat),
                  points.is_none() ? nullptr : b.cast(points.value(), ScalarType::kFloat)};
}

// The weights of all directions, packed. Those of integers stay so: the last steps, which make
// floats of them, are left to the device (fold_constants).
Value* packed_weights(Builder& b, const std::vector<Value*>& weights, int64_t gates) {
  std::vector<Value*> floats, rows, scales, points;
  for (Value* weight : weights) {
    const std::optional<Integers> integers = integers_of(b, weight);
    if (!integers) continue;
    const Sym& count = weight->type.sizes[0];
    rows.push_back(packed(b, integers->rows, gates));
    scales.push_back(packed(b, b.view(integers->scales, {count, Sym(1)}), gates));
    if (integers->zero_points != nullptr) {
      points.push_back(packed(b, b.view(integers->zero_points, {count, Sym(1)}), gates));
    }
  }
  const bool stay =
      rows.size() == weights.size() && (points.empty() || points.size() == rows.size()) &&
      std::all_of(rows.begin(), rows.end(),
                  [&](const Value* each) { return each->type.dtype == rows[0]->type.dtype; });
  if (!stay) {
    for (Value* weight : weights) floats.push_back(packed(b, weight, gates));
    return joined(b, floats, 0);
  }
  Value* x = b.cast(joined(b, rows, 0), ScalarType::kFloat);
  if (!points.empty()) x = b.sub(x, joined(b, points, 0));
  return b.mul(x, joined(b, scales, 0));
}

// The operands of one layer, those of both directions joined.
struct Layer {
  Value* input;       // [D * G * units, inputs]
  Value* input_bias;  // [D * G * units]
  Value* hidden;
  Value* bias;        // The hidden bias of a GRU's new gate, [D, 1, units].
  Value* projection;  // [D, units, outputs]
};

// The sum of the input and the hidden bias of each gate, except for a GRU's new gate: its hidden
// bias is multiplied by the reset gate.
Value* input_bias(Builder& b, Cell cell, const LayerWeights& w) {
  if (cell == Cell::kLstm) return b.add(w.input_bias, w.hidden_bias);
  const Sym third(w.hidden_bias->type.sizes[0].as_int() / 3);
  Value* two = b.slice(w.hidden_bias, 0, Sym(0), Sym(2) * third);
  Value* zeros = b.full({third}, 0.0, w.hidden_bias->type.dtype);
  return b.add(w.input_bias, b.cat({two, zeros}, 0));
}
Value* fresh_bias(Builder& b, const LayerWeights& w) {
  const Sym third(w.hidden_bias->type.sizes[0].as_int() / 3);
  Value* last = b.slice(w.hidden_bias, 0, Sym(2) * third, Sym(3) * third);
  return b.view(last, {Sym(1), Sym(1), third});
}

Layer layer_of(Builder& b, const RecurrentCall& call, int64_t index) {
  std::vector<Value*> inputs, input_biases, hiddens, biases, projections;
  for (int64_t side = 0; side < call.directions; ++side) {
    const LayerWeights& w = call.weights.at(static_cast<size_t>(index * call.directions + side));
    inputs.push_back(w.input);
    hiddens.push_back(w.hidden);
    if (w.input_bias != nullptr) {
      input_biases.push_back(input_bias(b, call.cell, w));
      if (call.cell == Cell::kGru) biases.push_back(fresh_bias(b, w));
    }
    if (w.projection != nullptr) {
      projections.push_back(b.unsqueeze(b.permute(w.projection, {1, 0}), 0));
    }
  }
  const auto all = [&](const std::vector<Value*>& parts) {
    return parts.empty() ? nullptr : joined(b, parts, 0);
  };
  return {all(inputs), all(input_biases), packed_weights(b, hiddens, gates_of(call.cell)),
          all(biases), all(projections)};
}

Argument optional(Value* value) { return value != nullptr ? Argument(value) : Argument(); }

// The initial states [layers * D, batch, ...], and the final ones as the layers produce them.
class States {
 public:
  States(Builder& b, const RecurrentCall& call, bool unbatched)
      : b_(b), call_(call), unbatched_(unbatched) {
    const Argument& hx = b.arg("hx");
    if (!hx.is_list()) {
      initial_ = {hx.value()};
    } else {
      for (const Argument& each : hx.list()) initial_.push_back(each.value());
    }
    if (initial_.size() < (call.cell == Cell::kLstm ? 2u : 1u)) {
      throw Failure(std::string(b.node().target()) + " is given too few states");
    }
    if (!unbatched) return;
    for (Value*& each : initial_) each = b.unsqueeze(each, 1);
  }

  Value* before(size_t which, int64_t layer) {
    Value* all = initial_[which];
    if (call_.layers == 1) return all;
    return b_.slice(all, 0, Sym(layer * call_.directions), Sym((layer + 1) * call_.directions));
  }
  void keep(const std::vector<Value*>& results) {
    for (size_t i = 1; i < results.size(); ++i) last_[i - 1].push_back(results[i]);
  }
  void give() {
    for (size_t which = 0; which < 2 && !last_[which].empty(); ++which) {
      Value* all = joined(b_, last_[which], 0);
      b_.result(unbatched_ ? b_.squeeze(all, 1) : all, which + 1);
    }
  }

 private:
  Builder& b_;
  const RecurrentCall& call_;
  const bool unbatched_;
  std::vector<Value*> initial_, last_[2];
};

void layers(Builder& b, Cell cell) {
  const RecurrentCall call = read_recurrent(b, cell);
  Value* x = b.in("input");
  const bool unbatched = x->type.rank() == 2;
  const bool batch_first = !unbatched && b.arg("batch_first").to_bool();
  if (unbatched) x = b.unsqueeze(x, 1);
  States states(b, call, unbatched);
  for (int64_t i = 0; i < call.layers; ++i) {
    const Layer layer = layer_of(b, call, i);
    Value* gates = b.op("linear", {x, layer.input, optional(layer.input_bias)});
    std::vector<Argument> args = {gates, states.before(0, i)};
    if (cell == Cell::kLstm) args.push_back(states.before(1, i));
    args.push_back(layer.hidden);
    args.push_back(optional(cell == Cell::kLstm ? layer.projection : layer.bias));
    args.push_back(batch_first);
    const std::vector<Value*> results =
        b.ops(cell == Cell::kLstm ? "taper::lstm" : "taper::gru", args);
    x = results[0];
    states.keep(results);
  }
  b.result(unbatched ? b.squeeze(x, 1) : x, 0);
  states.give();
}

void lstm(Builder& b) { layers(b, Cell::kLstm); }
void gru(Builder& b) { layers(b, Cell::kGru); }

bool is_narrow(ScalarType type) {
  return type == ScalarType::kHalf || type == ScalarType::kBFloat16;
}

// Whether all operands have the same floating dtype, and the weights have static sizes.
bool applies(const Node& node) {
  const Value* input = node.arg("input").value();
  if (!is_floating(input->type.dtype)) return false;
  bool all = input->type.rank() == 2 || input->type.rank() == 3;
  const auto look = [&](const Value* value) {
    all = all && value->type.dtype == input->type.dtype;
  };
  for_each_value(node.arg("hx"), look);
  for_each_value(node.arg("params"), [&](const Value* value) {
    look(value);
    for (const Sym& size : value->type.sizes) all = all && size.is_int();
  });
  return all;
}

// PyTorch rounds a GRU of 16-bit floats after every operator, as the decomposition into steps does;
// it rounds an LSTM after every step, as taper::lstm does.
bool gru_applies(const Node& node) {
  return !is_narrow(node.arg("input").value()->type.dtype) && applies(node);
}

}  // namespace

const Decompositions& recurrent_layer_rules() {
  static const Decompositions table = {
      {"lstm.input", lstm, Precision::kSame, applies},
      {"gru.input", gru, Precision::kSame, gru_applies},
  };
  return table;
}

}  // namespace taper::exir
