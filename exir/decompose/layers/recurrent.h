// Reads calls of recurrent layers for the two tables of rules that decompose them: into single
// steps (recurrent.cpp), and into the layer operators of this runtime (recurrent_layers.cpp).

#pragma once

#include <vector>

#include "exir/decompose/rules.h"

namespace taper::exir {

enum class Cell { kLstm, kGru, kTanh, kRelu };

// The weights of one layer in one direction, as PyTorch stores them; null where there is none.
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

// Throws Failure if the number of weights is not what the call's options imply.
RecurrentCall read_recurrent(Builder& b, Cell cell);

// LSTM and GRU as taper::lstm and taper::gru, where the weights have static sizes.
const Decompositions& recurrent_layer_rules();

}  // namespace taper::exir
