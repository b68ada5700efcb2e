// Finds a layer between two transposes and divides its places among threads; see
// plane_layer_stage.h.

#include "backends/xnnpack/runtime/stages/fused/plane_layer_stage.h"

#include <pthreadpool.h>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/turn.h"
#include "backends/xnnpack/runtime/stages/fused/fusion.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// With more channels XNNPACK's product makes up for the transposes.
constexpr uint32_t kMostChannels = 16;
// A stage costs about a microsecond; XNNPACK takes less for fewer places.
constexpr uint64_t kLeastPlaces = 512;
constexpr size_t kTaskPlaces = 2048;  // So many places of all planes stay in the cache.

bool is_layer(const XnnNode& node, Span<const XnnValue> values) {
  if (node.content_type != NodeContent::FullyConnected || !is_in_floats(node, values)) return false;
  const XnnValue& filter = input(node, values, 1);
  const bool is_small = filter.shape.rank == 2 && filter.shape.dims[0] <= kMostChannels &&
                        filter.shape.dims[1] <= kMostChannels;
  return is_small && has_constant_filter(node, values) && node.flags == 0;
}

}  // namespace

size_t PlaneLayerStage::count(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const Span<const XnnNode> nodes = graph.nodes();
  const Span<const XnnValue> values = graph.values();
  if (first + 3 > nodes.size()) return 0;
  const XnnNode &there = nodes[first], &layer = nodes[first + 1], &back = nodes[first + 2];
  const bool is_found = is_turn(there, false) && is_layer(layer, values) && is_turn(back, true) &&
                        layer.inputs[0] == there.output && back.inputs[0] == layer.output;
  const bool is_alone = is_found && uses[there.output] == 1 && uses[layer.output] == 1;
  if (!is_alone || input(there, values).data != nullptr) return 0;
  const Shape& planes = values[back.output].shape;
  const bool keeps_rank = planes.rank == input(there, values).shape.rank;
  return keeps_rank && area_of(planes) >= kLeastPlaces ? 3 : 0;
}

PlaneLayerStage::PlaneLayerStage(const Subgraph& graph, size_t first, pthreadpool_t pool)
    : pool_(pool),
      input_(graph.nodes()[first].inputs[0]),
      output_(graph.nodes()[first + 2].output) {
  const XnnNode& node = graph.nodes()[first + 1];
  const XnnValue& filter = input(node, graph.values(), 1);
  layer_.filter = floats_of(filter);
  if (node.inputs[2] != kNone) layer_.bias = floats_of(input(node, graph.values(), 2));
  layer_.outs = filter.shape.dims[0];
  layer_.ins = filter.shape.dims[1];
  layer_.min = node.min;
  layer_.max = node.max;
}

Status PlaneLayerStage::reshape(Span<const XnnValue> values) {
  const Shape& planes = values[output_].shape;
  images_ = planes.dims[0];
  layer_.area = static_cast<int64_t>(area_of(planes));
  return {};
}

Status PlaneLayerStage::bind(Span<void* const> places, void*) {
  layer_.in = static_cast<const float*>(places[input_]);
  layer_.out = static_cast<float*>(places[output_]);
  return {};
}

void PlaneLayerStage::run_places(void* stage, size_t image, size_t first, size_t, size_t places) {
  optimized::PlaneLayer layer = static_cast<const PlaneLayerStage*>(stage)->layer_;
  layer.in += static_cast<int64_t>(image) * layer.ins * layer.area;
  layer.out += static_cast<int64_t>(image) * layer.outs * layer.area;
  optimized::plane_layer(layer, static_cast<int64_t>(first), static_cast<int64_t>(places));
}

Status PlaneLayerStage::run() {
  pthreadpool_parallelize_2d_tile_2d(pool_, run_places, this, images_,
                                     static_cast<size_t>(layer_.area), 1, kTaskPlaces, 0);
  return {};
}

}  // namespace taper::xnnpack
