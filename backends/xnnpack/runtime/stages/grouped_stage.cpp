// Packs the filters of a grouped convolution and divides it among threads; see grouped_stage.h.

#include "backends/xnnpack/runtime/stages/grouped_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

using optimized::GroupedShape;

// The number of multiplications that take about as long as a stage costs.
constexpr uint64_t kLeastProducts = uint64_t{1} << 16;
// The rows of results of a task, during which the filters stay in the cache, and of a task of one
// bundle of groups, which first copies what it reads.
constexpr size_t kTaskRows = 4;
constexpr int64_t kBundleRows = 8;
// The least width of rows for which a copy that is read only once or twice, since windows are
// several steps apart, is faster than XNNPACK's product for each group.
constexpr int64_t kLeastSteppedWidth = 20;

GroupedShape shape_of(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Convolution>();
  GroupedShape shape{window_shape(node, values)};
  shape.out_channels = values[node.output].shape.dims[3];
  shape.group_channels = t.group_input_channels();
  shape.group_out_channels = t.group_output_channels();
  return shape;
}

bool has_rows(const GroupedShape& s) {
  if (s.window_height * s.window_width == 1) return false;
  const bool is_stepped = s.step_down * s.step_across > 1;
  const bool is_narrow = optimized::has_grouped(s);
  if (is_stepped && !is_narrow && s.out_width < kLeastSteppedWidth) return false;
  return optimized::has_grouped_rows(s.group_channels, s.group_out_channels);
}

int64_t filter_size(const GroupedShape& s) {
  return has_rows(s) ? optimized::grouped_rows_filter_size(s) : optimized::grouped_filter_size(s);
}

int64_t blocks_of(const GroupedShape& s) { return (s.out_height + kBundleRows - 1) / kBundleRows; }

}  // namespace

bool GroupedStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  const bool has_kind = node.kind == find_kind(wire::NodeContent::Conv2d) || is_depthwise(node);
  if (!has_kind || !is_in_floats(node, values)) return false;
  const auto& t = node.as<wire::Convolution>();
  // Groups with one input and one output channel are left to XNNPACK or depthwise_stage.h.
  if (t.groups() < 2 || t.group_output_channels() == 1 || input(node, values).data != nullptr) {
    return false;
  }
  const GroupedShape shape = shape_of(node, values);
  if (!has_rows(shape) && !optimized::has_grouped(shape)) return false;
  const auto terms = static_cast<uint64_t>(shape.terms());
  return element_count(values[node.output].shape) * terms >= kLeastProducts;
}

uint64_t GroupedStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  return static_cast<uint64_t>(filter_size(shape_of(node, values))) * sizeof(float);
}

Status GroupedStage::build(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool) {
  node_ = &node;
  pool_ = pool;
  shape_ = shape_of(node, values);
  has_rows_ = has_rows(shape_);
  TAPER_TRY(make_filters(filter_size(shape_), filter_));
  const float* filter = floats_of(input(node, values, 1));
  const int64_t out_step = is_depthwise(node) ? 1 : shape_.terms();
  const int64_t term_step = is_depthwise(node) ? shape_.out_channels : 1;
  const auto pack = has_rows_ ? optimized::pack_grouped_rows : optimized::pack_grouped;
  pack(shape_, {filter, out_step, term_step}, filter_.get());
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

uint64_t GroupedStage::scratch_bytes() const {
  if (!has_rows_) return 0;
  const auto floats = static_cast<uint64_t>(optimized::grouped_rows_scratch(shape_, kBundleRows));
  return pthreadpool_get_threads_count(pool_) * floats * sizeof(float);
}

Status GroupedStage::bind(Span<void* const> places, void* scratch) {
  scratch_ = static_cast<float*>(scratch);
  data_.image = static_cast<const float*>(places[node_->inputs[0]]);
  data_.out = static_cast<float*>(places[node_->output]);
  return {};
}

void GroupedStage::run_rows(void* stage, size_t first, size_t rows) {
  const auto& self = *static_cast<GroupedStage*>(stage);
  optimized::grouped(self.shape_, self.data_, static_cast<int64_t>(first),
                     static_cast<int64_t>(rows));
}

void GroupedStage::run_bundle(void* stage, size_t thread, size_t block, size_t bundle) {
  const auto& self = *static_cast<GroupedStage*>(stage);
  const GroupedShape& s = self.shape_;
  const int64_t index = static_cast<int64_t>(block), blocks = blocks_of(s);
  optimized::GroupedPart part;
  part.bundle = static_cast<int64_t>(bundle);
  part.image = index / blocks;
  part.first = index % blocks * kBundleRows;
  part.rows = std::min(kBundleRows, s.out_height - part.first);
  const int64_t floats = optimized::grouped_rows_scratch(s, kBundleRows);
  optimized::grouped_rows(s, self.data_, part,
                          self.scratch_ + static_cast<int64_t>(thread) * floats);
}

Status GroupedStage::run() {
  if (has_rows_) {
    const auto bundles = static_cast<size_t>(optimized::grouped_rows_bundles(shape_));
    const auto blocks = static_cast<size_t>(shape_.images * blocks_of(shape_));
    pthreadpool_parallelize_2d_with_thread(pool_, run_bundle, this, blocks, bundles, 0);
    return {};
  }
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, kTaskRows, 0);
  return {};
}

}  // namespace taper::xnnpack
