// What the quantiser decided, by the names of tensors: it survives the graph, so that any part of
// it can be applied to a fresh import of the program.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "exir/quantize/sites.h"

namespace taper::exir {

// q = round(x / scale) + zero_point, within low..high.
struct TensorScale {
  double scale = 1;
  int64_t zero_point = 0;
  int64_t low = -128, high = 127;
};

// The integers, or the halves, that stand for a weight.
struct QuantisedWeight {
  std::vector<int8_t> integers;  // Of the sizes of the weight.
  std::vector<uint16_t> halves;  // The bits of float16, without scales, in place of integers.
  std::vector<float> scales;     // One per channel, or [rows, groups] of a matrix.
  size_t axis = 0;
  int64_t group = 0;  // Elements of a row that share a scale; 0: the whole channel.
  int64_t low = -127, high = 127;

  bool is_empty() const { return integers.empty() && halves.empty(); }
};

// How the activations around a layer are treated.
enum class Activations : uint8_t {
  kFloat,    // Only the weight is stored as integers.
  kDynamic,  // The input's scale is chosen in each run.
  kStatic,   // Inputs and outputs have the scales that calibration chose.
};

struct LayerPlan {
  Activations activations = Activations::kStatic;
  QuantisedWeight weight;   // Empty for arithmetic.
  std::vector<float> bias;  // Replaces the layer's bias if it is not empty.
};

// Replaces the elements of constants by name: equalised and smoothed weights.
using NewConstants = std::map<std::string, std::vector<float>>;

struct QuantPlan {
  NewConstants constants;
  std::map<std::string, LayerPlan> layers;     // By QuantLayer::name.
  std::map<std::string, TensorScale> tensors;  // Activations by name.
};

// Writes the plan into a prepared graph: nodes of quantized_decomposed before and behind the layers
// that it lists, with constants for them.
void apply_plan(Graph& graph, const Sites& sites, const QuantPlan& plan);
// Only its new constants.
void replace_constants(Graph& graph, const NewConstants& constants);

// The elements of a float32 constant in row-major order.
std::vector<float> row_major_floats(const Value& constant);

}  // namespace taper::exir
