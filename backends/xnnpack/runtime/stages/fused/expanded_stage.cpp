// Finds such convolutions and computes them by strips; see expanded_stage.h.

#include "backends/xnnpack/runtime/stages/fused/expanded_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "kernels_optimized/cores/arm/constant_product.h"

namespace taper::xnnpack {
namespace {

// What distinguishes these weights from others in the cache.
constexpr uint32_t kSeed = 0x45585044;

// A value of fewer bytes stays in the cache as a whole.
constexpr int64_t kLeastBytes = int64_t{2} << 20;
// A strip has so many bytes, or so many rows more than a window if that is more. Larger ones leave
// the cache, and save no memory if a value has less than two.
constexpr int64_t kStripBytes = int64_t{512} << 10;
constexpr int64_t kLeastNewRows = 4;
constexpr int64_t kMostStripBytes = int64_t{2} << 20;
constexpr int64_t kLeastStrips = 2;
// A task has so many rows of results for each that another task computes as well.
constexpr int64_t kRowsPerShared = 6;

// Whether it is a pointwise convolution that a stage computes, and as fast as XNNPACK.
bool is_expanding(const XnnNode& node, Span<const XnnValue> values) {
  if (!node.is_needed || node.kind != find_kind(wire::NodeContent::Conv2d)) return false;
  if (optimized::has_constant_product() || !is_in_floats(node, values)) return false;
  return node.as<wire::Convolution>().groups() == 1 && has_constant_filter(node, values) &&
         is_pointwise(window_shape(node, values));
}

int64_t row_bytes(const optimized::WindowShape& s) {
  return s.width * s.channels * static_cast<int64_t>(sizeof(float));
}

// The rows of a strip; a value may have fewer.
int64_t strip_rows(const optimized::WindowShape& s) {
  return std::max(kStripBytes / std::max(row_bytes(s), int64_t{1}),
                  s.window_height + kLeastNewRows);
}

// Whether the depthwise convolution reads a value that pays for a stage.
bool is_large(const XnnNode& depthwise, Span<const XnnValue> values) {
  const optimized::WindowShape s = window_shape(depthwise, values);
  const int64_t bytes = s.images * s.height * row_bytes(s);
  return bytes >= kLeastBytes && strip_rows(s) * row_bytes(s) <= kMostStripBytes &&
         s.height >= kLeastStrips * strip_rows(s);
}

// Whether every window has a row of the image.
bool is_padded_less(const XnnNode& depthwise) {
  const auto& t = depthwise.as<wire::Convolution>();
  return t.padding_top() < t.kernel_height() && t.padding_bottom() < t.kernel_height();
}

}  // namespace

ExpandedNodes ExpandedStage::find(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const Span<const XnnNode> nodes = graph.nodes();
  const Span<const XnnValue> values = graph.values();
  if (!is_expanding(nodes[first], values)) return {};
  ExpandedNodes found;
  found.between = find_epilogue(graph, uses, first);
  if (found.between.nodes > 0 && found.between.kind != Fusion::Kind::kFunction) return {};
  found.depthwise = first + 1 + found.between.nodes;
  if (found.depthwise >= nodes.size()) return {};
  const XnnNode& depthwise = nodes[found.depthwise];
  const uint32_t expanded = found.between.nodes > 0 ? found.between.output : nodes[first].output;
  if (!depthwise.is_needed || depthwise.inputs[0] != expanded || uses[expanded] != 1) return {};
  if (!DepthwiseStage::is_better(depthwise, values, false)) return {};
  if (!is_large(depthwise, values) || !is_padded_less(depthwise)) return {};
  found.after = find_swish(graph, uses, found.depthwise);
  found.count = found.depthwise + 1 + found.after.nodes - first;
  return found;
}

uint64_t ExpandedStage::extra_bytes(const XnnNode& pointwise, Span<const XnnValue> values) {
  const int64_t floats = optimized::panel_floats(input(pointwise, values).shape.last(),
                                                 values[pointwise.output].shape.last());
  return static_cast<uint64_t>(floats) * sizeof(float);
}

Status ExpandedStage::build(const Subgraph& graph, size_t first, const ExpandedNodes& nodes,
                            const Shared& shared, pthreadpool_t pool) {
  const Span<const XnnValue> values = graph.values();
  pointwise_ = &graph.nodes()[first];
  depthwise_ = &graph.nodes()[nodes.depthwise];
  between_ = nodes.between;
  output_ = nodes.after.nodes > 0 ? nodes.after.output : depthwise_->output;
  pool_ = pool;
  data_ = depthwise_data(*depthwise_, values, nodes.after);
  const XnnValue& filter = input(*pointwise_, values, 1);
  const int64_t depth = input(*pointwise_, values).shape.last();
  const int64_t columns = values[pointwise_->output].shape.last();
  const optimized::FloatMatrix right = {floats_of(filter), 1, depth};
  const auto pack = [&](void* to) {
    optimized::pack_panels(right, depth, columns, static_cast<float*>(to));
    return Status();
  };
  const void* weights = nullptr;
  TAPER_TRY(find_filters(shared, kSeed, filter.data,
                         static_cast<size_t>(extra_bytes(*pointwise_, values)), pack, own_weights_,
                         weights));
  product_.panels = {static_cast<const float*>(weights), depth, columns};
  product_.depth = depth;
  product_.columns = columns;
  product_.out_stride = columns;
  product_.bounds = {pointwise_->min, pointwise_->max};
  if (pointwise_->inputs[2] != kNone) {
    product_.added = {floats_of(input(*pointwise_, values, 2)), 0, 1};
  }
  return {};
}

Status ExpandedStage::reshape(Span<const XnnValue> values) {
  shape_ = window_shape(*depthwise_, values);
  const int64_t step = shape_.step_down;
  const int64_t shared_rows = std::max(shape_.window_height - step, int64_t{0});
  const int64_t most = std::max((strip_rows(shape_) - shared_rows) / step, int64_t{1});
  strip_rows_ = std::min(most, std::max(shape_.out_height, int64_t{1}));
  const auto threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  const int64_t rows = shape_.images * shape_.out_height;
  const int64_t least = divide_up(shared_rows * kRowsPerShared, step);
  task_rows_ = std::max({divide_up(rows, threads), least, int64_t{1}});
  return {};
}

int64_t ExpandedStage::strip_floats() const {
  const int64_t rows = (strip_rows_ - 1) * shape_.step_down + shape_.window_height;
  return rows * shape_.width * shape_.channels;
}

uint64_t ExpandedStage::scratch_bytes() const {
  return pthreadpool_get_threads_count(pool_) * static_cast<uint64_t>(strip_floats()) *
         sizeof(float);
}

Status ExpandedStage::bind(Span<void* const> places, void* scratch) {
  product_.left = {static_cast<const float*>(places[pointwise_->inputs[0]]), product_.depth, 1};
  data_.out = static_cast<float*>(places[output_]);
  strips_ = static_cast<float*>(scratch);
  return {};
}

ExpandedStage::Rows ExpandedStage::windows_of(int64_t row, int64_t end) const {
  const int64_t top = row * shape_.step_down - shape_.padding_top;
  const int64_t bottom = (end - 1) * shape_.step_down - shape_.padding_top + shape_.window_height;
  return {std::clamp(top, int64_t{0}, shape_.height),
          std::clamp(bottom, int64_t{0}, shape_.height)};
}

void ExpandedStage::expand(int64_t image, const Rows& rows, float* to) const {
  optimized::Gemm part = product_;
  // A row at a time if a function follows, which then finds it in the cache.
  const int64_t each = between_.nodes > 0 ? 1 : rows.end - rows.first;
  for (int64_t row = rows.first; row < rows.end; row += each) {
    part.rows = each * shape_.width;
    part.left.data =
        product_.left.data + (image * shape_.height + row) * shape_.width * product_.depth;
    part.out = to + (row - rows.first) * shape_.width * shape_.channels;
    optimized::gemm(part, {});
    if (between_.nodes == 0) continue;
    compute_elements(between_, part.out, nullptr, part.out, part.rows * shape_.channels);
  }
}

void ExpandedStage::run_rows(int64_t image, int64_t row, int64_t end, float* strip) const {
  const int64_t width = shape_.width * shape_.channels;
  Rows held;
  for (; row < end; row += strip_rows_) {
    const int64_t rows = std::min(strip_rows_, end - row);
    const Rows wanted = windows_of(row, row + rows);
    // The rows that the strip before has computed.
    const int64_t kept = std::max(held.end - wanted.first, int64_t{0});
    if (kept > 0) {
      std::memmove(strip, strip + (wanted.first - held.first) * width,
                   static_cast<size_t>(kept * width) * sizeof(float));
    }
    expand(image, {wanted.first + kept, wanted.end}, strip + kept * width);
    held = wanted;
    optimized::WindowShape shape = shape_;
    shape.images = 1;
    shape.height = wanted.end - wanted.first;
    shape.out_height = rows;
    shape.padding_top = wanted.first - (row * shape_.step_down - shape_.padding_top);
    optimized::DepthwiseData data = data_;
    data.image = strip;
    data.out += (image * shape_.out_height + row) * shape_.out_width * shape_.channels;
    optimized::depthwise(shape, data, {0, rows, 0, shape_.channels});
  }
}

void ExpandedStage::run_task(void* stage, size_t thread, size_t task) {
  const auto& self = *static_cast<ExpandedStage*>(stage);
  float* strip = self.strips_ + self.strip_floats() * static_cast<int64_t>(thread);
  int64_t row = static_cast<int64_t>(task) * self.task_rows_;
  const int64_t height = self.shape_.out_height;
  const int64_t end = std::min(row + self.task_rows_, self.shape_.images * height);
  while (row < end) {
    const int64_t image = row / height;
    const int64_t last = std::min(end, (image + 1) * height);
    self.run_rows(image, row - image * height, last - image * height, strip);
    row = last;
  }
}

Status ExpandedStage::run() {
  const auto tasks = static_cast<size_t>(divide_up(shape_.images * shape_.out_height, task_rows_));
  pthreadpool_parallelize_1d_with_thread(pool_, run_task, this, tasks, 0);
  return {};
}

}  // namespace taper::xnnpack
