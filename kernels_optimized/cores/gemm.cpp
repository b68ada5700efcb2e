// The blocked loops of the matrix product; gemm.h says how they nest.

#include "kernels_optimized/cores/gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/gemm.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/strips.h"
#include "kernels_optimized/engine/sum_lanes.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kPanelColumns = 2 * kLanes;

// What the sums of a tile are added to: nothing, out, one number per row, or a row-major matrix.
enum class Start { kZero, kOut, kRowConstants, kMatrix };

// The operands of one tile. Rows of the left operand are contiguous and `left_stride` apart.
struct Tile {
  const float* left;
  int64_t left_stride;
  const float* right;
  int64_t right_stride;
  int64_t depth;
  float alpha;
  float* out;
  int64_t out_stride;
  int64_t columns;  // How many columns are stored.
  Start start;
  float beta;          // beta, added and its stride are used by kRowConstants and kMatrix:
  const float* added;  // one number per row, or contiguous rows.
  int64_t added_stride;
  Bounds bounds;  // Infinite where the results are not complete yet.
};

// What the sums of row i are added to, from column j on.
HWY_INLINE Vec start_of(const Tile& tile, int64_t i, int64_t j, int64_t count) {
  if (tile.start == Start::kZero) return hn::Zero(kTag);
  if (tile.start == Start::kOut) return load_count(tile.out + i * tile.out_stride + j, count);
  const float* added = tile.added + i * tile.added_stride;
  if (tile.start == Start::kRowConstants) return hn::Set(kTag, tile.beta * *added);
  return hn::Mul(hn::Set(kTag, tile.beta), load_count(added + j, count));
}

template <int kRows, int kVectors>
HWY_INLINE void store_tile(const Tile& tile, const Vec (&sums)[kRows][kVectors]) {
  const Vec alpha = hn::Set(kTag, tile.alpha);
  const Vec low = hn::Set(kTag, tile.bounds.low), high = hn::Set(kTag, tile.bounds.high);
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    float* out = tile.out + i * tile.out_stride;
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j, out += kLanes) {
      const int64_t count = tile.columns - j * kLanes;
      if (count <= 0) continue;
      const Vec sum = hn::MulAdd(sums[i][j], alpha, start_of(tile, i, j * kLanes, count));
      const Vec value = at_most(at_least(sum, low), high);
      if (count >= kLanes) {
        hn::StoreU(value, kTag, out);
      } else {
        store_some(value, out, count);
      }
    }
  }
}

// The innermost loop, where the time is spent.
template <int kRows, int kVectors>
void run_tile(const Tile& tile) {
  Vec sums[kRows][kVectors];
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::Zero(kTag);
  }
  const float* left = tile.left;
  const float* right = tile.right;
  const int64_t stride = tile.left_stride;
  for (int64_t k = 0; k < tile.depth; ++k, right += tile.right_stride) {
    Vec factors[kVectors];
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) factors[j] = hn::LoadU(kTag, right + j * kLanes);
    TAPER_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const Vec factor = hn::Set(kTag, left[i * stride + k]);
      TAPER_UNROLL
      for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(factor, factors[j], sums[i][j]);
    }
  }
  store_tile<kRows, kVectors>(tile, sums);
}

template <int kRows>
void run_rows(const Tile& tile) {
  if (tile.columns > kLanes) return run_tile<kRows, 2>(tile);
  run_tile<kRows, 1>(tile);
}

void run_strip(int64_t rows, const Tile& tile) {
  with_rows(rows, [&](auto count) HWY_ATTR { run_rows<count>(tile); });
}

// ---- The right operand ----

// Copies contiguous rows of `columns` floats to the rows of a panel.
void pack_rows(const float* from, int64_t from_stride, int64_t depth, int64_t columns, float* to) {
  for (int64_t k = 0; k < depth; ++k, from += from_stride, to += kPanelColumns) {
    if (columns == kPanelColumns) {
      hn::StoreU(hn::LoadU(kTag, from), kTag, to);
      hn::StoreU(hn::LoadU(kTag, from + kLanes), kTag, to + kLanes);
    } else {
      std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(float));
    }
  }
}

// Transposes four contiguous columns into rows, four rows at a time.
void pack_four_columns(const float* from, int64_t stride, int64_t depth, float* to,
                       int64_t to_stride) {
  const hn::FixedTag<float, 4> four;
  const hn::Repartition<uint64_t, decltype(four)> two;  // 32-bit Arm has no vectors of doubles.
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const auto a = hn::LoadU(four, from + k);
    const auto b = hn::LoadU(four, from + stride + k);
    const auto c = hn::LoadU(four, from + 2 * stride + k);
    const auto d = hn::LoadU(four, from + 3 * stride + k);
    const auto ab_low = hn::BitCast(two, hn::InterleaveLower(four, a, b));
    const auto ab_high = hn::BitCast(two, hn::InterleaveUpper(four, a, b));
    const auto cd_low = hn::BitCast(two, hn::InterleaveLower(four, c, d));
    const auto cd_high = hn::BitCast(two, hn::InterleaveUpper(four, c, d));
    float* row = to + k * to_stride;
    hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, ab_low, cd_low)), four, row);
    row += to_stride;
    hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, ab_low, cd_low)), four, row);
    row += to_stride;
    hn::StoreU(hn::BitCast(four, hn::InterleaveLower(two, ab_high, cd_high)), four, row);
    row += to_stride;
    hn::StoreU(hn::BitCast(four, hn::InterleaveUpper(two, ab_high, cd_high)), four, row);
  }
  for (; k < depth; ++k) {
    for (int64_t j = 0; j < 4; ++j) to[k * to_stride + j] = from[j * stride + k];
  }
}

void pack_columns(const float* from, int64_t stride, int64_t depth, int64_t columns, float* to) {
  int64_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    pack_four_columns(from + j * stride, stride, depth, to + j, kPanelColumns);
  }
  for (; j < columns; ++j) {
    for (int64_t k = 0; k < depth; ++k) to[k * kPanelColumns + j] = from[j * stride + k];
  }
}

void pack_any(const FloatMatrix& from, int64_t depth, int64_t columns, float* to) {
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < columns; ++j) {
      to[k * kPanelColumns + j] = from.data[k * from.row_stride + j * from.column_stride];
    }
  }
}

// Packs one panel: rows [k, k + depth) of columns [n, n + columns), up to kPanelColumns of them.
// The rest of an incomplete panel is multiplied too, so it must be initialised.
void pack_panel(const Gemm& g, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to) {
  if (columns < kPanelColumns) std::fill_n(to, depth * kPanelColumns, 0.0f);
  if (g.packed_right.pack != nullptr) {
    const PackedRight& right = g.packed_right;
    return right.pack(right.source, k, depth, right.first + n, columns, to, kPanelColumns);
  }
  const FloatMatrix& r = g.right;
  const float* from = r.data + k * r.row_stride + n * r.column_stride;
  if (r.column_stride == 1) return pack_rows(from, r.row_stride, depth, columns, to);
  if (r.row_stride == 1) return pack_columns(from, r.column_stride, depth, columns, to);
  pack_any({from, r.row_stride, r.column_stride}, depth, columns, to);
}

// ---- The left operand ----

// Rows [m, m + rows) x columns [k, k + depth) of the left operand, with contiguous rows: in place
// if they are, otherwise copied.
const float* left_strip(const Gemm& g, int64_t m, int64_t rows, int64_t k, int64_t depth,
                        float* buffer, int64_t* stride) {
  const FloatMatrix& l = g.left;
  const float* from = l.data + m * l.row_stride + k * l.column_stride;
  *stride = l.column_stride == 1 ? l.row_stride : depth;
  if (l.column_stride == 1) return from;
  int64_t i = 0;
  if (l.row_stride == 1) {
    for (; i + 4 <= depth; i += 4) {
      pack_four_columns(from + i * l.column_stride, l.column_stride, rows, buffer + i, depth);
    }
  }
  for (; i < depth; ++i) {
    for (int64_t j = 0; j < rows; ++j) {
      buffer[j * depth + i] = from[j * l.row_stride + i * l.column_stride];
    }
  }
  return buffer;
}

// ---- The loops ----

bool adds(const Gemm& g) { return g.added.data != nullptr && g.beta != 0; }

// Sets what the tile at (m, n) is added to. A layout of `added` that tiles do not support is
// written to out before, by prepare_out().
void begin_tile(const Gemm& g, int64_t m, int64_t n, Tile* tile) {
  tile->start = Start::kZero;
  if (!adds(g)) return;
  const int64_t step = g.added.column_stride;
  tile->start = step == 0 ? Start::kRowConstants : step == 1 ? Start::kMatrix : Start::kOut;
  tile->beta = g.beta;
  tile->added = g.added.data + m * g.added.row_stride + n * step;
  tile->added_stride = g.added.row_stride;
}

// Writes beta * added to a rectangle of out.
void prepare_out(const Gemm& g, int64_t m, int64_t rows, int64_t n, int64_t columns) {
  for (int64_t i = m; i < m + rows; ++i) {
    const float* from = g.added.data + i * g.added.row_stride + n * g.added.column_stride;
    float* to = g.out + i * g.out_stride + n;
    if (g.added.column_stride == 1) {
      for (int64_t j = 0; j < columns; ++j) to[j] = g.beta * from[j];
    } else {
      for (int64_t j = 0; j < columns; ++j) to[j] = g.beta * from[j * g.added.column_stride];
    }
  }
}

struct Blocks {
  int64_t depth;
  int64_t columns;
  float* left;
  float* right;
};

// Chooses blocks as large as the scratch allows; blocks of depth get about equal sizes.
Blocks choose_blocks(const Gemm& g, Span<float> scratch) {
  const auto room = static_cast<int64_t>(scratch.size());
  const int64_t most = room >= (int64_t{32} << 10) ? 256 : 96;
  const int64_t count = std::max(int64_t{1}, (g.depth + most - 1) / most);
  Blocks blocks;
  blocks.depth = std::max(int64_t{1}, (g.depth + count - 1) / count);
  const int64_t left = kStripRows * blocks.depth;
  blocks.columns = (room - left) / blocks.depth / kPanelColumns * kPanelColumns;
  blocks.left = scratch.data();
  blocks.right = scratch.data() + left;
  return blocks;
}

// Multiplies all rows by columns [n, n + columns), of which rows [k, k + depth) are packed in
// panels of `panel_depth` rows. `left` has room for a strip of the left operand.
void multiply_block(const Gemm& g, float* left, const float* panels, int64_t panel_depth, int64_t k,
                    int64_t depth, int64_t n, int64_t columns) {
  int64_t rows;
  for (int64_t m = 0; m < g.rows; m += rows) {
    rows = strip_height(g.rows - m);
    Tile tile = {};
    tile.start = Start::kOut;
    if (k == 0) begin_tile(g, m, n, &tile);
    if (k == 0 && tile.start == Start::kOut) prepare_out(g, m, rows, n, columns);
    tile.left = left_strip(g, m, rows, k, depth, left, &tile.left_stride);
    tile.right = panels;
    tile.right_stride = kPanelColumns;
    tile.depth = depth;
    tile.alpha = g.alpha;
    tile.out = g.out + m * g.out_stride + n;
    tile.out_stride = g.out_stride;
    if (k + depth == g.depth) tile.bounds = g.bounds;
    for (int64_t j = 0; j < columns; j += kPanelColumns) {
      tile.columns = std::min(kPanelColumns, columns - j);
      run_strip(rows, tile);
      tile.right += kPanelColumns * panel_depth;
      tile.out += kPanelColumns;
      if (tile.start == Start::kMatrix) tile.added += kPanelColumns;
    }
  }
}

void multiply_packed(const Gemm& g, Span<float> scratch) {
  const Blocks blocks = choose_blocks(g, scratch);
  for (int64_t n = 0; n < g.columns; n += blocks.columns) {
    const int64_t columns = std::min(blocks.columns, g.columns - n);
    int64_t k = 0;
    do {  // At least once, so that a product of depth 0 is written too.
      const int64_t depth = std::min(blocks.depth, g.depth - k);
      for (int64_t j = 0; j < columns; j += kPanelColumns) {
        pack_panel(g, k, depth, n + j, std::min(kPanelColumns, columns - j),
                   blocks.right + j * depth);
      }
      multiply_block(g, blocks.left, blocks.right, depth, k, depth, n, columns);
      k += depth;
    } while (k < g.depth);
  }
}

// The depth of the blocks of panels that are packed ahead.
constexpr int64_t kPanelDepth = 256;

int64_t padded(int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

void multiply_panels(const Gemm& g) {
  int64_t k = 0;
  do {  // At least once, so that a product of depth 0 is written too.
    const int64_t depth = std::min(kPanelDepth, g.depth - k);
    const int64_t panel_depth = std::min(kPanelDepth, g.panels.depth - k);
    const float* panels = g.panels.data + k * padded(g.panels.columns);
    multiply_block(g, nullptr, panels, panel_depth, k, depth, 0, g.columns);
    k += depth;
  } while (k < g.depth);
}

// Computes one strip of rows without packing: whole vectors of the right operand are read in place.
// A single row uses wide tiles, which read longer contiguous runs.
void multiply_in_place(const Gemm& g, Span<float> scratch) {
  constexpr int64_t kWide = 8 * kLanes;
  const int64_t whole = g.columns / kLanes * kLanes;
  Tile tile = {};
  tile.left = g.left.data;
  tile.left_stride = g.left.row_stride;
  tile.right_stride = g.right.row_stride;
  tile.depth = g.depth;
  tile.alpha = g.alpha;
  tile.out_stride = g.out_stride;
  tile.bounds = g.bounds;
  const int64_t wide = g.rows == 1 ? g.columns / kWide * kWide : 0;
  for (int64_t n = 0; n < whole; n += tile.columns) {
    tile.columns = n < wide ? kWide : std::min(kPanelColumns, whole - n);
    tile.right = g.right.data + n;
    tile.out = g.out + n;
    begin_tile(g, 0, n, &tile);
    if (tile.start == Start::kOut) prepare_out(g, 0, g.rows, n, tile.columns);
    n < wide ? run_tile<1, 8>(tile) : run_strip(g.rows, tile);
  }
  if (whole == g.columns) return;
  Gemm rest = g;
  rest.columns -= whole;
  rest.right.data += whole;
  rest.out += whole;
  if (rest.added.data != nullptr) rest.added.data += whole * rest.added.column_stride;
  multiply_packed(rest, scratch);
}

// Computes kRows x kColumns outputs, one or four of each, as dot products; the columns of the right
// operand are contiguous.
template <int kRows, int kColumns>
void run_dots(const Gemm& g, int64_t m, int64_t n) {
  Vec sums[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) sums[i][j] = hn::Zero(kTag);
  }
  const float* left = g.left.data + m * g.left.row_stride;
  const float* right = g.right.data + n * g.right.column_stride;
  for (int64_t k = 0; k < g.depth; k += kLanes) {
    const int64_t count = std::min(kLanes, g.depth - k);
    Vec factors[kColumns];
    for (int j = 0; j < kColumns; ++j) {
      const float* at = right + j * g.right.column_stride + k;
      factors[j] = count == kLanes ? hn::LoadU(kTag, at) : load_some(at, count);
    }
    for (int i = 0; i < kRows; ++i) {
      const float* at = left + i * g.left.row_stride + k;
      const Vec factor = count == kLanes ? hn::LoadU(kTag, at) : load_some(at, count);
      for (int j = 0; j < kColumns; ++j) sums[i][j] = hn::MulAdd(factor, factors[j], sums[i][j]);
    }
  }
  constexpr Four four;
  for (int i = 0; i < kRows; ++i) {
    float* to = g.out + (m + i) * g.out_stride + n;
    // A single sum is added up in the same order.
    const Vec none = hn::Zero(kTag);
    const auto at = [&](int j) HWY_ATTR { return j < kColumns ? sums[i][j] : none; };
    const auto all = hn::Mul(hn::Set(four, g.alpha), sum_lanes(at(0), at(1), at(2), at(3)));
    if constexpr (kColumns == 4) {
      hn::StoreU(adds(g) ? hn::Add(hn::LoadU(four, to), all) : all, four, to);
    } else {
      *to = adds(g) ? *to + hn::GetLane(all) : hn::GetLane(all);
    }
    for (int j = 0; j < kColumns && g.bounds.clamps(); ++j) to[j] = g.bounds.clamp(to[j]);
  }
}

template <int kRows>
void run_dot_rows(const Gemm& g, int64_t m) {
  int64_t n = 0;
  for (; n + 4 <= g.columns; n += 4) run_dots<kRows, 4>(g, m, n);
  for (; n < g.columns; ++n) run_dots<kRows, 1>(g, m, n);
}

void multiply_by_dots(const Gemm& g) {
  if (adds(g)) prepare_out(g, 0, g.rows, 0, g.columns);
  int64_t m = 0;
  for (; m + 4 <= g.rows; m += 4) run_dot_rows<4>(g, m);
  for (; m < g.rows; ++m) run_dot_rows<1>(g, m);
}

enum class Way { kDots, kInPlace, kPacked, kPanels };

// Which algorithm computes `g`. The number of columns plays no part, so that a product divided by
// columns is computed in the same way as the whole.
Way way_of(const Gemm& g) {
  if (g.panels.data != nullptr) return Way::kPanels;
  const bool stored = g.packed_right.pack == nullptr;
  const bool has_left_rows = g.left.column_stride == 1;
  if (!stored || !has_left_rows) return Way::kPacked;
  if (g.right.row_stride == 1 && g.rows <= 8 && g.depth >= kLanes) return Way::kDots;
  const bool in_place = g.right.column_stride == 1 && g.depth > 0 && g.rows == strip_height(g.rows);
  return in_place ? Way::kInPlace : Way::kPacked;
}

}  // namespace

void packed_form(const Gemm& g, Span<float> scratch) { multiply_packed(g, scratch); }

void gemm_form(const Gemm& g, Span<float> scratch) {
  switch (way_of(g)) {
    case Way::kDots:
      return multiply_by_dots(g);
    case Way::kInPlace:
      return multiply_in_place(g, scratch);
    case Way::kPacked:
      return multiply_packed(g, scratch);
    case Way::kPanels:
      return multiply_panels(g);
  }
}

int64_t panel_floats_form(int64_t depth, int64_t columns) { return depth * padded(columns); }

void pack_panels_form(const FloatMatrix& right, int64_t depth, int64_t columns, float* to) {
  Gemm g;
  g.right = right;
  for (int64_t k = 0; k < depth; k += kPanelDepth) {
    const int64_t rows = std::min(kPanelDepth, depth - k);
    for (int64_t n = 0; n < columns; n += kPanelColumns, to += rows * kPanelColumns) {
      pack_panel(g, k, rows, n, std::min(kPanelColumns, columns - n), to);
    }
  }
}

bool packs_form(const Gemm& g) { return way_of(g) == Way::kPacked; }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const Gemm&, Span<float>);
using Packs = bool (*)(const Gemm&);

constexpr size_t kStackFloats = size_t{8} << 10;

void run_on_stack(Form form, const Gemm& problem) {
  float scratch[kStackFloats];
  form(problem, {scratch, kStackFloats});
}

FloatMatrix transposed(const FloatMatrix& m) { return {m.data, m.column_stride, m.row_stride}; }

// The transposed problem, out^T = right^T x left^T, which makes a single column a row.
Gemm transposed(const Gemm& g) {
  Gemm other = g;
  other.rows = g.columns;
  other.columns = g.rows;
  other.left = transposed(g.right);
  other.right = transposed(g.left);
  other.added = transposed(g.added);
  other.out_stride = g.rows;
  return other;
}

bool is_column(const Gemm& g) {
  return g.columns == 1 && g.rows > 1 && g.out_stride == 1 && g.packed_right.pack == nullptr &&
         g.panels.data == nullptr;
}

// Multiples of the widths and heights of the tiles of all forms.
constexpr int64_t kColumnStep = 32, kRowStep = 24;

Gemm columns_of(const Gemm& g, int64_t begin, int64_t end) {
  Gemm part = g;
  part.columns = end - begin;
  part.right.data += begin * g.right.column_stride;
  part.packed_right.first += begin;
  if (g.added.data != nullptr) part.added.data += begin * g.added.column_stride;
  part.out += begin;
  return part;
}
Gemm rows_of(const Gemm& g, int64_t begin, int64_t end) {
  Gemm part = g;
  part.rows = end - begin;
  part.left.data += begin * g.left.row_stride;
  if (g.added.data != nullptr) part.added.data += begin * g.added.row_stride;
  part.out += begin * g.out_stride;
  return part;
}

// A product divided into `parts`, by columns or by rows; each worker has its share of the scratch.
// It is divided by rows only if the right operand is packed: then the number of rows does not
// change the order in which an element is accumulated.
struct Cut {
  const Gemm& problem;
  bool by_rows;
  int64_t workers;
  int64_t parts;
  Form form;
  Span<float> scratch;

  void operator()(int64_t part, int64_t worker) const {
    const int64_t step = by_rows ? kRowStep : kColumnStep;
    const int64_t size = by_rows ? problem.rows : problem.columns;
    const int64_t steps = (size + step - 1) / step;
    const int64_t begin = part * steps / parts * step;
    const int64_t end = std::min(size, (part + 1) * steps / parts * step);
    const auto share = static_cast<int64_t>(scratch.size()) / workers / kLineFloats * kLineFloats;
    const Span<float> own(scratch.data() + worker * share, static_cast<size_t>(share));
    form(by_rows ? rows_of(problem, begin, end) : columns_of(problem, begin, end), own);
  }
};

}  // namespace

bool has_vectors() { return TAPER_CHOOSE(Form, gemm_form) != nullptr; }

int64_t panel_floats(int64_t depth, int64_t columns) {
  using Floats = int64_t (*)(int64_t, int64_t);
  return TAPER_CHOOSE(Floats, panel_floats_form)(depth, columns);
}

Panels pack_panels(const FloatMatrix& right, int64_t depth, int64_t columns, float* to) {
  using PackPanels = void (*)(const FloatMatrix&, int64_t, int64_t, float*);
  TAPER_CHOOSE(PackPanels, pack_panels_form)(right, depth, columns, to);
  return {to, depth, columns};
}

bool gemm(const Gemm& problem, Span<float> scratch) {
  const Form form = TAPER_CHOOSE(Form, gemm_form);
  if (form == nullptr) return false;
  if (problem.rows == 0 || problem.columns == 0) return true;
  if (is_column(problem)) return gemm(transposed(problem), scratch);
  if (scratch.size() < kStackFloats) {
    run_on_stack(form, problem);
  } else {
    form(problem, scratch);
  }
  return true;
}

bool gemm(const Gemm& problem, Span<float> scratch, const ThreadPool& pool) {
  const Packs packs = TAPER_CHOOSE(Packs, packs_form);
  if (pool.run == nullptr || packs == nullptr) return gemm(problem, scratch);
  if (is_column(problem)) return gemm(transposed(problem), scratch, pool);
  const double work = static_cast<double>(problem.rows) * static_cast<double>(problem.columns) *
                      static_cast<double>(problem.depth) / kMultiplicationsPerUnit;
  const int64_t room = static_cast<int64_t>(scratch.size()) / kGemmScratchFloats;
  const auto units = static_cast<int64_t>(std::min(work, 1e15));
  const int64_t most = parts_of(pool, units, room);
  const int64_t columns = (problem.columns + kColumnStep - 1) / kColumnStep;
  const int64_t rows = packs(problem) ? (problem.rows + kRowStep - 1) / kRowStep : 1;
  const bool by_rows = columns < 2 * most && rows > columns;
  const int64_t workers = std::min(most, by_rows ? rows : columns);
  if (workers <= 1) return gemm(problem, scratch);
  // Each part that has some of the rows packs the right operand once more.
  const int64_t parts = by_rows ? workers : chunks_of(workers, units, columns / 4);
  const Form form = by_rows ? TAPER_CHOOSE(Form, packed_form) : TAPER_CHOOSE(Form, gemm_form);
  take_turns(pool, workers, parts, Cut{problem, by_rows, workers, parts, form, scratch});
  return true;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
