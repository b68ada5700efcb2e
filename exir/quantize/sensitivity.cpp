// Quantises one layer at a time and looks at the outputs; then leaves as many of the most sensitive
// layers in float as it takes.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

constexpr size_t kMeasured = 16;  // Samples.

Difference whole_difference(const Session& session) {
  const std::unique_ptr<Graph> graph = session.quantised();
  return session.compare(
      session.outputs_of(*graph, session.request.samples.size(), "limiting the drop"));
}

}  // namespace

std::vector<size_t> by_sensitivity(const QuantizeReport& report) {
  std::vector<size_t> places;
  for (size_t i = 0; i < report.layers.size(); ++i) {
    if (report.layers[i].measured) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    return report.layers[a].sensitivity < report.layers[b].sensitivity;
  });
  return places;
}

void measure_layers(Session& session) {
  const size_t samples = std::min(kMeasured, session.request.samples.size());
  if (samples == 0) return;
  size_t done = 0;
  for (LayerReport& layer : session.report.layers) {
    session.show("measuring layers", ++done, session.report.layers.size());
    if (!layer.quantised) continue;
    const bool arithmetic = layer.format.empty();
    const std::unique_ptr<Graph> graph =
        session.quantised([&](const QuantLayer& each) { return each.name == layer.name; });
    if (arithmetic) continue;  // Quantised only where its inputs are.
    const Difference found = session.compare(session.outputs_of(*graph, samples, ""));
    layer.measured = true;
    layer.sensitivity = found.decibels();
    layer.agreement = found.agreement;
    if (!found.outputs.empty() && found.outputs[0].scale > 0) {
      layer.largest_error = found.outputs[0].largest / found.outputs[0].scale;
    }
  }
}

void limit_drop(Session& session) {
  const double limit = *session.request.largest_drop;
  const bool labelled = !session.request.labels.empty();
  const std::map<std::string, std::string> always = session.in_float;
  const std::vector<size_t> order = by_sensitivity(session.report);
  const auto leave = [&](size_t count) {
    session.in_float = always;
    for (size_t i = 0; i < count; ++i) {
      session.in_float[session.report.layers[order[i]].name] = "sensitive";
    }
    return whole_difference(session).drop(labelled);
  };
  // The smallest number that is enough, if more layers never make it worse.
  size_t low = 0, high = order.size();
  if (leave(0) <= limit) {
    high = 0;
  } else {
    while (low + 1 < high) {
      const size_t middle = low + (high - low) / 2;
      (leave(middle) <= limit ? high : low) = middle;
    }
  }
  session.in_float = always;
  for (size_t i = 0; i < high; ++i) {
    LayerReport& layer = session.report.layers[order[i]];
    layer.quantised = false;
    layer.why_not = "number " + std::to_string(i + 1) + " in sensitivity";
    session.in_float[layer.name] = layer.why_not;
    layer.bytes = layer.float_bytes;
    layer.kept_by_drop = true;
  }
}

}  // namespace taper::exir
