// Imports, applies, runs.

#include "exir/quantize/session.h"

namespace taper::exir {

std::unique_ptr<Graph> Session::fresh() const {
  ImportOptions options;
  options.model = request.model;
  options.operators = request.operators;
  std::unique_ptr<Graph> graph = import_pt2(request.path, options).graph;
  prepare_for_quantisation(*graph);
  replace_constants(*graph, plan.constants);
  return graph;
}

Sites Session::sites_of(const Graph& graph, const Enabled& enabled) const {
  const auto wanted = [&](const QuantLayer& layer) {
    return in_float.count(layer.name) == 0 && (!enabled || enabled(layer));
  };
  return find_sites(graph, wanted, reach());
}

Reach Session::reach() const {
  return request.weights.bits == kHalfBits ? Reach::kEveryWeight : Reach::kLayers;
}

std::unique_ptr<Graph> Session::quantised(const Enabled& enabled) const {
  std::unique_ptr<Graph> graph = fresh();
  const Sites sites = sites_of(*graph, enabled);
  apply_plan(*graph, sites, plan);
  return graph;
}

Outputs Session::outputs_of(Graph& graph, size_t samples, const char* what) const {
  const size_t count = graph.outputs.size();
  const std::unique_ptr<LoadedProgram> program = request.engine(graph);
  Outputs outputs;
  for (size_t s = 0; s < samples; ++s) {
    program->run(request.samples[s]);
    outputs.emplace_back();
    for (size_t i = 0; i < count; ++i) outputs.back().push_back(program->output(i));
    show(what, s + 1, samples);
  }
  return outputs;
}

Difference Session::compare(const Outputs& changed) const {
  return difference(calibration.outputs, changed, request.labels);
}

void Session::show(const char* what, size_t done, size_t total) const {
  if (request.progress) request.progress(what, done, total);
}

void calibrate(Session& session) {
  const QuantizeRequest& request = session.request;
  if (request.samples.empty()) return;
  const std::unique_ptr<Graph> graph = session.fresh();
  const Sites sites = session.sites_of(*graph);
  CalibrationRequest asked{request.engine, request.samples, true, false, {}};
  asked.histograms = request.activations == Activations::kStatic;
  asked.squares = request.feedback && request.weights.bits < 8;
  asked.progress = [&](size_t done) { session.show("calibrating", done, request.samples.size()); };
  session.calibration = calibrate(*graph, sites, asked);
}

}  // namespace taper::exir
