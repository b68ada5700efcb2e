// Divides a depthwise convolution among threads; see depthwise_stage.h.

#include "backends/xnnpack/runtime/stages/depthwise_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/depthwise_windows.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

// The bytes of the image rows that stay in the cache while all blocks of channels are computed, and
// the least rows of a task.
constexpr int64_t kBandBytes = int64_t{512} << 10;
constexpr int64_t kLeastRows = 4;

}  // namespace

bool DepthwiseStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (node.kind != find_kind(wire::NodeContent::DepthwiseConv2d)) return false;
  if (!is_in_floats(node, values)) return false;
  const auto& t = node.as<wire::Convolution>();
  const DepthwiseWindow window = {t.kernel_height(),        t.kernel_width(),    t.stride_height(),
                                  t.stride_width(),         t.dilation_height(), t.dilation_width(),
                                  t.group_output_channels()};
  return input(node, values).data == nullptr &&
         is_depthwise_stage(window, element_count(values[node.output].shape)) &&
         optimized::has_depthwise(window.height, window.width, window.step_across);
}

DepthwiseStage::DepthwiseStage(const XnnNode& node, Span<const XnnValue> values, bool is_swish,
                               uint32_t output, pthreadpool_t pool)
    : node_(node), output_(output), pool_(pool) {
  data_.filter = floats_of(input(node, values, 1));
  if (node.inputs[2] != kNone) data_.bias = floats_of(input(node, values, 2));
  data_.is_swish = is_swish;
  data_.min = node.min;
  data_.max = node.max;
}

Status DepthwiseStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(node_, values);
  const int64_t row_bytes =
      shape_.step_down * shape_.width * shape_.channels * static_cast<int64_t>(sizeof(float));
  const int64_t rows = shape_.images * shape_.out_height;
  int64_t band = std::max(kLeastRows, kBandBytes / std::max(row_bytes, int64_t{1}));
  const auto threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  if (threads > 1) band = std::min(band, std::max(kLeastRows, rows / (2 * threads)));
  rows_per_task_ = static_cast<size_t>(band);
  return {};
}

Status DepthwiseStage::bind(Span<void* const> places, void*) {
  data_.image = static_cast<const float*>(places[node_.inputs[0]]);
  data_.out = static_cast<float*>(places[output_]);
  return {};
}

void DepthwiseStage::run_part(void* stage, size_t row, size_t block, size_t rows, size_t blocks) {
  const auto& self = *static_cast<DepthwiseStage*>(stage);
  const int64_t step = optimized::depthwise_channels();
  const int64_t first = static_cast<int64_t>(block) * step;
  const int64_t channels =
      std::min(static_cast<int64_t>(blocks) * step, self.shape_.channels - first);
  optimized::depthwise(self.shape_, self.data_,
                       {static_cast<int64_t>(row), static_cast<int64_t>(rows), first, channels});
}

Status DepthwiseStage::run() {
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  const int64_t step = optimized::depthwise_channels();
  const auto blocks = static_cast<size_t>((shape_.channels + step - 1) / step);
  pthreadpool_parallelize_2d_tile_2d(pool_, run_part, this, rows, blocks, rows_per_task_, 1, 0);
  return {};
}

}  // namespace taper::xnnpack
