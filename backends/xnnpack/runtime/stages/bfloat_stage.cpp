// Computes blocks of rows that stay in the cache for all columns. The image is rounded first, and a
// block gathers a window for each row, unless rows are pixels: then a block rounds its own.

#include "backends/xnnpack/runtime/stages/bfloat_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "kernels_optimized/cores/gemm.h"

namespace taper::xnnpack {
namespace {

using optimized::BfloatForm;
using optimized::kBfloatRows;
using optimized::kBfloatTerms;
using optimized::WindowShape;

// The least terms and columns that leave little of a tile unused, and the least products that pay
// for a stage.
constexpr int64_t kLeastTerms = 16;
constexpr int64_t kLeastColumns = 16;
constexpr int64_t kLeastProducts = int64_t{1} << 16;
// The rows of a block, and the bytes that they have at most, but for the least number of rows: for
// each block all weights are read, which fewer rows do not pay for.
constexpr int64_t kMostRows = 8 * kBfloatRows, kLeastRows = 2 * kBfloatRows;
constexpr int64_t kBlockBytes = int64_t{512} << 10;
// The tasks for each thread, so that one that begins late does not delay the others.
constexpr size_t kTasks = 4;
// The rows of the image that a task rounds.
constexpr size_t kRoundedRows = 16;
// The products that take about as long as waking the other threads.
constexpr int64_t kLeastShared = int64_t{1} << 20;

// What distinguishes these weights from XNNPACK's in the cache.
constexpr uint32_t kSeed = 0x42463136;

bool is_connected(const XnnNode& node) {
  return node.content_type == wire::NodeContent::FullyConnected;
}

uint64_t weight_bytes(int64_t terms, int64_t columns) {
  return static_cast<uint64_t>(optimized::bfloat_weights(terms, columns)) * sizeof(uint16_t);
}

}  // namespace

bool computes_in_bfloat(Numbers numbers) {
  if (numbers == Numbers::kRounded) return optimized::has_vectors();
  return numbers == Numbers::kOwn && optimized::best_bfloat_form() != BfloatForm::kFloats;
}

BfloatStage::Layer BfloatStage::layer_of(const XnnNode& node, Span<const XnnValue> values) {
  Layer layer;
  const Shape& in = input(node, values).shape;
  const Shape& out = values[node.output].shape;
  layer.columns = out.last();
  layer.rows = static_cast<int64_t>(element_count(out)) / layer.columns;
  if (is_connected(node)) {
    layer.terms = in.last();
    layer.window.height = layer.rows;
    layer.window.width = 1;
    layer.window.channels = layer.terms;
    return layer;
  }
  layer.window = window_shape(node, values);
  layer.has_window = !is_pointwise(layer.window);
  layer.terms = layer.window.window_height * layer.window.window_width * layer.window.channels;
  return layer;
}

bool BfloatStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  const bool is_convolution = node.kind == find_kind(wire::NodeContent::Conv2d);
  if (!is_connected(node) && !is_convolution) return false;
  if (!is_in_floats(node, values) || !has_constant_filter(node, values)) return false;
  if (is_convolution && node.as<wire::Convolution>().groups() != 1) return false;
  if (element_count(values[node.output].shape) == 0) return false;
  const Layer layer = layer_of(node, values);
  if (layer.terms < kLeastTerms || layer.columns < kLeastColumns) return false;
  return layer.rows >= kLeastProducts / layer.terms / layer.columns;
}

int64_t BfloatStage::block_rows(const Layer& layer) {
  const int64_t row_bytes = optimized::whole_terms(layer.terms) * 2;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): is_better() takes no layer without terms.
  return std::clamp(kBlockBytes / row_bytes / kBfloatRows * kBfloatRows, kLeastRows, kMostRows);
}

int64_t BfloatStage::image_size(const Layer& layer) {
  const int64_t terms = optimized::whole_terms(layer.terms);
  if (!layer.has_window) return optimized::whole_rows(layer.rows) * terms;
  const WindowShape& s = layer.window;
  return optimized::whole_terms(s.images * s.height * s.width * s.channels);
}

int64_t BfloatStage::block_size(const Layer& layer) {
  return layer.has_window ? (block_rows(layer) + 1) * optimized::whole_terms(layer.terms) : 0;
}

uint64_t BfloatStage::extra_bytes(const XnnNode& node, Span<const XnnValue> values) {
  constexpr int64_t kThreads = 4;
  const Layer layer = layer_of(node, values);
  const int64_t scratch = image_size(layer) + kThreads * block_size(layer);
  return weight_bytes(layer.terms, layer.columns) +
         static_cast<uint64_t>(scratch) * sizeof(uint16_t);
}

Status BfloatStage::find_weights(const XnnNode& node, const XnnValue& filter,
                                 const Shared& shared) {
  const auto columns = layer_.columns, terms = layer_.terms;
  const bool is_turned = is_connected(node) && (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0;
  const optimized::BfloatSource source = {floats_of(filter), is_turned ? columns : 1,
                                          is_turned ? 1 : terms, terms, columns};
  const auto pack = [&](void* to) {
    optimized::pack_bfloat(source, static_cast<uint16_t*>(to));
    return Status();
  };
  const void* weights = nullptr;
  TAPER_TRY(find_filters(shared, kSeed, filter.data,
                         static_cast<size_t>(weight_bytes(terms, columns)), pack, own_weights_,
                         weights));
  product_.weights = static_cast<const uint16_t*>(weights);
  return {};
}

Status BfloatStage::build(const XnnNode& node, Span<const XnnValue> values, const Shared& shared) {
  node_ = &node;
  pool_ = shared.pool;
  form_ = optimized::best_bfloat_form();
  layer_ = layer_of(node, values);
  TAPER_TRY(find_weights(node, input(node, values, 1), shared));
  product_.terms = optimized::whole_terms(layer_.terms);
  product_.columns = product_.out_step = layer_.columns;
  if (node.inputs[2] != kNone) product_.bias = floats_of(input(node, values, 2));
  product_.min = node.min;
  product_.max = node.max;
  return {};
}

Status BfloatStage::reshape(Span<const XnnValue> values) {
  layer_ = layer_of(*node_, values);
  const bool is_small = layer_.rows * layer_.terms * layer_.columns < kLeastShared;
  used_pool_ = is_small ? nullptr : pool_;
  blocks_ = static_cast<size_t>((layer_.rows + block_rows(layer_) - 1) / block_rows(layer_));
  const auto panels = static_cast<size_t>(optimized::bfloat_panels(layer_.columns));
  const size_t threads = pthreadpool_get_threads_count(used_pool_);
  const size_t tasks = threads > 1 ? threads * kTasks : 1;
  shares_ = std::min(panels, (tasks + blocks_ - 1) / std::max(blocks_, size_t{1}));
  return {};
}

uint64_t BfloatStage::scratch_bytes() const {
  const auto threads = static_cast<int64_t>(pthreadpool_get_threads_count(pool_));
  return static_cast<uint64_t>(image_size(layer_) + threads * block_size(layer_)) *
         sizeof(uint16_t);
}

Status BfloatStage::bind(Span<void* const> places, void* scratch) {
  image_ = static_cast<const float*>(places[node_->inputs[0]]);
  product_.out = static_cast<float*>(places[node_->output]);
  rounded_ = static_cast<uint16_t*>(scratch);
  gathered_ = rounded_ + image_size(layer_);
  return {};
}

void BfloatStage::round_rows(void* stage, size_t first, size_t rows) {
  const auto& self = *static_cast<BfloatStage*>(stage);
  const WindowShape& s = self.layer_.window;
  const auto begin = static_cast<int64_t>(first), end = begin + static_cast<int64_t>(rows);
  if (self.layer_.has_window) {
    const int64_t size = s.width * s.channels;
    optimized::round_to_bfloat(self.image_ + begin * size, (end - begin) * size,
                               self.rounded_ + begin * size);
  } else {
    self.round_pixels(begin * s.width, end * s.width);
  }
}

void BfloatStage::round_pixels(int64_t begin, int64_t end) const {
  const int64_t terms = layer_.terms;
  for (int64_t row = begin; row < end; ++row) {
    optimized::place_bfloat_row(image_ + row * terms, terms,
                                rounded_ + optimized::bfloat_row_place(row, terms));
  }
}

// Calls take(from, terms) for parts of the window of a result, one after another; `from` is null
// for zeros, outside the image.
template <typename Take>
void BfloatStage::visit_window(int64_t row, Take take) const {
  const WindowShape& s = layer_.window;
  const int64_t across = row % s.out_width, down = row / s.out_width % s.out_height;
  const uint16_t* const image =
      rounded_ + row / (s.out_width * s.out_height) * s.height * s.width * s.channels;
  const int64_t left = across * s.step_across - s.padding_left;
  for (int64_t i = 0; i < s.window_height; ++i) {
    const int64_t y = down * s.step_down - s.padding_top + i * s.dilation_down;
    const bool is_inside = y >= 0 && y < s.height;
    // Neighbours are taken together.
    const int64_t run = s.dilation_across == 1 ? s.window_width : 1;
    for (int64_t j = 0; j < s.window_width; j += run) {
      const int64_t x = left + j * s.dilation_across;
      const int64_t first = is_inside ? std::clamp(-x, int64_t{0}, run) : run;
      const int64_t last = std::clamp(s.width - x, first, run);
      take(nullptr, first * s.channels);
      if (first < last) {
        take(image + (y * s.width + x + first) * s.channels, (last - first) * s.channels);
      }
      take(nullptr, (run - last) * s.channels);
    }
  }
}

// Writes the window of a result to row `index` of `rows`. Where pixels are whole pieces they are
// copied once; others are put together first, behind the rows.
void BfloatStage::gather(int64_t row, int64_t index, uint16_t* rows) const {
  const int64_t terms = optimized::whole_terms(layer_.terms);
  uint16_t* to = rows + optimized::bfloat_row_place(index, terms);
  if (layer_.window.channels % kBfloatTerms == 0) {
    visit_window(row, [&](const uint16_t* from, int64_t count) {
      if (from != nullptr) optimized::place_bfloat_row(from, count, to);
      for (int64_t k = 0; k < count; k += kBfloatTerms, to += optimized::kBfloatPiece) {
        if (from == nullptr) std::fill_n(to, kBfloatTerms, uint16_t{0});
      }
    });
    return;
  }
  uint16_t* const whole = rows + block_rows(layer_) * terms;
  uint16_t* next = whole;
  visit_window(row, [&](const uint16_t* from, int64_t count) {
    next = from != nullptr ? std::copy_n(from, count, next) : std::fill_n(next, count, uint16_t{0});
  });
  optimized::place_bfloat_row(whole, layer_.terms, to);
}

void BfloatStage::multiply(void* stage, size_t thread, size_t block, size_t share) {
  const auto& self = *static_cast<BfloatStage*>(stage);
  const Layer& layer = self.layer_;
  const int64_t first = static_cast<int64_t>(block) * block_rows(layer);
  optimized::BfloatProduct product = self.product_;
  product.row_count = std::min(block_rows(layer), layer.rows - first);
  product.out += first * product.out_step;
  product.rows = self.rounded_ + first * product.terms;
  if (!self.rounds_first()) self.round_pixels(first, first + product.row_count);
  if (layer.has_window) {
    uint16_t* const rows = self.gathered_ + static_cast<int64_t>(thread) * block_size(layer);
    for (int64_t i = 0; i < product.row_count; ++i) self.gather(first + i, i, rows);
    product.rows = rows;
  }
  const int64_t panels = optimized::bfloat_panels(layer.columns);
  const auto shares = static_cast<int64_t>(self.shares_), index = static_cast<int64_t>(share);
  optimized::multiply_bfloat(product, self.form_, panels * index / shares,
                             panels * (index + 1) / shares);
}

Status BfloatStage::run() {
  if (rounds_first()) {
    const auto lines = static_cast<size_t>(layer_.window.images * layer_.window.height);
    pthreadpool_parallelize_1d_tile_1d(used_pool_, round_rows, this, lines, kRoundedRows, 0);
  }
  pthreadpool_parallelize_2d_with_thread(used_pool_, multiply, this, blocks_, shares_, 0);
  return {};
}

}  // namespace taper::xnnpack
