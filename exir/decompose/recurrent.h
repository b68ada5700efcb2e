// What calls of recurrent layers hold, for the two ways to write them: step by step
// (recurrent.cpp), and as operators of their own (recurrent_layers.cpp).

#pragma once

#include <vector>

#include "exir/decompose/rules.h"

namespace taper::exir {

enum class Cell { kLstm, kGru, kTanh, kRelu };

// Of one layer in one direction, as PyTorch stores them. Null if there are none.
struct LayerWeights {
  Value* input;
  Value* hidden;
  Value* input_bias;
  Value* hidden_bias;
  Value* projection;
};

struct RecurrentCall {
  Cell cell;
  std::vector<LayerWeights> weights;  // Layer by layer, forward then backward.
  int64_t layers;
  int64_t directions;
};

// Throws Failure if there are not as many weights as the call says.
RecurrentCall read_recurrent(Builder& b, Cell cell);

// LSTM and GRU as taper::lstm and taper::gru, where the weights have known sizes.
const Decompositions& recurrent_layer_rules();

}  // namespace taper::exir
