// Makes the observed tensors outputs of the program, and looks at them after each run.

#include "exir/quantize/statistics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "exir/frontend/refuse.h"

namespace taper::exir {
namespace {

std::span<const float> floats_of(const SampleTensor& tensor) {
  return {reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

void add_channels(const SampleTensor& tensor, size_t dim, ChannelStatistics& out) {
  const std::span<const float> values = floats_of(tensor);
  const auto channels = static_cast<size_t>(tensor.sizes[dim]);
  size_t inner = 1;
  for (size_t d = dim + 1; d < tensor.sizes.size(); ++d) {
    inner *= static_cast<size_t>(tensor.sizes[d]);
  }
  out.sum.resize(channels, 0);
  out.largest.resize(channels, 0);
  if (channels == 0 || inner == 0) return;
  for (size_t at = 0, channel = 0; at < values.size(); at += inner) {
    double sum = 0;
    float largest = out.largest[channel];
    for (size_t i = at; i < at + inner; ++i) {
      sum += static_cast<double>(values[i]);
      largest = std::max(largest, std::fabs(values[i]));
    }
    out.sum[channel] += sum;
    out.largest[channel] = largest;
    if (++channel == channels) channel = 0;
  }
  out.count += static_cast<double>(values.size()) / static_cast<double>(channels);
}

void add_squares(const SampleTensor& tensor, std::vector<double>& out) {
  const std::span<const float> values = floats_of(tensor);
  const auto columns = static_cast<size_t>(tensor.sizes.back());
  out.resize(columns * columns, 0);
  if (columns == 0) return;
  for (size_t row = 0; row + columns <= values.size(); row += columns) {
    for (size_t i = 0; i < columns; ++i) {
      const auto x = static_cast<double>(values[row + i]);
      if (x == 0) continue;
      double* to = &out[i * columns];
      for (size_t j = i; j < columns; ++j) to[j] += x * static_cast<double>(values[row + j]);
    }
  }
}

// Where a tensor is found after a run.
struct Tap {
  std::string name;
  bool is_input = false;
  size_t place = 0;  // Of inputs that are tensors, or of outputs.
  bool histogram = false;
  int channel_dim = -1;  // Negative: no statistics of channels.
  bool squares = false;
};

std::vector<Tap> taps_of(Graph& graph, const Sites& sites, const CalibrationRequest& request) {
  std::vector<Tap> taps;
  std::map<const Value*, size_t> known;
  const auto tap = [&](Value* value) -> Tap& {
    const auto [at, is_new] = known.emplace(value, taps.size());
    if (!is_new) return taps[at->second];
    Tap made;
    made.name = value->name;
    made.is_input = value->role == ValueRole::kInput;
    if (made.is_input) {
      for (const Argument& input : graph.inputs) {
        if (!input.is_value() || input.value()->kind != ValueKind::kTensor) continue;
        if (input.value() == value) break;
        ++made.place;
      }
    } else {
      const auto found = std::find_if(
          graph.outputs.begin(), graph.outputs.end(),
          [&](const Argument& output) { return output.is_value() && output.value() == value; });
      made.place = static_cast<size_t>(found - graph.outputs.begin());
      if (found == graph.outputs.end()) graph.outputs.emplace_back(value);
    }
    taps.push_back(made);
    return taps.back();
  };
  for (const auto& group : sites.groups) {
    for (Value* value : group) {
      if (request.histograms) tap(value).histogram = true;
    }
  }
  for (const QuantLayer& layer : sites.layers) {
    if (layer.input == nullptr) continue;
    Tap& input = tap(layer.input);
    input.channel_dim = static_cast<int>(channel_dim(layer, layer.input->type.rank()));
    input.squares = input.squares || (request.squares && layer.kind == LayerKind::kLinear);
  }
  return taps;
}

}  // namespace

size_t channel_dim(const QuantLayer& layer, size_t rank) {
  if (layer.kind != LayerKind::kConvolution) return rank - 1;
  return rank == layer.weight->type.rank() ? 1 : 0;
}

Calibration calibrate(Graph& graph, const Sites& sites, const CalibrationRequest& request) {
  Calibration out;
  const size_t outputs = graph.outputs.size();
  const std::vector<Tap> taps = taps_of(graph, sites, request);
  const std::unique_ptr<LoadedProgram> program = request.engine(graph);
  for (size_t s = 0; s < request.samples.size(); ++s) {
    const Sample& sample = request.samples[s];
    program->run(sample);
    out.outputs.emplace_back();
    for (size_t i = 0; i < outputs; ++i) out.outputs.back().push_back(program->output(i));
    for (const Tap& tap : taps) {
      const SampleTensor seen = tap.is_input ? sample[tap.place] : program->output(tap.place);
      if (tap.histogram && !out.values[tap.name].add(floats_of(seen))) {
        refuse("not-finite", "tensor " + in_quotes(tap.name) + " holds NaN or infinity in sample " +
                                 std::to_string(s));
      }
      if (tap.channel_dim >= 0) {
        add_channels(seen, static_cast<size_t>(tap.channel_dim), out.channels[tap.name]);
      }
      if (tap.squares) add_squares(seen, out.squares[tap.name]);
    }
    if (request.progress) request.progress(s + 1);
  }
  for (auto& [name, squares] : out.squares) {  // Only one half was summed.
    const auto columns = static_cast<size_t>(std::sqrt(static_cast<double>(squares.size())) + 0.5);
    for (size_t i = 0; i < columns; ++i) {
      for (size_t j = 0; j < i; ++j) squares[i * columns + j] = squares[j * columns + i];
    }
  }
  return out;
}

}  // namespace taper::exir
