// Which parts of a program can be computed with integers, and which tensors must be quantised for
// it.
//
//   layers   nodes with weights (convolutions, linear layers, embeddings), and additions and the like
//            whose inputs are quantised anyway; a ReLU or clamp after one belongs to it
//   groups   tensors that share a scale, because nodes between them only move or select elements
//
// A layer that is left in float keeps its weights; its neighbours still quantise what they need.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

enum class LayerKind : uint8_t {
  kConvolution,
  kLinear,
  kEmbedding,
  kArithmetic,
  kStored,  // Any other constant, such as a weight of an LSTM or of a convolution of volumes; only
            // how it is stored changes.
};

struct QuantLayer {
  std::string name;  // That of its node's result, which is unique and stays; for kStored, the
                     // constant's.
  LayerKind kind = LayerKind::kArithmetic;
  Node* node = nullptr;
  Value* input = nullptr;   // Of a layer with weights.
  Value* weight = nullptr;  // The constant; null for arithmetic.
  size_t axis = 0;          // Of the weight's output channels.
  Value* bias = nullptr;    // A constant; null if there is none.
  Value* output = nullptr;  // Behind its activation.
};

struct Sites {
  std::vector<QuantLayer> layers;          // In execution order.
  std::map<std::string, size_t> group_of;  // Quantised tensors by name.
  std::vector<std::vector<Value*>> groups;
};

// Whether constants that no layer multiplies by count as well. The weights of LSTM and GRU layers,
// and of convolutions that have no integer form, always do.
enum class Reach : uint8_t { kLayers, kEveryWeight };

// The layers for which `enabled` says so; all if it is empty.
using Enabled = std::function<bool(const QuantLayer&)>;
Sites find_sites(const Graph& graph, const Enabled& enabled = {}, Reach reach = Reach::kLayers);

// Makes the graph ready: nodes that write in place become functional, batch norms become part of
// convolutions. The numbers stay the same up to rounding.
void prepare_for_quantisation(Graph& graph);

// How often each value is used, outputs and mutations included.
std::map<const Value*, int> uses_of(const Graph& graph);

}  // namespace taper::exir
