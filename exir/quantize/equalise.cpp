// Finds pairs of layers between which a scale can be moved.

#include "exir/quantize/balance.h"

namespace taper::exir {
namespace {

class PairFinder {
 public:
  PairFinder(const Graph& graph, const Sites& sites) : sites_(sites), uses_(uses_of(graph)) {}

  std::vector<BalanceSite> run() {
    for (const QuantLayer& maker : sites_.layers) {
      if (maker.weight == nullptr || maker.output == nullptr || maker.axis != 0) continue;
      if (!scales_through(maker)) continue;
      for (const QuantLayer& reader : sites_.layers) {
        if (reader.input == maker.output && reader.weight != nullptr) add(maker, reader);
      }
    }
    return std::move(sites_found_);
  }

 private:
  // Behind the maker is nothing, or a ReLU.
  static bool scales_through(const QuantLayer& maker) {
    const Value* result = maker.node->outputs[0];
    return maker.output == result || maker.output->producer->is("aten::relu");
  }

  bool is_own(const Value* constant) { return uses_[constant] == 1; }

  static size_t channels_of(const QuantLayer& reader) {
    if (reader.kind == LayerKind::kLinear || reader.axis == 1) {
      return static_cast<size_t>(reader.weight->type.sizes[1 - reader.axis].as_int());
    }
    const Argument& groups = reader.node->arg("groups");
    if (!groups.is_int()) return 0;
    return static_cast<size_t>(reader.weight->type.sizes[1].as_int() * groups.to_int());
  }

  void add(const QuantLayer& maker, const QuantLayer& reader) {
    if (uses_[maker.output] != 1) return;
    if (!is_own(maker.weight) || !is_own(reader.weight)) return;
    if (maker.bias != nullptr && !is_own(maker.bias)) return;
    if (maker.kind == LayerKind::kLinear && maker.weight->type.rank() != 2) return;
    const auto channels = static_cast<size_t>(maker.weight->type.sizes[0].as_int());
    if (channels == 0 || channels_of(reader) != channels) return;
    if ((maker.kind == LayerKind::kLinear) != (reader.kind == LayerKind::kLinear)) return;
    BalanceSite site{maker.output->name, {maker.weight}, {&reader}};
    if (maker.bias != nullptr) site.made_by.push_back(maker.bias);
    // Chains are balanced pair by pair; a weight that was multiplied may be divided later.
    sites_found_.push_back(site);
  }

  const Sites& sites_;
  std::map<const Value*, int> uses_;
  std::vector<BalanceSite> sites_found_;
};

}  // namespace

std::vector<BalanceSite> equalisation_sites(const Graph& graph, const Sites& sites) {
  return PairFinder(graph, sites).run();
}

}  // namespace taper::exir
