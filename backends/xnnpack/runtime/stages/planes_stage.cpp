// Packs the filters of a first convolution and divides its rows among threads; see planes_stage.h.

#include "backends/xnnpack/runtime/stages/planes_stage.h"

#include <pthreadpool.h>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/turn.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

using optimized::PlanesShape;

// The number of multiplications that take about as long as a stage costs.
constexpr uint64_t kLeastProducts = uint64_t{1} << 16;

// `node` is a convolution. Its image has the sizes of the transposed one.
PlanesShape shape_of(const XnnNode& node, Span<const XnnValue> values) {
  PlanesShape shape{window_shape(node, values)};
  shape.out_channels = values[node.output].shape.dims[3];
  return shape;
}

// Whether a node is a convolution of a few channels, and large enough to pay for a stage.
bool is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!node.is_needed || node.kind != find_kind(wire::NodeContent::Conv2d) ||
      !is_in_floats(node, values) || node.as<wire::Convolution>().groups() != 1 ||
      input(node, values).data != nullptr || input(node, values, 1).data == nullptr) {
    return false;
  }
  const PlanesShape shape = shape_of(node, values);
  return optimized::has_planes(shape) &&
         element_count(values[node.output].shape) * static_cast<uint64_t>(shape.terms()) >=
             kLeastProducts;
}

}  // namespace

bool is_from_planes(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const XnnNode& node = graph.nodes()[first];
  const Span<const XnnValue> values = graph.values();
  if (first + 1 >= graph.nodes().size() || !is_turn(node, false)) return false;
  return values[node.output].shape.rank == 4 && graph.nodes()[first + 1].inputs[0] == node.output &&
         uses[node.output] == 1 && input(node, values).data == nullptr;
}

size_t count_of_planes(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                       bool (*is_better)(const XnnNode& node, Span<const XnnValue> values)) {
  const XnnNode& start = graph.nodes()[first];
  if (is_better(start, graph.values()) && input(start, graph.values()).shape.last() == 1) return 1;
  if (!is_from_planes(graph, uses, first)) return 0;
  return is_better(graph.nodes()[first + 1], graph.values()) ? 2 : 0;
}

size_t PlanesStage::count(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  return count_of_planes(graph, uses, first, is_better);
}

uint64_t PlanesStage::extra_bytes(const Subgraph& graph, size_t first, size_t count) {
  const PlanesShape shape = shape_of(graph.nodes()[first + count - 1], graph.values());
  return static_cast<uint64_t>(optimized::planes_filter_size(shape)) * sizeof(float);
}

Status PlanesStage::build(const Subgraph& graph, size_t first, size_t count, const Fusion& epilogue,
                          pthreadpool_t pool) {
  const Span<const XnnValue> values = graph.values();
  const XnnNode& convolution = graph.nodes()[first + count - 1];
  image_ = graph.nodes()[first].inputs[0];
  node_ = &convolution;
  epilogue_ = epilogue;
  pool_ = pool;
  shape_ = shape_of(convolution, values);
  TAPER_TRY(make_filters(optimized::planes_filter_size(shape_), filter_));
  optimized::pack_planes(shape_, floats_of(input(convolution, values, 1)), filter_.get());
  data_.filter = filter_.get();
  if (convolution.inputs[2] != kNone) data_.bias = floats_of(input(convolution, values, 2));
  data_.min = convolution.min;
  data_.max = convolution.max;
  return {};
}

Status PlanesStage::reshape(Span<const XnnValue> values) {
  shape_ = shape_of(*node_, values);
  return {};
}

uint64_t PlanesStage::scratch_bytes() const {
  return pthreadpool_get_threads_count(pool_) * sizeof(float) *
         static_cast<uint64_t>(optimized::planes_panel_size(shape_));
}

Status PlanesStage::bind(Span<void* const> places, void* scratch) {
  data_.image = static_cast<const float*>(places[image_]);
  data_.out = static_cast<float*>(places[epilogue_.nodes > 0 ? epilogue_.output : node_->output]);
  panels_ = static_cast<float*>(scratch);
  return {};
}

void PlanesStage::run_row(void* stage, size_t thread, size_t row) {
  const auto& self = *static_cast<PlanesStage*>(stage);
  const auto panel = static_cast<size_t>(optimized::planes_panel_size(self.shape_));
  optimized::planes(self.shape_, self.data_, static_cast<int64_t>(row),
                    self.panels_ + thread * panel);
  if (self.epilogue_.nodes == 0) return;
  const int64_t count = self.shape_.out_width * self.shape_.out_channels;
  float* results = self.data_.out + static_cast<int64_t>(row) * count;
  compute_elements(self.epilogue_, results, nullptr, results, count);
}

Status PlanesStage::run() {
  const auto rows = static_cast<size_t>(shape_.images * shape_.out_height);
  pthreadpool_parallelize_1d_with_thread(pool_, run_row, this, rows, 0);
  return {};
}

}  // namespace taper::xnnpack
