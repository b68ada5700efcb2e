// The quantiser in one call: an exported program and samples in, a quantised program and a report
// out. README.md says which file does what.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exir/frontend/import.h"
#include "exir/quantize/report.h"
#include "exir/quantize/weights.h"
#include "exir/writer/pt2_writer.h"

namespace taper::exir {

struct QuantizeRequest {
  std::string path;   // Of a .pt2.
  std::string model;  // Of an archive with several; empty: the only one.
  Operators operators = builtin_operators();
  Engine engine;
  Engine timed_engine;          // One whose programs tell of nodes; may be empty.
  std::vector<Sample> samples;  // May be empty unless activations are static.
  std::vector<int64_t> labels;  // One class for each row of the first output, or none.

  Activations activations = Activations::kStatic;
  WeightFormat weights;
  std::optional<WeightFormat> embeddings;  // Without it they stay in float.
  std::optional<RangeMethod> ranges;       // Without it: the best for each tensor.
  // Methods that are tried, and kept if the outputs come closer to those of the float program.
  bool equalise = true, smooth = true, correct_bias = true;
  bool feedback = true;                // Of rounding errors, at 4 bits.
  bool sensitivity = false;            // Measure each layer by itself.
  std::optional<double> largest_drop;  // Of agreement, or of accuracy with labels.
  std::vector<std::string> keep;       // Layers to leave in float, by name or path of a module.

  // Called as work proceeds; may be empty.
  std::function<void(const char* what, size_t done, size_t total)> progress;
};

struct QuantizeResult {
  std::unique_ptr<Graph> graph;  // Before `file`, which points into it.
  Pt2File file;
  QuantizeReport report;
};

// Throws Failure.
QuantizeResult quantize_program(const QuantizeRequest& request);

}  // namespace taper::exir
