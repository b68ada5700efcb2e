// The phases of quantisation, in order.

#include "exir/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exir/frontend/refuse.h"
#include "exir/quantize/plan.h"
#include "exir/quantize/statistics.h"

namespace taper::exir {
namespace {

std::vector<int64_t> sizes_of(const Value& value) {
  std::vector<int64_t> sizes;
  for (const Sym& size : value.type.sizes) sizes.push_back(size.as_int());
  return sizes;
}

double decibels_of(double signal, double noise) {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

class Quantiser {
 public:
  explicit Quantiser(const QuantizeRequest& request) : request_(request) {}

  QuantizeResult run() {
    plan_weights();
    run_float_program();
    plan_tensors();
    QuantizeResult result;
    result.graph = quantised_graph({});
    result.file = write_pt2(request_.path, request_.model, *result.graph);
    const std::unique_ptr<Graph> runnable = quantised_graph({});
    report_.difference =
        difference(calibration_.outputs, outputs_of(*runnable, request_.samples.size(), "checking"),
                   request_.labels);
    report_.samples = request_.samples.size();
    result.report = std::move(report_);
    return result;
  }

 private:
  // The program anew, ready to be quantised.
  std::unique_ptr<Graph> fresh() const {
    ImportOptions options;
    options.model = request_.model;
    options.operators = request_.operators;
    std::unique_ptr<Graph> graph = import_pt2(request_.path, options).graph;
    prepare_for_quantisation(*graph);
    replace_constants(*graph, plan_.constants);
    return graph;
  }

  bool is_kept(const QuantLayer& layer) const {
    return std::any_of(request_.keep.begin(), request_.keep.end(), [&](const std::string& name) {
      return name == layer.name ||
             (layer.node->source != nullptr && layer.node->source->module_path == name);
    });
  }

  // All layers that may be quantised.
  Sites sites_of(const Graph& graph, const Enabled& enabled = {}) const {
    return find_sites(graph, [&](const QuantLayer& layer) {
      return !is_kept(layer) && layer.kind != LayerKind::kEmbedding && (!enabled || enabled(layer));
    });
  }

  void plan_weights() {
    const std::unique_ptr<Graph> graph = fresh();
    const Sites sites = sites_of(*graph);
    for (const QuantLayer& layer : sites.layers) {
      LayerReport said;
      said.name = layer.name;
      said.op = std::string(layer.node->target());
      if (layer.node->source != nullptr) {
        said.module_path = layer.node->source->module_path;
        said.source = layer.node->source->newest_frame();
      }
      LayerPlan& plan = plan_.layers[layer.name];
      plan.activations = request_.activations;
      if (layer.weight != nullptr) plan_weight(layer, plan, said);
      report_.layers.push_back(said);
    }
  }

  void plan_weight(const QuantLayer& layer, LayerPlan& plan, LayerReport& said) {
    const std::vector<int64_t> sizes = sizes_of(*layer.weight);
    const std::vector<float> elements = elements_of(*layer.weight);
    plan.weight = round_weight(elements, sizes, layer.axis, request_.weights);
    const std::vector<float> rounded = restored(plan.weight, sizes);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto value = static_cast<double>(elements[i]);
      const double error = static_cast<double>(rounded[i]) - value;
      signal += value * value;
      noise += error * error;
    }
    said.weight_decibels = decibels_of(signal, noise);
    said.float_bytes = elements.size() * sizeof(float);
    said.bytes = plan.weight.integers.size() + plan.weight.scales.size() * sizeof(float);
  }

  void run_float_program() {
    const std::unique_ptr<Graph> graph = fresh();
    const Sites sites = sites_of(*graph);
    CalibrationRequest calibration{request_.engine, request_.samples, false, {}};
    calibration.progress = [&](size_t done) { show("calibrating", done, request_.samples.size()); };
    calibration_ = calibrate(*graph, sites, calibration);
  }

  void plan_tensors() {
    if (request_.activations != Activations::kStatic) return;
    const std::unique_ptr<Graph> graph = fresh();
    const Sites sites = sites_of(*graph);
    for (const auto& group : sites.groups) {
      Histogram histogram;
      for (const Value* value : group) histogram.add(calibration_.values[value->name]);
      const ChosenRange chosen = choose_range(histogram, request_.ranges);
      for (const Value* value : group) plan_.tensors[value->name] = chosen.scale;
      TensorReport said;
      said.name = group[0]->name;
      said.scale = chosen.scale;
      said.method = chosen.method;
      said.low = histogram.min();
      said.high = histogram.max();
      if (histogram.min() == histogram.max()) {
        report_.notes.push_back("tensor " + in_quotes(said.name) + " is constant in all samples");
      }
      report_.tensors.push_back(said);
    }
  }

  std::unique_ptr<Graph> quantised_graph(const Enabled& enabled) const {
    std::unique_ptr<Graph> graph = fresh();
    const Sites sites = sites_of(*graph, enabled);
    apply_plan(*graph, sites, plan_);
    return graph;
  }

  Outputs outputs_of(Graph& graph, size_t samples, const char* what) const {
    const size_t count = graph.outputs.size();
    const std::unique_ptr<LoadedProgram> program = request_.engine(graph);
    Outputs outputs;
    for (size_t s = 0; s < samples; ++s) {
      program->run(request_.samples[s]);
      outputs.emplace_back();
      for (size_t i = 0; i < count; ++i) outputs.back().push_back(program->output(i));
      show(what, s + 1, samples);
    }
    return outputs;
  }

  void show(const char* what, size_t done, size_t total) const {
    if (request_.progress) request_.progress(what, done, total);
  }

  const QuantizeRequest& request_;
  QuantPlan plan_;
  Calibration calibration_;
  QuantizeReport report_;
};

}  // namespace

QuantizeResult quantize_program(const QuantizeRequest& request) { return Quantiser(request).run(); }

}  // namespace taper::exir
