// What the quantiser did and what it costs, for people and for programs.

#pragma once

#include <string>
#include <vector>

#include "exir/quantize/measure.h"
#include "exir/quantize/ranges.h"

namespace taper::exir {

struct LayerReport {
  std::string name, op, module_path, source;
  bool quantised = true;
  std::string format;   // "int8", "int4 in groups of 32"; empty for arithmetic.
  std::string why_not;  // If it stays in float.
  // Of its weight: as float32, as it is stored, and as it would be if it were quantised.
  size_t float_bytes = 0, bytes = 0, quantised_bytes = 0;
  // What its nodes take in one run, in float and if all layers are quantised, if it was measured.
  bool timed = false;
  double float_seconds = 0, quantised_seconds = 0;
  bool kept_by_drop = false;   // Left in float to limit the drop.
  double weight_decibels = 0;  // Signal to noise of the rounded weight.
  // Signal to noise at the outputs when only this layer is quantised, if it was measured.
  bool measured = false;
  double sensitivity = 0;
  double largest_error = 0;  // In the same run, as a part of the largest output.
  double agreement = 1;
};

struct TensorReport {
  std::string name;
  TensorScale scale;
  RangeMethod method = RangeMethod::kMinMax;
  double low = 0, high = 0;  // Seen.
  double decibels = 0;       // Signal to noise of the rounded values.
};

struct QuantizeReport {
  std::vector<LayerReport> layers;    // In execution order.
  std::vector<TensorReport> tensors;  // One for each group, named by its first.
  std::vector<std::string> methods;   // What was kept: "equalisation of 3 pairs: 31.0 -> 31.8 dB".
  std::vector<std::string> notes;
  Difference difference;  // Of the result, on all samples.
  bool labelled = false;
  size_t samples = 0;
  double float_seconds = 0, seconds = 0;  // Of one run, the median.
  // Of nodes that belong to no layer, such as conversions; 0 if layers were not timed.
  double float_rest = 0, quantised_rest = 0;
};

// Places of measured layers, the most sensitive first.
std::vector<size_t> by_sensitivity(const QuantizeReport& report);

}  // namespace taper::exir
