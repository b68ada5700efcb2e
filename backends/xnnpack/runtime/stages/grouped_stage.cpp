// Packs the filters of a grouped convolution and divides it among threads; see grouped_stage.h.

#include "backends/xnnpack/runtime/stages/grouped_stage.h"

#include <pthreadpool.h>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

using optimized::GroupedShape;

// The number of multiplications that take about as long as a stage costs.
constexpr uint64_t kLeastProducts = uint64_t{1} << 16;
// The rows of results of a task, during which the filters stay in the cache.
constexpr size_t kTaskRows = 4;

// A depthwise filter has the output channels last, and each group has one channel.
bool is_depthwise(const XnnNode& node) {
  return node.kind == find_kind(wire::NodeContent::DepthwiseConv2d);
}

GroupedShape shape_of(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Convolution>();
  GroupedShape shape{window_shape(node, values)};
  shape.out_channels = values[node.output].shape.dims[3];
  shape.group_channels = t.group_input_channels();
  shape.group_out_channels = t.group_output_channels();
  return shape;
}

}  // namespace

bool GroupedStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  const bool has_kind = node.kind == find_kind(wire::NodeContent::Conv2d) || is_depthwise(node);
  if (!has_kind || !is_in_floats(node, values)) return false;
  const auto& t = node.as<wire::Convolution>();
  // Groups with one input and one output channel are left to XNNPACK or depthwise_stage.h.
  if (t.groups() < 2 || t.group_output_channels() == 1 || input(node, values).data != nullptr ||
      !optimized::has_grouped(t.group_input_channels(), t.group_output_channels())) {
    return false;
  }
  const auto terms = static_cast<uint64_t>(shape_of(node, values).terms());
  return element_count(values[node.output].shape) * terms >= kLeastProducts;
}

uint64_t GroupedStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const GroupedShape shape = shape_of(node, values);
  return static_cast<uint64_t>(optimized::grouped_filter_size(shape)) * sizeof(float);
}

Status GroupedStage::build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool) {
  node_ = &node;
  pool_ = pool;
  shape_ = shape_of(node, values);
  TAPER_TRY(make_filters(optimized::grouped_filter_size(shape_), filter_));
  const float* filter = floats_of(input(node, values, 1));
  const int64_t out_step = is_depthwise(node) ? 1 : shape_.terms();
  const int64_t term_step = is_depthwise(node) ? shape_.out_channels : 1;
  optimized::pack_grouped(shape_, {filter, out_step, term_step}, filter_.get());
  data_.filter = filter_.get();
  if (node.inputs[2] != kNone) data_.bias = floats_of(input(node, values, 2));
  data_.min = node.min;
  data_.max = node.max;
  return {};
}

Status GroupedStage::reshape(Span<const XnnValue> values) {
  shape_ = shape_of(*node_, values);
  return {};
}

Status GroupedStage::bind(Span<void* const> places, void*) {
  data_.image = static_cast<const float*>(places[node_->inputs[0]]);
  data_.out = static_cast<float*>(places[node_->output]);
  return {};
}

void GroupedStage::run_rows(void* stage, size_t first, size_t rows) {
  const auto& self = *static_cast<GroupedStage*>(stage);
  optimized::grouped(self.shape_, self.data_, static_cast<int64_t>(first),
                     static_cast<int64_t>(rows));
}

Status GroupedStage::run() {
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, kTaskRows, 0);
  return {};
}

}  // namespace taper::xnnpack
