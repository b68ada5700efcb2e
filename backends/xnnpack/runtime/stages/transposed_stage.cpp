// Sees convolutions as transposed ones, packs their filters and divides their rows among threads;
// see transposed_stage.h.

#include "backends/xnnpack/runtime/stages/transposed_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

using optimized::TransposedShape;

// The number of multiplications that take about as long as a stage costs; of a depthwise
// convolution, for which XNNPACK takes more than ten times as long.
constexpr uint64_t kLeastProducts = uint64_t{1} << 16;
constexpr uint64_t kLeastSums = uint64_t{1} << 12;
// With so many output channels XNNPACK's tiles are mostly empty.
constexpr int64_t kFewOuts = 8;
// The columns of XNNPACK's tiles.
#ifdef __x86_64__
constexpr int64_t kTileColumns = 16;
#else
constexpr int64_t kTileColumns = 8;
#endif
// With more columns their products leave the cache.
constexpr int64_t kMostColumns = 4096;
// A task computes so many rows for each row of products that its neighbour needs, too.
constexpr int64_t kRowsPerShared = 6;

bool is_transposed(const XnnNode& node) {
  return node.kind == find_kind(wire::NodeContent::ConvTranspose2d);
}

TransposedShape shape_of(const XnnNode& node, Span<const XnnValue> values) {
  TransposedShape shape{window_shape(node, values)};
  shape.out_channels = values[node.output].shape.dims[3];
  shape.is_depthwise = node.as<wire::Convolution>().groups() > 1;
  if (!is_transposed(node)) {
    shape.is_turned = true;
    shape.padding_top = (shape.window_height - 1) * shape.dilation_down - shape.padding_top;
    shape.padding_left = (shape.window_width - 1) * shape.dilation_across - shape.padding_left;
  }
  return shape;
}

// Whether it is a convolution that is a transposed one, too, or a transposed one whose groups, if
// there are several, have one channel each.
bool has_form(const XnnNode& node) {
  const bool is_convolution = node.kind == find_kind(wire::NodeContent::Conv2d);
  if (!is_convolution && !is_transposed(node)) return false;
  const auto& t = node.as<wire::Convolution>();
  if (is_convolution) {
    const bool has_window = t.kernel_height() > 1 || t.kernel_width() > 1;
    return t.groups() == 1 && t.stride_height() == 1 && t.stride_width() == 1 && has_window;
  }
  if (t.groups() == 1) return true;
  const bool has_dilation = t.dilation_height() > 1 || t.dilation_width() > 1;
  return t.group_input_channels() == 1 && t.group_output_channels() == 1 && !has_dilation;
}

// Whether more than a quarter of XNNPACK's tiles is empty.
bool is_better_for(int64_t outs) {
  return outs <= kFewOuts || divide_up(outs, kTileColumns) * kTileColumns * 3 > outs * 4;
}

}  // namespace

bool TransposedStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!has_form(node) || !is_in_floats(node, values) || input(node, values).data != nullptr) {
    return false;
  }
  const TransposedShape s = shape_of(node, values);
  if (s.is_depthwise) {
    return element_count(values[node.output].shape) * static_cast<uint64_t>(s.taps()) >= kLeastSums;
  }
  const uint64_t products =
      element_count(input(node, values).shape) * static_cast<uint64_t>(s.columns());
  return is_better_for(s.out_channels) && s.columns() <= kMostColumns && products >= kLeastProducts;
}

uint64_t TransposedStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const TransposedShape s = shape_of(node, values);
  const int64_t floats =
      optimized::transposed_filter_floats(s) + optimized::transposed_packing_floats(s);
  return static_cast<uint64_t>(floats) * sizeof(float);
}

Status TransposedStage::build(const XnnNode& node, Span<const XnnValue> values,
                              pthreadpool_t pool) {
  node_ = &node;
  pool_ = pool;
  shape_ = shape_of(node, values);
  OwnFilters scratch;
  TAPER_TRY(make_filters(optimized::transposed_packing_floats(shape_), scratch));
  TAPER_TRY(make_filters(optimized::transposed_filter_floats(shape_), filter_));
  optimized::pack_transposed(shape_, floats_of(input(node, values, 1)), scratch.get(),
                             filter_.get());
  data_.filter = filter_.get();
  if (node.inputs[2] != kNone) data_.bias = floats_of(input(node, values, 2));
  data_.bounds = {node.min, node.max};
  return {};
}

Status TransposedStage::reshape(Span<const XnnValue> values) {
  shape_ = shape_of(*node_, values);
  const auto threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  const int64_t reach = (shape_.window_height - 1) * shape_.dilation_down + 1;
  const int64_t shared = std::max(reach - shape_.step_down, int64_t{0});
  const int64_t tasks = divide_up(threads * 2, std::max(shape_.images, int64_t{1}));
  task_rows_ = std::max({divide_up(shape_.out_height, tasks), shared * kRowsPerShared, int64_t{1}});
  return {};
}

uint64_t TransposedStage::scratch_bytes() const {
  const auto floats = static_cast<uint64_t>(optimized::transposed_scratch(shape_));
  return pthreadpool_get_threads_count(pool_) * floats * sizeof(float);
}

Status TransposedStage::bind(Span<void* const> places, void* scratch) {
  scratch_ = static_cast<float*>(scratch);
  data_.image = static_cast<const float*>(places[node_->inputs[0]]);
  data_.out = static_cast<float*>(places[node_->output]);
  return {};
}

void TransposedStage::run_rows(void* stage, size_t thread, size_t image, size_t block) {
  const auto& self = *static_cast<TransposedStage*>(stage);
  const int64_t first = static_cast<int64_t>(block) * self.task_rows_;
  const int64_t rows = std::min(self.task_rows_, self.shape_.out_height - first);
  float* scratch =
      self.scratch_ + static_cast<int64_t>(thread) * optimized::transposed_scratch(self.shape_);
  optimized::transposed(self.shape_, self.data_, static_cast<int64_t>(image), first, rows, scratch);
}

Status TransposedStage::run() {
  const auto blocks = static_cast<size_t>(divide_up(shape_.out_height, task_rows_));
  pthreadpool_parallelize_2d_with_thread(pool_, run_rows, this, static_cast<size_t>(shape_.images),
                                         blocks, 0);
  return {};
}

}  // namespace taper::xnnpack
