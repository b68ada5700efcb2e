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
  std::string format;                 // "int8", "int4 in groups of 32"; empty for arithmetic.
  std::string why_not;                // If it stays in float.
  size_t float_bytes = 0, bytes = 0;  // Of its weight.
  double weight_decibels = 0;         // Signal to noise of the rounded weight.
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
};

// Places of measured layers, the most sensitive first.
std::vector<size_t> by_sensitivity(const QuantizeReport& report);

}  // namespace taper::exir
