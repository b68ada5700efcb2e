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

BytePlanesShape shape_of(const XnnNode& node, Span<const XnnValue> values) {
  BytePlanesShape shape{window_shape(node, values)};
  shape.out_channels = values[node.output].shape.dims[3];
  shape.zero_point = static_cast<int8_t>(input(node, values).zero_point);
  return shape;
}

bool is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!node.is_needed || node.kind != find_kind(wire::NodeContent::Conv2d) ||
      !is_in_bytes(node, values) || node.as<wire::Convolution>().groups() != 1) {
    return false;
  }
  const BytePlanesShape s = shape_of(node, values);
  const auto terms = static_cast<uint64_t>(s.window_height * s.window_width * s.channels);
  return optimized::has_byte_planes(s) &&
         element_count(values[node.output].shape) * terms >= kLeastProducts;
}

uint64_t packed_bytes(const BytePlanesShape& shape) {
  const auto padded = static_cast<uint64_t>(optimized::byte_planes_padded(shape));
  return padded * (sizeof(float) + sizeof(int32_t)) +
         static_cast<uint64_t>(optimized::byte_planes_filter_size(shape));
}

}  // namespace

size_t BytePlanesStage::count(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  return count_of_planes(graph, uses, first, is_better);
}

uint64_t BytePlanesStage::extra_bytes(const XnnNode& convolution, Span<const XnnValue> values) {
  return packed_bytes(shape_of(convolution, values));
}

Status BytePlanesStage::build(uint32_t image, const XnnNode& convolution,
                              Span<const XnnValue> values, pthreadpool_t pool) {
  image_ = image;
  node_ = &convolution;
  pool_ = pool;
  shape_ = shape_of(convolution, values);
  const int64_t padded = optimized::byte_planes_padded(shape_);
  TAPER_TRY(make_filters(static_cast<int64_t>(packed_bytes(shape_) / sizeof(float)), packed_));
  float* const scales = packed_.get();
  for (int64_t o = 0; o < padded; ++o) {
    scales[o] = factor_of(convolution, values, std::min(o, shape_.out_channels - 1));
  }
  auto* const biases = static_cast<int32_t*>(static_cast<void*>(scales + padded));
  auto* const filter = static_cast<int8_t*>(static_cast<void*>(biases + padded));
  optimized::pack_byte_planes(shape_, filter_of(convolution, values), bias_of(convolution, values),
                              filter, biases);
  data_.filter = filter;
  data_.biases = biases;
  const XnnValue& result = values[convolution.output];
  data_.last.scales = scales;
  data_.last.zero_point = result.zero_point;
  data_.last.min = quantized_bound(convolution.min, result);
  data_.last.max = quantized_bound(convolution.max, result);
  return {};
}

Status BytePlanesStage::reshape(Span<const XnnValue> values) {
  shape_ = shape_of(*node_, values);
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
  data_.out = static_cast<int8_t*>(places[node_->output]);
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
