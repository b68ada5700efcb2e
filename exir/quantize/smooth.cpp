// Finds normalisations whose weights can take over a part of the scale of linear layers.

#include <algorithm>

#include "exir/quantize/balance.h"

namespace taper::exir {
namespace {

bool is_norm(const Node& node) {
  return node.is("aten::layer_norm") || node.is("aten::native_layer_norm") ||
         node.is("aten::rms_norm");
}

bool is_constant(const Value* value, int uses) {
  return value->role == ValueRole::kConstant && value->type.dtype == ScalarType::kFloat &&
         value->type.rank() == 1 && uses == 1;
}

}  // namespace

std::vector<BalanceSite> smoothing_sites(const Graph& graph, const Sites& sites) {
  std::map<const Value*, int> uses = uses_of(graph);
  std::vector<BalanceSite> found;
  for (const auto& node : graph.nodes) {
    if (!is_norm(*node) || !node->arg("weight").is_value()) continue;
    BalanceSite site;
    site.tensor = node->outputs[0]->name;
    bool fits = true;
    for (const char* name : {"weight", "bias"}) {
      if (node->schema->find(name) < 0 || node->arg(name).is_none()) continue;
      Value* constant = node->arg(name).value();
      fits = fits && is_constant(constant, uses[constant]);
      site.made_by.push_back(constant);
    }
    for (const QuantLayer& layer : sites.layers) {
      const bool reads = layer.kind == LayerKind::kLinear && layer.input == node->outputs[0] &&
                         uses[layer.weight] == 1;
      if (reads) site.readers.push_back(&layer);
    }
    // Whoever else reads the tensor would see other numbers.
    fits = fits && !site.readers.empty() &&
           static_cast<size_t>(uses[node->outputs[0]]) == site.readers.size();
    if (fits) found.push_back(std::move(site));
  }
  return found;
}

}  // namespace taper::exir
