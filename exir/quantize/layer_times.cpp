// Times of nodes, added up by the layers that they belong to: a layer has its own node and the
// activation behind it. What is left belongs to no layer: pools, norms, and conversions between
// floats and integers.

#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

// Where times go: one sum for each layer by its name, and one for the rest.
struct LayerSums {
  std::map<std::string, double> layers;
  double rest = 0;
};

// The layers of nodes, both by name. Nodes that are made of others keep a name of theirs.
using LayerNames = std::map<std::string, std::string>;

LayerNames layer_names(const Session& session, const Graph& graph) {
  LayerNames names;
  for (const QuantLayer& layer : find_sites(graph, {}, session.reach()).layers) {
    if (layer.kind == LayerKind::kStored) continue;
    names[layer.node->name] = layer.name;
    const Value* output = layer.output;
    if (output != nullptr && output->producer != nullptr) {
      names[output->producer->name] = layer.name;
    }
  }
  return names;
}

// `graph` is used up.
LayerSums sums_of(const Session& session, Graph& graph, const LayerNames& layer_of) {
  LayerSums sums;
  const RunTimes times = session.request.timed_engine(graph)->times(session.request.samples[0]);
  for (const auto& [node, seconds] : times.nodes) {
    const auto found = layer_of.find(node);
    (found == layer_of.end() ? sums.rest : sums.layers[found->second]) += seconds;
  }
  return sums;
}

double seconds_at(const LayerSums& sums, const std::string& layer) {
  const auto found = sums.layers.find(layer);
  return found == sums.layers.end() ? 0 : found->second;
}

double whole_time(const Session& session, Graph& graph) {
  return session.request.engine(graph)->times(session.request.samples[0]).whole;
}

}  // namespace

void time_layers(Session& session) {
  if (session.request.samples.empty() || !session.request.timed_engine) return;
  session.show("timing layers", 0, 2);
  std::unique_ptr<Graph> graph = session.fresh();
  const LayerNames names = layer_names(session, *graph);
  const LayerSums before = sums_of(session, *graph, names);
  session.show("timing layers", 1, 2);
  graph = session.quantised();
  const LayerSums after = sums_of(session, *graph, names);
  session.show("timing layers", 2, 2);
  session.report.float_rest = before.rest;
  session.report.quantised_rest = after.rest;
  for (LayerReport& layer : session.report.layers) {
    // Without times of its own, it was computed together with another node.
    layer.timed = before.layers.count(layer.name) != 0 || after.layers.count(layer.name) != 0;
    layer.float_seconds = seconds_at(before, layer.name);
    layer.quantised_seconds = seconds_at(after, layer.name);
  }
}

void time_whole(Session& session) {
  std::unique_ptr<Graph> graph = session.fresh();
  session.report.float_seconds = whole_time(session, *graph);
  graph = session.quantised();
  session.report.seconds = whole_time(session, *graph);
}

}  // namespace taper::exir
