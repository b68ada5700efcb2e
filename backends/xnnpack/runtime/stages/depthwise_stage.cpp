// Divides a depthwise convolution among threads; see depthwise_stage.h.

#include "backends/xnnpack/runtime/stages/depthwise_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/depthwise_windows.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

// So many tasks leave no thread without work for long. A task has at least so many blocks of
// channels, because memory is read in order.
constexpr int64_t kTasksPerThread = 4, kLeastBlocks = 4;

// With vectors of fewer channels, a window of so few taps is faster result by result.
constexpr int64_t kFewTaps = 9, kLeastChannels = 8;

}  // namespace

Fusion find_swish(const Subgraph& graph, Span<const uint32_t> uses, size_t n) {
  if (has_bounds(graph.nodes()[n])) return {};
  const Fusion next = find_epilogue(graph, uses, n);
  const bool is_swish =
      next.kind == Fusion::Kind::kFunction && (next.function == optimized::Function::kSwish ||
                                               next.function == optimized::Function::kHardswish);
  return is_swish ? next : Fusion();
}

optimized::DepthwiseData depthwise_data(const XnnNode& node, Span<const XnnValue> values,
                                        const Fusion& swish) {
  using Activation = optimized::DepthwiseActivation;
  optimized::DepthwiseData data;
  data.filter = floats_of(input(node, values, 1));
  if (node.inputs[2] != kNone) data.bias = floats_of(input(node, values, 2));
  if (swish.nodes > 0) {
    const bool is_hard = swish.function == optimized::Function::kHardswish;
    data.activation = is_hard ? Activation::kHardswish : Activation::kSwish;
  }
  data.min = node.min;
  data.max = node.max;
  return data;
}

bool DepthwiseStage::is_better(const XnnNode& node, Span<const XnnValue> values, bool in_half) {
  if (!is_depthwise(node)) return false;
  if (!is_in_floats(node, values)) return false;
  const auto& t = node.as<wire::Convolution>();
  const DepthwiseWindow window = {t.kernel_height(),        t.kernel_width(),    t.stride_height(),
                                  t.stride_width(),         t.dilation_height(), t.dilation_width(),
                                  t.group_output_channels()};
  if (window.taps() <= kFewTaps && optimized::depthwise_channels() < kLeastChannels) return false;
  if (in_half && window.taps() <= kMostXnnpackTaps) return false;
  return input(node, values).data == nullptr &&
         is_depthwise_stage(window, element_count(values[node.output].shape)) &&
         optimized::has_depthwise(window.step_across);
}

DepthwiseStage::DepthwiseStage(const XnnNode& node, Span<const XnnValue> values,
                               const Fusion& swish, pthreadpool_t pool)
    : node_(node),
      output_(swish.nodes > 0 ? swish.output : node.output),
      pool_(pool),
      data_(depthwise_data(node, values, swish)) {}

Status DepthwiseStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(node_, values);
  rows_ = shape_.images * shape_.out_height;
  blocks_ = divide_up(shape_.channels, optimized::depthwise_channels());
  const auto threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  const int64_t tasks = threads > 1 ? kTasksPerThread * threads : 1;
  rows_per_task_ = std::max(rows_ / tasks, int64_t{1});
  const int64_t down = std::max(divide_up(rows_, rows_per_task_), int64_t{1});
  const int64_t across = divide_up(tasks, down);
  blocks_per_task_ = std::max(kLeastBlocks, divide_up(blocks_, across));
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
  pthreadpool_parallelize_2d_tile_2d(
      pool_, run_part, this, static_cast<size_t>(rows_), static_cast<size_t>(blocks_),
      static_cast<size_t>(rows_per_task_), static_cast<size_t>(blocks_per_task_), 0);
  return {};
}

}  // namespace taper::xnnpack
