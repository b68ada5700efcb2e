// Divides a product with constant weights among threads; see product_stage.h.

#include "backends/xnnpack/runtime/stages/arm/product_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"

namespace taper::xnnpack {
namespace {

// The least products that pay for a stage, and for waking the other threads.
constexpr uint64_t kLeastProducts = uint64_t{1} << 16;
constexpr int64_t kLeastShared = int64_t{1} << 20;
// XNNPACK's tiles have six rows. Those that are left go to tiles of four and of one, which take as
// long as that many more rows (library/f32_rows.h). They have to be one in so many.
constexpr int64_t kTileRows = 6;
constexpr int64_t kMoreRows[kTileRows] = {0, 1, 2, 1, 0, 1};
constexpr int64_t kMostRowsPerMore = 66;
// The tasks for each thread, and the least rows of one.
constexpr size_t kTasks = 4;
constexpr int64_t kLeastRows = 20;

// What distinguishes these weights from others in the cache.
constexpr uint32_t kSeed = 0x50524F44;

bool is_connected(const XnnNode& node) {
  return node.content_type == wire::NodeContent::FullyConnected;
}

bool is_pointwise_convolution(const XnnNode& node, Span<const XnnValue> values) {
  return node.kind == find_kind(wire::NodeContent::Conv2d) &&
         node.as<wire::Convolution>().groups() == 1 && is_pointwise(window_shape(node, values));
}

int64_t rows_of(const XnnNode& node, Span<const XnnValue> values) {
  const Shape& out = values[node.output].shape;
  return static_cast<int64_t>(element_count(out)) / out.last();
}

bool has_waste(int64_t rows) { return kMoreRows[rows % kTileRows] * kMostRowsPerMore >= rows; }

}  // namespace

bool ProductStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!optimized::has_constant_product()) return false;
  if (!is_connected(node) && !is_pointwise_convolution(node, values)) return false;
  if (!is_in_floats(node, values) || !has_constant_filter(node, values)) return false;
  const uint64_t results = element_count(values[node.output].shape);
  const uint32_t depth = input(node, values).shape.last();
  if (results == 0 || depth == 0 || !has_waste(rows_of(node, values))) return false;
  return results >= kLeastProducts / depth;
}

uint64_t ProductStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  const int64_t depth = input(node, values).shape.last();
  const int64_t floats = optimized::constant_product_size(depth, values[node.output].shape.last());
  return static_cast<uint64_t>(floats) * sizeof(float);
}

Status ProductStage::build(const XnnNode& node, Span<const XnnValue> values, const Shared& shared) {
  node_ = &node;
  pool_ = shared.pool;
  const int64_t depth = input(node, values).shape.last();
  const int64_t columns = values[node.output].shape.last();
  const bool is_turned = is_connected(node) && (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0;
  const XnnValue& filter = input(node, values, 1);
  const optimized::ConstantMatrix source = {floats_of(filter), depth, columns,
                                            is_turned ? columns : 1, is_turned ? 1 : depth};
  const auto pack = [&](void* to) {
    optimized::pack_constant(source, static_cast<float*>(to));
    return Status();
  };
  const void* weights = nullptr;
  TAPER_TRY(find_filters(shared, kSeed, filter.data, static_cast<size_t>(extra_bytes(node, values)),
                         pack, own_weights_, weights));
  product_.constant = static_cast<const float*>(weights);
  product_.depth = depth;
  product_.columns = columns;
  product_.has_ends = node.inputs[2] != kNone || has_bounds(node);
  if (node.inputs[2] != kNone) product_.bias = floats_of(input(node, values, 2));
  product_.min = node.min;
  product_.max = node.max;
  return {};
}

Status ProductStage::reshape(Span<const XnnValue> values) {
  product_.rows = rows_of(*node_, values);
  const bool is_small = product_.rows * product_.depth * product_.columns < kLeastShared;
  used_pool_ = is_small ? nullptr : pool_;
  const size_t threads = pthreadpool_get_threads_count(used_pool_);
  const auto panels = static_cast<size_t>(optimized::constant_panels(product_.columns));
  const size_t tasks = threads > 1 ? threads * kTasks : 1;
  const auto parts = static_cast<int64_t>((tasks + panels - 1) / panels);
  task_rows_ = static_cast<size_t>(std::max(kLeastRows, (product_.rows + parts - 1) / parts));
  return {};
}

Status ProductStage::bind(Span<void* const> places, void*) {
  product_.left = static_cast<const float*>(places[node_->inputs[0]]);
  product_.out = static_cast<float*>(places[node_->output]);
  return {};
}

void ProductStage::multiply(void* stage, size_t row, size_t panel, size_t rows, size_t panels) {
  optimized::ConstantProduct part = static_cast<ProductStage*>(stage)->product_;
  part.left += static_cast<int64_t>(row) * part.depth;
  part.out += static_cast<int64_t>(row) * part.columns;
  part.rows = static_cast<int64_t>(rows);
  optimized::multiply_constant(part, static_cast<int64_t>(panel),
                               static_cast<int64_t>(panel + panels));
}

Status ProductStage::run() {
  const auto panels = static_cast<size_t>(optimized::constant_panels(product_.columns));
  pthreadpool_parallelize_2d_tile_2d(used_pool_, multiply, this, static_cast<size_t>(product_.rows),
                                     panels, task_rows_, 1, 0);
  return {};
}

}  // namespace taper::xnnpack
