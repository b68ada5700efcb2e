// Runs the float program on the samples and remembers what its tensors hold.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "exir/quantize/engine.h"
#include "exir/quantize/histogram.h"
#include "exir/quantize/sites.h"

namespace taper::exir {

// Of one dimension of a tensor, for each index.
struct ChannelStatistics {
  std::vector<double> sum;
  std::vector<float> largest;  // Absolute.
  double count = 0;            // Of values for each index.
  double mean(size_t channel) const { return count == 0 ? 0 : sum[channel] / count; }
};

struct Calibration {
  std::map<std::string, Histogram> values;            // By tensor.
  std::map<std::string, ChannelStatistics> channels;  // Of the inputs of layers, by tensor.
  // X^T X of the inputs of linear layers where `squares` was asked for: [columns, columns].
  std::map<std::string, std::vector<double>> squares;
  std::vector<std::vector<SampleTensor>> outputs;  // Of the program, for each sample.
};

struct CalibrationRequest {
  const Engine& engine;
  const std::vector<Sample>& samples;
  bool histograms = true;
  bool squares = false;
  std::function<void(size_t done)> progress;
};

// `graph`, which is used up, is the float program. Throws Failure naming a tensor that is not
// finite.
Calibration calibrate(Graph& graph, const Sites& sites, const CalibrationRequest& request);

// The channel dimension of what the layer reads.
size_t channel_dim(const QuantLayer& layer, size_t rank);

}  // namespace taper::exir
