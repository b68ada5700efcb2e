// Packs the filters of a first convolution in int8 and divides its rows among threads; see
// byte_planes_stage.h.

#include "backends/xnnpack/runtime/stages/bytes/byte_planes_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/bytes/byte_layer.h"
#include "backends/xnnpack/runtime/stages/planes_stage.h"

namespace taper::xnnpack {
namespace {

using optimized::BytePlanesShape;

// The number of multiplications that take about as long as a stage costs.
constexpr uint64_t kLeastProducts = uint64_t{1} << 18;

BytePlanesShape shape_of(const XnnNode& node, Span<const XnnValue> values,
                         const MergedPixels& merged) {
  const bool is_merged = merged.before != nullptr;
  BytePlanesShape shape{is_merged ? plain_shape(merged, values) : window_shape(node, values)};
  shape.out_channels = values[is_merged ? merged.after->output : node.output].shape.dims[3];
  shape.zero_point = static_cast<int8_t>(input(node, values).zero_point);
  return shape;
}

// Whether it can be computed so, and is large enough to pay for a stage.
bool is_better(const BytePlanesShape& s) {
  const auto terms = static_cast<uint64_t>(s.window_height * s.window_width * s.channels);
  const auto results = static_cast<uint64_t>(s.images * s.out_height * s.out_width);
  return optimized::has_byte_planes(s) &&
         results * static_cast<uint64_t>(s.out_channels) * terms >= kLeastProducts;
}

bool is_better_convolution(const XnnNode& node, Span<const XnnValue> values) {
  return node.is_needed && node.kind == find_kind(wire::NodeContent::Conv2d) &&
         is_in_bytes(node, values) && node.as<wire::Convolution>().groups() == 1 &&
         is_better(shape_of(node, values, {}));
}

// As count_of_planes(), of a convolution of merged pixels.
size_t count_of_merged(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const bool is_moved = is_from_planes(graph, uses, first);
  const MergedPixels merged = find_merged_pixels(graph, uses, first + (is_moved ? 1 : 0));
  if (merged.before == nullptr) return 0;
  const BytePlanesShape shape = shape_of(*merged.convolution, graph.values(), merged);
  if (!is_moved && shape.channels != 1) return 0;
  if (is_moved && merged.before->inputs[0] != graph.nodes()[first].output) return 0;
  return is_better(shape) ? (is_moved ? 4 : 3) : 0;
}

// The parts of a stage of so many nodes.
struct Layer {
  const XnnNode* node;
  MergedPixels merged;
  BytePlanesShape shape;

  Layer(const Subgraph& graph, size_t first, size_t count) : node(&graph.nodes()[first]) {
    if (count > 2) merged = merged_pixels_at(graph, first + count - 3);
    node += count > 2 ? count - 2 : count - 1;
    shape = shape_of(*node, graph.values(), merged);
  }
};

uint64_t packed_bytes(const BytePlanesShape& shape) {
  const auto padded = static_cast<uint64_t>(optimized::byte_planes_padded(shape));
  return padded * (sizeof(float) + sizeof(int32_t)) +
         static_cast<uint64_t>(optimized::byte_planes_filter_size(shape));
}

}  // namespace

size_t BytePlanesStage::count(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const size_t plain = count_of_planes(graph, uses, first, is_better_convolution);
  return plain != 0 ? plain : count_of_merged(graph, uses, first);
}

uint64_t BytePlanesStage::extra_bytes(const Subgraph& graph, size_t first, size_t count) {
  return packed_bytes(Layer(graph, first, count).shape);
}

Status BytePlanesStage::build(const Subgraph& graph, size_t first, size_t count,
                              pthreadpool_t pool) {
  const Span<const XnnValue> values = graph.values();
  const Layer layer(graph, first, count);
  image_ = graph.nodes()[first].inputs[0];
  output_ = graph.nodes()[first + count - 1].output;
  node_ = layer.node;
  merged_ = layer.merged;
  shape_ = layer.shape;
  pool_ = pool;
  const int64_t padded = optimized::byte_planes_padded(shape_);
  TAPER_TRY(make_filters(static_cast<int64_t>(packed_bytes(shape_) / sizeof(float)), packed_));
  float* const scales = packed_.get();
  for (int64_t o = 0; o < padded; ++o) {
    scales[o] = factor_of(*node_, values, std::min(o, shape_.out_channels - 1));
  }
  auto* const biases = static_cast<int32_t*>(static_cast<void*>(scales + padded));
  auto* const filter = static_cast<int8_t*>(static_cast<void*>(biases + padded));
  std::unique_ptr<int8_t[]> plain;
  if (merged_.before != nullptr) {
    plain = plain_filter(merged_, values);
    TAPER_REQUIRE(plain != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the filters of a convolution");
  }
  optimized::pack_byte_planes(shape_, plain != nullptr ? plain.get() : filter_of(*node_, values),
                              bias_of(*node_, values), filter, biases);
  data_.filter = filter;
  data_.biases = biases;
  const XnnValue& result = values[node_->output];
  data_.last.scales = scales;
  data_.last.zero_point = result.zero_point;
  data_.last.min = quantized_bound(node_->min, result);
  data_.last.max = quantized_bound(node_->max, result);
  return {};
}

Status BytePlanesStage::reshape(Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(merged_.before == nullptr || are_merged(merged_, values),
                        "convolution: its image has a size whose pixels are not merged");
  shape_ = shape_of(*node_, values, merged_);
  return {};
}

uint64_t BytePlanesStage::panel_bytes() const {
  return WorkMemory::aligned(static_cast<uint64_t>(optimized::byte_planes_panel_size(shape_)));
}

uint64_t BytePlanesStage::scratch_bytes() const {
  return pthreadpool_get_threads_count(pool_) * panel_bytes();
}

Status BytePlanesStage::bind(Span<void* const> places, void* scratch) {
  data_.image = static_cast<const int8_t*>(places[image_]);
  data_.out = static_cast<int8_t*>(places[output_]);
  panels_ = static_cast<uint8_t*>(scratch);
  return {};
}

void BytePlanesStage::run_row(void* stage, size_t thread, size_t row) {
  const auto& self = *static_cast<BytePlanesStage*>(stage);
  optimized::byte_planes(self.shape_, self.data_, static_cast<int64_t>(row),
                         self.panels_ + thread * self.panel_bytes());
}

Status BytePlanesStage::run() {
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  pthreadpool_parallelize_1d_with_thread(pool_, run_row, this, rows, 0);
  return {};
}

}  // namespace taper::xnnpack
