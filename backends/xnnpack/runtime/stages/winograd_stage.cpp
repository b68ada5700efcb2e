// Computes tiles in blocks whose matrices stay in the cache between the three steps: input
// transform, product, output transform.

#include "backends/xnnpack/runtime/stages/winograd_stage.h"

#include <pthreadpool.h>

#include <algorithm>
#include <new>

#include "backends/xnnpack/library/cached_product.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/make_array.h"
#include "kernels_optimized/cores/arm/constant_product.h"

namespace taper::xnnpack {
namespace {

using optimized::WinogradShape;
using optimized::WinogradTiles;

// The bytes of all matrices of a block, for each of up to kMostShares threads, and the least tiles
// of a block: of fewer, reading the filters takes too long.
constexpr int64_t kBlockBytes = int64_t{1} << 20;
constexpr int64_t kMostShares = 4;
constexpr int64_t kBlockTiles = 48;
// The tiles that a thread transforms at a time.
constexpr size_t kTaskTiles = 16;

constexpr size_t kAlignment = 64;

// The number of multiplications that take about as long as reading a weight once, and the number of
// rows that XNNPACK's kernels compute at once, approximately: fewer cost as much. Processors with
// vectors of 128 bits multiply slower than others, but do not read slower; where the stage
// multiplies by itself it reads ahead while it multiplies.
#if defined(__aarch64__)
constexpr int64_t kReadCost = 4;
constexpr int64_t kRowsAtOnce = 4;
#elif defined(__ARM_NEON)
constexpr int64_t kReadCost = 8;
constexpr int64_t kRowsAtOnce = 4;
#else
constexpr int64_t kReadCost = 16;
constexpr int64_t kRowsAtOnce = 7;
#endif
// The cost of a transform per number that it reads or writes, in multiplications.
constexpr int64_t kTransformCost = 12;

// The least channels of a group, if there are several: grouped_stage.h computes smaller ones.
constexpr uint32_t kLeastOfGroup = 64;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

size_t matrix_bytes(int64_t points, int64_t rows, int64_t columns) {
  const size_t floats = static_cast<size_t>(points) * static_cast<size_t>(rows * columns);
  return (floats * sizeof(float) + XNN_EXTRA_BYTES + kAlignment - 1) / kAlignment * kAlignment;
}

WinogradShape shape_of(const XnnNode& node, Span<const XnnValue> values, int64_t tile) {
  const auto& t = node.as<wire::Convolution>();
  const uint32_t* in = input(node, values).shape.dims;
  const uint32_t* out = values[node.output].shape.dims;
  WinogradShape shape = {in[0], in[1], in[2], in[3], out[1], out[2], out[3]};
  shape.groups = t.groups();
  shape.channels /= shape.groups;
  shape.out_channels /= shape.groups;
  shape.padding_top = t.padding_top();
  shape.padding_left = t.padding_left();
  shape.tile = tile;
  shape.window_height = t.kernel_height();
  shape.window_width = t.kernel_width();
  shape.dilation_down = shape.window_height == 1 ? 1 : t.dilation_height();
  shape.dilation_across = shape.window_width == 1 ? 1 : t.dilation_width();
  return shape;
}

// The cost in multiplications per pair of an input and an output channel.
int64_t direct_cost(const WinogradShape& s) {
  return s.window() * (round_up(s.images * s.out_height * s.out_width, kRowsAtOnce) + kReadCost);
}
int64_t winograd_cost(const WinogradShape& s) {
  const int64_t rows_at_once = optimized::has_constant_product() ? 1 : kRowsAtOnce;
  const int64_t products = s.points() * (round_up(s.tiles(), rows_at_once) + kReadCost);
  const int64_t transforms = s.points() * s.tiles() * kTransformCost;
  return products + transforms / s.channels + transforms / s.out_channels;
}

bool is_eligible(const XnnNode& node, Span<const XnnValue> values) {
  if (node.kind != find_kind(wire::NodeContent::Conv2d)) return false;
  const auto& t = node.as<wire::Convolution>();
  const uint32_t height = t.kernel_height(), width = t.kernel_width();
  const bool has_window = (height == 3 || height == 1) && (width == 3 || width == 1);
  const bool has_steps = t.stride_height() == 1 && t.stride_width() == 1;
  if (!has_window || height * width == 1 || !has_steps) return false;
  if (t.groups() != 1 && t.group_input_channels() < kLeastOfGroup) return false;
  // A larger dilation leaves some of the smaller images empty.
  const uint32_t* out = values[node.output].shape.dims;
  if (height == 3 && t.dilation_height() > out[1]) return false;
  if (width == 3 && t.dilation_width() > out[2]) return false;
  if (!is_in_floats(node, values)) return false;
  return t.group_input_channels() >= 8 && t.group_output_channels() >= 8;
}

WinogradTiles part_of(WinogradTiles tiles, size_t begin, size_t count) {
  tiles.begin = static_cast<int64_t>(begin);
  tiles.end = static_cast<int64_t>(begin + count);
  return tiles;
}

// Filters that are transformed if the cache does not contain them. Each transform has its own seed,
// and another if they are packed for products of the stage.
constexpr uint32_t kSeed = 0x57494E00, kLineSeed = 0x57494E80;
constexpr uint32_t kOwnSeeds = 0x100;  // Added to the others.
struct Filters {
  WinogradShape shape;
  const float* given;
  std::unique_ptr<float[]> transformed;

  static const float* make(void* self) {
    Filters& f = *static_cast<Filters*>(self);
    const int64_t filters = f.shape.out_channels * f.shape.terms(), points = f.shape.points();
    f.transformed.reset(
        new (std::nothrow) float[static_cast<size_t>(f.shape.groups * points * filters)]);
    if (f.transformed == nullptr) return nullptr;
    for (int64_t g = 0; g < f.shape.groups; ++g) {
      optimized::winograd_filters(f.shape, f.given + g * f.shape.window() * filters,
                                  f.transformed.get() + g * points * filters);
    }
    return f.transformed.get();
  }
};

}  // namespace

uint32_t WinogradStage::best_tile(const XnnNode& node, Span<const XnnValue> values) {
  if (!is_eligible(node, values) || !optimized::has_winograd()) return 0;
  // It must save a fifth, since it needs more memory; half as much in one dimension, where filters
  // grow to at most twice their size.
  const WinogradShape shape = shape_of(node, values, 2);
  int64_t least = direct_cost(shape) * (shape.is_square() ? 8 : 9) / 10;
  uint32_t best = 0;
  for (uint32_t tile : {2u, 4u}) {
    const int64_t cost = winograd_cost(shape_of(node, values, tile));
    if (cost >= least) continue;
    least = cost;
    best = tile;
  }
  return best;
}

uint64_t WinogradStage::extra_bytes(const XnnNode& node, uint32_t tile) {
  const auto& t = node.as<wire::Convolution>();
  const bool is_square = t.kernel_height() == t.kernel_width();
  const uint64_t points = uint64_t{tile + 2} * (is_square ? tile + 2 : 1) * t.groups();
  const uint64_t in = t.group_input_channels(), out = t.group_output_channels();
  // The transformed filters, and their packed copy in panels of at most 64 columns.
  const uint64_t filters = points * in * (out + 64) * sizeof(float) * 2;
  return filters + points * kBlockTiles * (in + out) * sizeof(float) + kBlockBytes * kMostShares;
}

WinogradStage::Block::~Block() {
  if (product != nullptr) xnn_delete_operator(product);
}

WinogradShape WinogradStage::current_shape(Span<const XnnValue> values, uint32_t tile) const {
  WinogradShape shape = shape_of(*node_, values, tile);
  if (volume_.count == 0) return shape;
  const uint32_t* volumes = values[volume_.input].shape.dims;
  shape.taps = volume_.taps;
  shape.channels /= shape.taps;
  shape.depth = volumes[1];
  shape.out_depth = shape.images / volumes[0];
  shape.padding_front = volume_.padding;
  shape.dilation_deep = volume_.dilation;
  return shape;
}

Status WinogradStage::build(const XnnNode& node, Span<const XnnValue> values, uint32_t tile,
                            const VolumeNodes& volume, const Shared& shared) {
  node_ = &node;
  volume_ = volume;
  pool_ = shared.pool;
  shape_ = current_shape(values, tile);
  last_ = {node.inputs[2] != kNone ? floats_of(input(node, values, 2)) : nullptr, node.min,
           node.max};
  zeros_.reset(new (std::nothrow) float[static_cast<size_t>(shape_.channels)]());
  TAPER_REQUIRE(zeros_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the padding of a convolution");
  // Without a cache each product of XNNPACK would have filters of its own.
  const size_t threads = pthreadpool_get_threads_count(pool_);
  const bool share = shared.weights != nullptr || optimized::has_constant_product();
  most_blocks_ = share && own_tiles(threads) >= kBlockTiles ? threads : 1;
  blocks_ = make_array<Block>(most_blocks_);
  TAPER_REQUIRE(blocks_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the blocks of a convolution");
  for (size_t i = 0; i < most_blocks_; ++i) blocks_[i].stage = this;
  return build_products(input(node, values, 1), shared);
}

Status WinogradStage::build_products(const XnnValue& filter, const Shared& shared) {
  Filters filters = {shape_, floats_of(filter), {}};
  const uint32_t seed =
      (shape_.is_square() ? kSeed : kLineSeed) + static_cast<uint32_t>(shape_.tile);
  const int64_t terms = shape_.terms(), columns = shape_.out_channels;
  if (optimized::has_constant_product()) {
    const int64_t size = optimized::constant_product_size(terms, columns);
    const auto pack = [&](void* to) -> Status {
      const float* made = Filters::make(&filters);
      TAPER_REQUIRE(made != nullptr, Error::kDelegateMemoryAllocationFailed,
                    "there is no memory for the filters of a convolution");
      for (int64_t i = 0; i < matrices(); ++i) {
        optimized::pack_constant({made + i * columns * terms, terms, columns, 1, terms},
                                 static_cast<float*>(to) + i * size);
      }
      return {};
    };
    const void* found = nullptr;
    TAPER_TRY(find_filters(shared, seed + kOwnSeeds, filter.data,
                           static_cast<size_t>(matrices() * size) * sizeof(float), pack,
                           own_filters_, found));
    filters_ = static_cast<const float*>(found);
    return {};
  }
  const taper_cached_weights weights = {filter.data, seed, shared.weights, Filters::make, &filters};
  for (size_t i = 0; i < most_blocks_; ++i) {
    TAPER_TRY(status_of(
        taper_create_cached_product(static_cast<size_t>(matrices()), static_cast<size_t>(terms),
                                    static_cast<size_t>(columns), &weights, &blocks_[i].product),
        "XNNPACK refuses the filters of a convolution"));
  }
  return {};
}

int64_t WinogradStage::own_tiles(size_t threads) const {
  const auto shares = static_cast<int64_t>(threads);
  return kBlockBytes * std::min(shares, kMostShares) / shares / tile_bytes();
}

size_t WinogradStage::divide(int64_t& rows) const {
  const int64_t tiles = shape_.tiles(), threads = static_cast<int64_t>(most_blocks_);
  if (threads > 1) {
    // As many blocks for one thread as for another.
    const int64_t most = own_tiles(most_blocks_) * threads;
    const int64_t blocks = (tiles + most - 1) / most * threads;
    rows = (tiles + blocks - 1) / blocks;
    if (rows >= kBlockTiles) return most_blocks_;
  }
  const auto pool_threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  const int64_t bytes = kBlockBytes * std::min(pool_threads, kMostShares);
  const int64_t most = std::max(kBlockTiles, bytes / tile_bytes());
  const int64_t blocks = (tiles + most - 1) / most;
  rows = (tiles + blocks - 1) / blocks;
  return 1;
}

Status WinogradStage::reshape(Span<const XnnValue> values) {
  shape_ = current_shape(values, static_cast<uint32_t>(shape_.tile));
  block_count_ = divide(rows_);
  for (size_t i = 0; i < block_count_; ++i) blocks_[i].tiles.rows = rows_;
  return filters_ != nullptr ? Status() : reshape_products();
}

Status WinogradStage::reshape_products() {
  const auto points = static_cast<size_t>(matrices());
  for (size_t i = 0; i < block_count_; ++i) {
    size_t workspace = 0, alignment = 0;
    TAPER_TRY(
        status_of(xnn_reshape_batch_matrix_multiply_nc_f32(
                      blocks_[i].product, 1, &points, &points, static_cast<size_t>(rows_),
                      static_cast<size_t>(shape_.terms()), static_cast<size_t>(shape_.out_channels),
                      &workspace, &alignment, block_count_ > 1 ? nullptr : pool_),
                  "XNNPACK cannot run a convolution at these sizes"));
  }
  return {};
}

uint64_t WinogradStage::scratch_bytes() const {
  return block_count_ * (matrix_bytes(matrices(), rows_, shape_.terms()) +
                         matrix_bytes(matrices(), rows_, shape_.out_channels));
}

Status WinogradStage::bind(Span<void* const> places, void* scratch) {
  const uint32_t image = volume_.count != 0 ? volume_.input : node_->inputs[0];
  image_ = static_cast<const float*>(places[image]);
  result_ = static_cast<float*>(places[node_->output]);
  auto* free = static_cast<float*>(scratch);
  for (size_t i = 0; i < block_count_; ++i) {
    Block& block = blocks_[i];
    block.transformed = free;
    block.products = free + matrix_bytes(matrices(), rows_, shape_.terms()) / sizeof(float);
    free = block.products + matrix_bytes(matrices(), rows_, shape_.out_channels) / sizeof(float);
    if (filters_ != nullptr) continue;
    TAPER_TRY(status_of(xnn_setup_batch_matrix_multiply_nc_f32(
                            block.product, nullptr, block.transformed, nullptr, block.products),
                        "XNNPACK refuses the memory of a convolution"));
  }
  return {};
}

void WinogradStage::transform_input(void* block, size_t begin, size_t count) {
  const auto& b = *static_cast<Block*>(block);
  const WinogradStage& self = *b.stage;
  const WinogradShape& s = self.shape_;
  const int64_t floats = s.points() * b.tiles.rows * s.terms();
  for (int64_t g = 0; g < s.groups; ++g) {
    optimized::winograd_input(s, part_of(b.tiles, begin, count), self.image_ + g * s.channels,
                              self.zeros_.get(), b.transformed + g * floats);
  }
}

void WinogradStage::transform_output(void* block, size_t begin, size_t count) {
  const auto& b = *static_cast<Block*>(block);
  const WinogradStage& self = *b.stage;
  const WinogradShape& s = self.shape_;
  const int64_t floats = s.points() * b.tiles.rows * s.out_channels;
  for (int64_t g = 0; g < s.groups; ++g) {
    optimized::WinogradOutput last = self.last_;
    if (last.bias != nullptr) last.bias += g * s.out_channels;
    optimized::winograd_output(s, part_of(b.tiles, begin, count), b.products + g * floats, last,
                               self.result_ + g * s.out_channels);
  }
}

void WinogradStage::multiply(void* block, size_t matrix, size_t panel) {
  const auto& b = *static_cast<Block*>(block);
  const WinogradStage& self = *b.stage;
  const int64_t terms = self.shape_.terms(), columns = self.shape_.out_channels;
  const auto m = static_cast<int64_t>(matrix), p = static_cast<int64_t>(panel);
  const int64_t count = std::min(b.tiles.rows, self.shape_.tiles() - b.tiles.first);
  optimized::ConstantProduct product;
  product.left = b.transformed + m * b.tiles.rows * terms;
  product.rows = count;
  product.depth = terms;
  product.constant = self.filters_ + m * optimized::constant_product_size(terms, columns);
  product.columns = columns;
  product.out = b.products + m * b.tiles.rows * columns;
  optimized::multiply_constant(product, p, p + 1);
}

xnn_status WinogradStage::run_block(Block& block, size_t index, pthreadpool_t pool) const {
  block.tiles.first = static_cast<int64_t>(index) * rows_;
  // The last block may have fewer tiles. XNNPACK's product has all rows, of which the others are
  // unused.
  const int64_t count = std::min(rows_, shape_.tiles() - block.tiles.first);
  if (count <= 0) return xnn_status_success;
  const auto rows = static_cast<size_t>(count);
  // On one thread all tiles are one task, so that more of them find patches of earlier ones.
  const size_t task = pool != nullptr ? kTaskTiles : rows;
  pthreadpool_parallelize_1d_tile_1d(pool, transform_input, &block, rows, task, 0);
  if (filters_ != nullptr) {
    const auto panels = static_cast<size_t>(optimized::constant_panels(shape_.out_channels));
    pthreadpool_parallelize_2d(pool, multiply, &block, static_cast<size_t>(matrices()), panels, 0);
  } else {
    const xnn_status status = xnn_run_operator(block.product, pool);
    if (status != xnn_status_success) return status;
  }
  pthreadpool_parallelize_1d_tile_1d(pool, transform_output, &block, rows, task, 0);
  return xnn_status_success;
}

void WinogradStage::run_own_block(void* stage, size_t thread, size_t index) {
  auto& self = *static_cast<WinogradStage*>(stage);
  const xnn_status status = self.run_block(self.blocks_[thread], index, nullptr);
  if (status != xnn_status_success) self.failure_ = status;
}

Status WinogradStage::run() {
  const auto count = static_cast<size_t>((shape_.tiles() + rows_ - 1) / rows_);
  failure_ = xnn_status_success;
  if (block_count_ > 1) {
    pthreadpool_parallelize_1d_with_thread(pool_, run_own_block, this, count, 0);
  }
  for (size_t i = 0; i < count && block_count_ == 1 && failure_ == xnn_status_success; ++i) {
    failure_ = run_block(blocks_[0], i, pool_);
  }
  return status_of(failure_, "XNNPACK cannot run a convolution");
}

}  // namespace taper::xnnpack
