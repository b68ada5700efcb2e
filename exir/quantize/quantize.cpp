// The phases of quantisation, in order.

#include "exir/quantize/quantize.h"

#include <algorithm>

#include "exir/frontend/refuse.h"
#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

bool is_called(const QuantLayer& layer, const std::string& name) {
  return name == layer.name ||
         (layer.node->source != nullptr && layer.node->source->module_path == name);
}

// `problem` is said of the program: "is quantised already".
[[noreturn]] void refuse_program(const Session& session, std::string_view id,
                                 const std::string& problem) {
  refuse(id, in_quotes(session.request.path) + " " + problem);
}

// Marks what the user keeps in float. Throws Failure for a name that no layer has.
void keep_layers(Session& session, const Graph& graph) {
  const Sites sites = session.sites_of(graph);
  for (const QuantLayer& layer : sites.layers) {
    if (layer.kind == LayerKind::kEmbedding && !session.request.embeddings) {
      session.in_float[layer.name] = "embeddings stay in float unless asked for";
    }
  }
  for (const std::string& name : session.request.keep) {
    bool found = false;
    for (const QuantLayer& layer : sites.layers) {
      if (!is_called(layer, name)) continue;
      found = true;
      session.in_float[layer.name] = "kept as asked";
    }
    if (!found) {
      refuse_program(session, "no-such-layer",
                     "has no layer " + in_quotes(name) + " to keep in float");
    }
  }
}

void check(const Session& session, const Graph& graph) {
  const QuantizeRequest& request = session.request;
  if (request.activations == Activations::kStatic && request.samples.empty()) {
    refuse_program(session, "no-samples", "needs samples to find the ranges of activations");
  }
  const Sites sites = session.sites_of(graph);
  const bool any =
      std::any_of(sites.layers.begin(), sites.layers.end(), [&](const QuantLayer& layer) {
        return layer.weight != nullptr &&
               (layer.kind != LayerKind::kEmbedding || request.embeddings.has_value());
      });
  const bool has_integers =
      std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return node->target().starts_with("quantized_decomposed::") ||
               node->target().starts_with("torchao::");
      });
  if (!any && has_integers) {
    refuse_program(session, "nothing-to-quantise", "is quantised already");
  }
  if (!any) {
    refuse_program(
        session, "nothing-to-quantise",
        session.reach() == Reach::kEveryWeight
            ? "has no weight of float32"
            : "has no convolution or linear layer of float32 whose weight is a constant");
  }
}

void check_labels(const Session& session) {
  const std::vector<int64_t>& labels = session.request.labels;
  if (labels.empty()) return;
  const size_t rows = rows_of(session.calibration.outputs);
  if (rows != labels.size()) {
    refuse_program(session, "bad-labels",
                   "gives " + std::to_string(rows) + " rows for the samples, but there are " +
                       std::to_string(labels.size()) + " labels");
  }
}

}  // namespace

QuantizeResult quantize_program(const QuantizeRequest& request) {
  Session session(request);
  {
    const std::unique_ptr<Graph> graph = session.fresh();
    check(session, *graph);
    keep_layers(session, *graph);
  }
  calibrate(session);
  check_labels(session);
  plan_weights(session);
  plan_tensors(session);
  try_methods(session);
  time_layers(session);
  if (request.sensitivity || request.largest_drop) measure_layers(session);
  if (request.largest_drop && !request.samples.empty()) limit_drop(session);
  QuantizeResult result;
  result.graph = session.quantised();
  result.file = write_pt2(request.path, request.model, *result.graph);
  QuantizeReport& report = session.report;
  report.samples = request.samples.size();
  report.labelled = !request.labels.empty();
  if (!request.samples.empty()) {
    time_whole(session);
    const std::unique_ptr<Graph> graph = session.quantised();
    report.difference =
        session.compare(session.outputs_of(*graph, request.samples.size(), "checking"));
  }
  result.report = std::move(report);
  return result;
}

}  // namespace taper::exir
