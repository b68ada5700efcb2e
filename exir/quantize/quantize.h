// The quantiser in one call: an exported program and samples in, a quantised program and a report
// out. README.md says which file does what.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exir/frontend/import.h"
#include "exir/quantize/measure.h"
#include "exir/quantize/ranges.h"
#include "exir/quantize/weights.h"
#include "exir/writer/pt2_writer.h"

namespace taper::exir {

struct QuantizeRequest {
  std::string path;   // Of a .pt2.
  std::string model;  // Of an archive with several; empty: the only one.
  Operators operators = builtin_operators();
  Engine engine;
  std::vector<Sample> samples;
  std::vector<int64_t> labels;  // One class for each row of the first output, or none.

  Activations activations = Activations::kStatic;
  WeightFormat weights;
  std::optional<WeightFormat> embeddings;  // Without it they stay in float.
  std::optional<RangeMethod> ranges;       // Without it: the best for each tensor.
  bool correct_bias = true;
  bool equalise = true;
  bool smooth = true;
  bool feedback = true;                // Of rounding errors, at 4 bits.
  bool sensitivity = false;            // Measure each layer by itself.
  std::optional<double> largest_drop;  // Of agreement, or of accuracy with labels.
  std::vector<std::string> keep;       // Layers to leave in float, by name or source path.

  // Called as work proceeds; may be empty.
  std::function<void(const char* what, size_t done, size_t total)> progress;
};

struct LayerReport {
  std::string name, op, module_path, source;
  bool quantised = true;
  std::string why_not;                // If it stays in float.
  size_t float_bytes = 0, bytes = 0;  // Of its weight.
  double weight_decibels = 0;         // Of the rounded weight; infinite for arithmetic.
  double sensitivity = 0;             // Decibels at the outputs when only this layer is quantised.
  bool measured = false;              // Whether there is a sensitivity.
};

struct TensorReport {
  std::string name;
  TensorScale scale;
  RangeMethod method = RangeMethod::kMinMax;
  double low = 0, high = 0;  // Seen.
  double decibels = 0;       // Of the rounded values.
};

struct QuantizeReport {
  std::vector<LayerReport> layers;    // In execution order.
  std::vector<TensorReport> tensors;  // One for each group, named by its first.
  Difference difference;              // Of the result, on all samples.
  std::vector<std::string> notes;
  size_t samples = 0;
};

struct QuantizeResult {
  Pt2File file;
  QuantizeReport report;
  std::unique_ptr<Graph> graph;  // Into which the file points.
};

// Throws Failure.
QuantizeResult quantize_program(const QuantizeRequest& request);

}  // namespace taper::exir
