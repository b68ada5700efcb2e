// Decides for each layer how its weight is stored, and rounds it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exir/frontend/refuse.h"
#include "exir/quantize/bias_correction.h"
#include "exir/quantize/feedback.h"
#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

constexpr int64_t kWidestFeedback = 4096;  // Columns: the matrix of squares takes 8 bytes each.

std::string format_text(const WeightFormat& format) {
  if (format.bits == kHalfBits) return "float16";
  const std::string bits = "int" + std::to_string(format.bits);
  return format.group == 0 ? bits : bits + " in groups of " + std::to_string(format.group);
}

double decibels_of(const std::vector<float>& exact, const std::vector<float>& rounded) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const auto value = static_cast<double>(exact[i]);
    const double error = static_cast<double>(rounded[i]) - value;
    signal += value * value;
    noise += error * error;
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

float largest_of(const std::vector<float>& elements) {
  float largest = 0;
  for (const float element : elements) largest = std::max(largest, std::fabs(element));
  return largest;
}

// The format of a layer's weight: 4 bits are for matrices whose rows the groups divide.
WeightFormat format_of(const QuantLayer& layer, const QuantizeRequest& request,
                       const std::vector<int64_t>& sizes, std::string& note) {
  WeightFormat format = request.weights;
  if (layer.kind == LayerKind::kEmbedding) format = *request.embeddings;
  if (format.bits >= 8) return format;
  const bool has_rows = layer.kind == LayerKind::kLinear || layer.kind == LayerKind::kEmbedding;
  const bool matrix = has_rows && sizes.size() == 2 && layer.axis == 0;
  if (matrix && (format.group == 0 || sizes[1] % format.group == 0)) return format;
  note = "layer " + in_quotes(layer.name) + " has 8 bits: " +
         (matrix ? "groups of " + std::to_string(format.group) + " do not divide its rows of " +
                       std::to_string(sizes[1])
                 : "only rows of linear layers and embeddings are stored in 4");
  return {};
}

class WeightPlanner {
 public:
  explicit WeightPlanner(Session& session) : session_(session) {}

  void run() {
    session_.plan.layers.clear();
    session_.report.layers.clear();
    const std::unique_ptr<Graph> graph = session_.fresh();
    uses_ = uses_of(*graph);
    // Also those that stay in float, for the report.
    const Sites sites = find_sites(*graph, {}, session_.reach());
    size_t done = 0;
    for (const QuantLayer& layer : sites.layers) {
      if (layer.weight != nullptr || session_.request.activations == Activations::kStatic) {
        plan_layer(layer);
      }
      session_.show("rounding weights", ++done, sites.layers.size());
    }
  }

 private:
  void plan_layer(const QuantLayer& layer) {
    LayerReport said;
    said.name = layer.name;
    said.op = std::string(layer.node->target());
    if (layer.node->source != nullptr) {
      said.module_path = layer.node->source->module_path;
      said.source = layer.node->source->newest_frame();
    }
    LayerPlan plan;
    plan.activations = session_.request.activations;
    // Only linear layers choose a scale in each run.
    if (layer.kind == LayerKind::kEmbedding || layer.kind == LayerKind::kStored ||
        (plan.activations == Activations::kDynamic && layer.kind == LayerKind::kConvolution)) {
      plan.activations = Activations::kFloat;
    }
    if (session_.in_float.count(layer.name) == 0 && layer.weight != nullptr) {
      plan_weight(layer, plan, said);
    }
    const auto reason = session_.in_float.find(layer.name);
    if (reason == session_.in_float.end()) {
      session_.plan.layers[layer.name] = std::move(plan);
    } else {
      said.quantised = false;
      said.why_not = reason->second;
    }
    session_.report.layers.push_back(std::move(said));
  }

  void plan_weight(const QuantLayer& layer, LayerPlan& plan, LayerReport& said) {
    std::vector<int64_t> sizes;
    for (const Sym& size : layer.weight->type.sizes) sizes.push_back(size.as_int());
    const std::vector<float> elements = row_major_floats(*layer.weight);
    said.float_bytes = said.bytes = said.quantised_bytes = elements.size() * sizeof(float);
    const bool finite = std::all_of(elements.begin(), elements.end(),
                                    [](float value) { return std::isfinite(value); });
    if (!finite) {
      session_.in_float[layer.name] = "its weight holds NaN or infinity";
      return;
    }
    std::string note;
    const WeightFormat format = format_of(layer, session_.request, sizes, note);
    if (!note.empty()) session_.report.notes.push_back(note);
    if (format.bits == kHalfBits && largest_of(elements) > kLargestHalf) {
      session_.in_float[layer.name] = "its weight exceeds float16's largest number, 65504";
      return;
    }
    plan.weight = rounded(layer, elements, sizes, format);
    const std::vector<float> now = restored(plan.weight, sizes);
    said.format = format_text(format);
    said.weight_decibels = decibels_of(elements, now);
    said.bytes = elements.size() * static_cast<size_t>(format.bits) / 8 +
                 plan.weight.scales.size() * sizeof(float);
    said.quantised_bytes = said.bytes;
    if (format.bits == kHalfBits || layer.input == nullptr || !session_.request.correct_bias)
      return;
    const auto input = session_.calibration.channels.find(layer.input->name);
    if (input == session_.calibration.channels.end()) return;
    std::vector<float> bias;
    if (layer.bias != nullptr) bias = row_major_floats(*layer.bias);
    plan.bias = corrected_bias(layer, elements, now, bias, input->second);
  }

  QuantisedWeight rounded(const QuantLayer& layer, const std::vector<float>& elements,
                          const std::vector<int64_t>& sizes, const WeightFormat& format) const {
    // Layers that share a weight share its integers.
    const auto squares = layer.input == nullptr
                             ? session_.calibration.squares.end()
                             : session_.calibration.squares.find(layer.input->name);
    const bool own = uses_.at(layer.weight) == 1;
    if (squares == session_.calibration.squares.end() || format.bits >= 8 || !own ||
        layer.kind != LayerKind::kLinear || layer.axis != 0 || sizes[1] > kWidestFeedback) {
      return round_weight(elements, sizes, layer.axis, format);
    }
    return round_with_feedback(elements, static_cast<size_t>(sizes[0]),
                               static_cast<size_t>(sizes[1]), squares->second, format);
  }

  Session& session_;
  std::map<const Value*, int> uses_;
};

}  // namespace

void plan_weights(Session& session) { WeightPlanner(session).run(); }

}  // namespace taper::exir
