// The transforms multiply by small constant matrices from both sides, for a vector of channels at
// once. The matrices are tables known at compile time, so zeros and ones cost nothing.

#include "kernels_optimized/cores/winograd.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/winograd.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#ifndef TAPER_WINOGRAD_MATRICES
#define TAPER_WINOGRAD_MATRICES
namespace taper::optimized {

// The matrices evaluate polynomials at a few points, where their product is computed, and
// interpolate the result. For tiles of 2 the points are 0, 1, -1 and infinity.
template <int kTile>
struct Winograd;

template <>
struct Winograd<2> {
  struct Input {
    static constexpr int kRows = 4, kColumns = 4;
    static constexpr float kValues[4][4] = {
        {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  };
  struct Output {
    static constexpr int kRows = 2, kColumns = 4;
    static constexpr float kValues[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
  };
  struct Filter {
    static constexpr int kRows = 4, kColumns = 3;
    static constexpr float kValues[4][3] = {
        {1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}};
  };
};

// For tiles of 4 the points are 0, a, -a, b, -b and infinity. With a = 1 and b = 2, as in the
// paper, rounding errors are four times those of the plain sum; with the values chosen here, less
// than twice. All entries of Input are exact.
template <>
struct Winograd<4> {
  static constexpr float a = 0.625f, a2 = a * a, a3 = a * a2;
  static constexpr float b = 1.5f, b2 = b * b, b3 = b * b2;
  static constexpr float p = 2 * a2 * (a2 - b2), q = 2 * b2 * (b2 - a2);
  struct Input {
    static constexpr int kRows = 6, kColumns = 6;
    static constexpr float kValues[6][6] = {
        {a2 * b2, 0, -a2 - b2, 0, 1, 0}, {0, -a* b2, -b2, a, 1, 0}, {0, a* b2, -b2, -a, 1, 0},
        {0, -b* a2, -a2, b, 1, 0},       {0, b* a2, -a2, -b, 1, 0}, {0, a2* b2, 0, -a2 - b2, 0, 1}};
  };
  struct Output {
    static constexpr int kRows = 4, kColumns = 6;
    static constexpr float kValues[4][6] = {
        {1, 1, 1, 1, 1, 0}, {0, a, -a, b, -b, 0}, {0, a2, a2, b2, b2, 0}, {0, a3, -a3, b3, -b3, 1}};
  };
  struct Filter {
    static constexpr int kRows = 6, kColumns = 3;
    static constexpr float kValues[6][3] = {{1 / (a2 * b2), 0, 0},   {1 / p, a / p, a2 / p},
                                            {1 / p, -a / p, a2 / p}, {1 / q, b / q, b2 / q},
                                            {1 / q, -b / q, b2 / q}, {0, 0, 1}};
  };
};

// A matrix whose columns are the points, with zeros in those of the second of opposite ones.
template <typename Matrix>
struct FirstOfPairs {
  static constexpr int kRows = Matrix::kRows, kColumns = Matrix::kColumns;
  struct Values {
    float values[kRows][kColumns] = {};
    constexpr const float* operator[](int row) const { return values[row]; }
  };
  static constexpr Values make() {
    Values made;
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kColumns; ++j) {
        const bool is_second = j > 0 && j % 2 == 0 && j + 1 < kColumns;
        made.values[i][j] = is_second ? 0 : Matrix::kValues[i][j];
      }
    }
    return made;
  }
  static constexpr Values kValues = make();
};

}  // namespace taper::optimized
#endif  // TAPER_WINOGRAD_MATRICES

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// Which columns of a row: all, or those of even or odd number.
enum class Columns { kAll, kEven, kOdd };

// Adds to `sum` the products of row kRow, from column kColumn on, with x.
template <typename Matrix, Columns kWhich, int kRow, int kColumn, bool kHasSum>
HWY_INLINE Vec add_terms(const Vec* x, Vec sum) {
  if constexpr (kColumn == Matrix::kColumns) {
    return sum;
  } else {
    constexpr bool kIsAmong =
        kWhich == Columns::kAll || (kColumn % 2 == 0) == (kWhich == Columns::kEven);
    constexpr float kFactor = kIsAmong ? Matrix::kValues[kRow][kColumn] : 0;
    constexpr bool kCounts = kFactor != 0;
    if constexpr (kFactor == 1) {
      sum = kHasSum ? hn::Add(sum, x[kColumn]) : x[kColumn];
    } else if constexpr (kFactor == -1) {
      sum = kHasSum ? hn::Sub(sum, x[kColumn]) : hn::Neg(x[kColumn]);
    } else if constexpr (kCounts) {
      const Vec factor = hn::Set(kTag, kFactor);
      sum = kHasSum ? hn::MulAdd(factor, x[kColumn], sum) : hn::Mul(factor, x[kColumn]);
    }
    return add_terms < Matrix, kWhich, kRow, kColumn + 1, kHasSum || kCounts > (x, sum);
  }
}

// Whether a row of odd number and the next one are those of a point and its opposite: then columns
// of even number are the same, and those of odd number differ in sign.
template <typename Matrix, int kRow>
constexpr bool has_opposite() {
  if (kRow % 2 == 0 || kRow + 1 >= Matrix::kRows) return false;
  for (int j = 0; j < Matrix::kColumns; ++j) {
    const float one = Matrix::kValues[kRow][j], next = Matrix::kValues[kRow + 1][j];
    if (one != (j % 2 == 0 ? next : -next)) return false;
  }
  return true;
}

// The rows of y from kRow on. Opposite points share the sums of even and odd columns.
template <typename Matrix, int kRow>
HWY_INLINE void multiply_rows(const Vec* x, Vec* y) {
  if constexpr (has_opposite<Matrix, kRow>()) {
    const Vec even = add_terms<Matrix, Columns::kEven, kRow, 0, false>(x, hn::Zero(kTag));
    const Vec odd = add_terms<Matrix, Columns::kOdd, kRow, 0, false>(x, hn::Zero(kTag));
    y[kRow] = hn::Add(even, odd);
    y[kRow + 1] = hn::Sub(even, odd);
    multiply_rows<Matrix, kRow + 2>(x, y);
  } else if constexpr (kRow < Matrix::kRows) {
    y[kRow] = add_terms<Matrix, Columns::kAll, kRow, 0, false>(x, hn::Zero(kTag));
    multiply_rows<Matrix, kRow + 1>(x, y);
  }
}

// y = matrix * x, for a column x.
template <typename Matrix>
HWY_INLINE void multiply(const Vec* x, Vec* y) {
  multiply_rows<Matrix, 0>(x, y);
}

// The rows of y from kRow on, of a matrix whose columns 1, 3 and so on stand for themselves and the
// next one.
template <typename Matrix, int kRow>
HWY_INLINE void multiply_pairs(const Vec* sums, const Vec* differences, Vec* y) {
  if constexpr (kRow < Matrix::kRows) {
    y[kRow] = add_terms<FirstOfPairs<Matrix>, Columns::kAll, kRow, 0, false>(
        kRow % 2 == 0 ? sums : differences, hn::Zero(kTag));
    multiply_pairs<Matrix, kRow + 1>(sums, differences, y);
  }
}

// The same for a matrix whose columns are points: column 0, pairs of opposite ones, and the last.
// Rows of even number get the sums of pairs, and those of odd number their differences.
template <typename Matrix>
HWY_INLINE void multiply_back(const Vec* x, Vec* y) {
  Vec sums[Matrix::kColumns], differences[Matrix::kColumns];
  sums[0] = differences[0] = x[0];
  TAPER_UNROLL
  for (int j = 1; j + 1 < Matrix::kColumns; j += 2) {
    sums[j] = hn::Add(x[j], x[j + 1]);
    differences[j] = hn::Sub(x[j], x[j + 1]);
  }
  constexpr int kLast = Matrix::kColumns - 1;
  sums[kLast] = differences[kLast] = x[kLast];
  multiply_pairs<Matrix, 0>(sums, differences, y);
}

// to = matrix * from * transpose(matrix). from[i * columns + j] points to element (i, j) of `from`;
// element (i, j) of `to` is at to + (i * rows + j) * stride.
template <typename Matrix>
HWY_INLINE void transform(const float* const* from, int64_t channel, int64_t count, float* to,
                          int64_t stride) {
  Vec between[Matrix::kColumns][Matrix::kRows];
  TAPER_UNROLL
  for (int j = 0; j < Matrix::kColumns; ++j) {
    Vec x[Matrix::kColumns];
    TAPER_UNROLL
    for (int i = 0; i < Matrix::kColumns; ++i) {
      x[i] = load_count(from[i * Matrix::kColumns + j] + channel, count);
    }
    multiply<Matrix>(x, between[j]);
  }
  TAPER_UNROLL
  for (int i = 0; i < Matrix::kRows; ++i) {
    Vec x[Matrix::kColumns], y[Matrix::kRows];
    TAPER_UNROLL
    for (int j = 0; j < Matrix::kColumns; ++j) x[j] = between[j][i];
    multiply<Matrix>(x, y);
    TAPER_UNROLL
    for (int j = 0; j < Matrix::kRows; ++j) {
      store_count(y[j], to + (i * Matrix::kRows + j) * stride + channel, count);
    }
  }
}

// to = matrix * from, for a column `from`; element i of `to` is at to + i * stride.
template <typename Matrix>
HWY_INLINE void transform_line(const float* const* from, int64_t channel, int64_t count, float* to,
                               int64_t stride) {
  Vec x[Matrix::kColumns], y[Matrix::kRows];
  TAPER_UNROLL
  for (int i = 0; i < Matrix::kColumns; ++i) x[i] = load_count(from[i] + channel, count);
  multiply<Matrix>(x, y);
  TAPER_UNROLL
  for (int i = 0; i < Matrix::kRows; ++i) store_count(y[i], to + i * stride + channel, count);
}

template <typename Matrix, bool kIsSquare>
HWY_INLINE void transform_channels(const float* const* from, int64_t channels, float* to,
                                   int64_t stride) {
  constexpr auto kTransform = kIsSquare ? transform<Matrix> : transform_line<Matrix>;
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) kTransform(from, c, kLanes, to, stride);
  if (c < channels) kTransform(from, c, channels - c, to, stride);
}

// The position of the first result of a tile.
struct Corner {
  int64_t image, row, column;
};

// Where tile `index` along a side begins: those of the image that begins at 0 come first, then
// those of the image that begins at 1.
HWY_INLINE int64_t start_of(int64_t index, int64_t size, int64_t dilation, int64_t width) {
  if (dilation == 1) return index * width;
  const int64_t each = WinogradShape::tiles_along(size, dilation, width);
  return index / each + index % each * width * dilation;
}

// Tiles of the slices of a volume that lie one behind another are neighbours.
HWY_INLINE Corner corner_of(const WinogradShape& s, int64_t tile) {
  const int64_t across = s.tiles_across(), each = s.tiles_down() * across;
  const bool is_deep = s.out_depth > 1;  // Divisions take long.
  const int64_t column = is_deep ? tile / s.out_depth : tile, inside = column % each;
  const int64_t image = column / each * s.out_depth + (is_deep ? tile % s.out_depth : 0);
  return {image, start_of(inside / across, s.out_height, s.dilation_down, s.tile_height()),
          start_of(inside % across, s.out_width, s.dilation_across, s.tile_width())};
}

// The slice that a tap of a slice of the result reads, or the image itself; -1 if it lies outside.
HWY_INLINE int64_t slice_of(const WinogradShape& s, int64_t image, int64_t tap) {
  const int64_t at = image % s.out_depth - s.padding_front + tap * s.dilation_deep;
  return at >= 0 && at < s.depth ? image / s.out_depth * s.depth + at : -1;
}

// The pixels of a patch, row by row.
HWY_INLINE void find_pixels(const WinogradShape& s, const Corner& corner, int64_t slice,
                            const float* image, const float* zeros, const float** pixels) {
  const int64_t height = s.tile_height() + s.window_height - 1;
  const int64_t width = s.tile_width() + s.window_width - 1;
  for (int64_t i = 0; i < height; ++i) {
    const int64_t y = corner.row + i * s.dilation_down - s.padding_top;
    for (int64_t j = 0; j < width; ++j) {
      const int64_t x = corner.column + j * s.dilation_across - s.padding_left;
      const bool inside = slice >= 0 && y >= 0 && y < s.height && x >= 0 && x < s.width;
      const int64_t place = (slice * s.height + y) * s.width + x;
      *pixels++ = inside ? image + place * s.groups * s.channels : zeros;
    }
  }
}

// Copies one row of each of `points` matrices.
HWY_INLINE void copy_rows(const float* from, int64_t channels, int64_t points, int64_t stride,
                          float* to) {
  for (int64_t p = 0; p < points; ++p, from += stride, to += stride) {
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) hn::StoreU(hn::LoadU(kTag, from + c), kTag, to + c);
    if (c < channels) store_some(load_some(from + c, channels - c), to + c, channels - c);
  }
}

// A tap reads the slice that the next tap of an earlier slice has read: its patch is copied, if the
// tile of that slice is among the rows to be computed.
template <int kTile, bool kIsSquare>
void transform_input(const WinogradShape& s, const WinogradTiles& tiles, const float* image,
                     const float* zeros, float* to) {
  constexpr int kSide = kTile + 2;
  const int64_t terms = s.terms(), stride = tiles.rows * terms, back = s.dilation_deep;
  for (int64_t r = tiles.begin; r < tiles.end; ++r) {
    const Corner corner = corner_of(s, tiles.first + r);
    const bool has_copies = r - back >= tiles.begin && corner.image % s.out_depth >= back;
    for (int64_t tap = 0; tap < s.taps; ++tap) {
      float* const row = to + r * terms + tap * s.channels;
      if (has_copies && tap + 1 < s.taps) {
        copy_rows(row - back * terms + s.channels, s.channels, s.points(), stride, row);
        continue;
      }
      const float* pixels[kSide * kSide];
      find_pixels(s, corner, slice_of(s, corner.image, tap), image, zeros, pixels);
      using Matrix = typename Winograd<kTile>::Input;
      transform_channels<Matrix, kIsSquare>(pixels, s.channels, row, stride);
    }
  }
}

// What is applied to one vector of channels of the results.
struct Finish {
  Vec bias, min, max;
  int64_t channel, count;

  HWY_INLINE Finish(const WinogradOutput& last, int64_t first, int64_t channels)
      : bias(last.bias != nullptr ? load_count(last.bias + first, channels) : hn::Zero(kTag)),
        min(hn::Set(kTag, last.min)),
        max(hn::Set(kTag, last.max)),
        channel(first),
        count(channels) {}

  // Writes a row of results, the first of them last: those outside have its place.
  template <int kTile>
  HWY_INLINE void store(const Vec (&results)[kTile], float* const* pixels) const {
    TAPER_UNROLL
    for (int j = kTile - 1; j >= 0; --j) {
      const Vec result = at_most(at_least(hn::Add(results[j], bias), min), max);
      store_count(result, pixels[j] + channel, count);
    }
  }
};

// Transforms one vector of channels of one square tile back and writes it.
template <int kTile>
HWY_INLINE void finish_square(const float* products, int64_t stride, const Finish& finish,
                              float* const* pixels) {
  using Matrix = typename Winograd<kTile>::Output;
  constexpr int kSide = kTile + 2;
  Vec between[kSide][kTile];
  TAPER_UNROLL
  for (int j = 0; j < kSide; ++j) {
    Vec x[kSide];
    TAPER_UNROLL
    for (int i = 0; i < kSide; ++i) {
      x[i] = load_count(products + (i * kSide + j) * stride, finish.count);
    }
    multiply_back<Matrix>(x, between[j]);
  }
  TAPER_UNROLL
  for (int i = kTile - 1; i >= 0; --i) {
    Vec x[kSide], y[kTile];
    TAPER_UNROLL
    for (int j = 0; j < kSide; ++j) x[j] = between[j][i];
    multiply_back<Matrix>(x, y);
    finish.store(y, pixels + i * kTile);
  }
}

// The same for a tile in one dimension.
template <int kTile>
HWY_INLINE void finish_line(const float* products, int64_t stride, const Finish& finish,
                            float* const* pixels) {
  Vec x[kTile + 2], y[kTile];
  TAPER_UNROLL
  for (int i = 0; i < kTile + 2; ++i) x[i] = load_count(products + i * stride, finish.count);
  multiply_back<typename Winograd<kTile>::Output>(x, y);
  finish.store(y, pixels);
}

template <int kTile, bool kIsSquare>
HWY_INLINE void finish_tile(const float* products, int64_t stride, const WinogradOutput& last,
                            float* const* pixels, int64_t channel, int64_t count) {
  const Finish finish(last, channel, count);
  constexpr auto kFinish = kIsSquare ? finish_square<kTile> : finish_line<kTile>;
  kFinish(products + channel, stride, finish, pixels);
}

// The pixels of a tile's results, row by row; those outside have the place of the first.
HWY_INLINE void find_results(const WinogradShape& s, const Corner& corner, float* out,
                             float** pixels) {
  float* first = nullptr;
  for (int64_t i = 0; i < s.tile_height(); ++i) {
    for (int64_t j = 0; j < s.tile_width(); ++j) {
      const int64_t y = corner.row + i * s.dilation_down;
      const int64_t x = corner.column + j * s.dilation_across;
      const int64_t place = (corner.image * s.out_height + y) * s.out_width + x;
      const bool inside = y < s.out_height && x < s.out_width;
      *pixels = inside ? out + place * s.groups * s.out_channels : first;
      if (first == nullptr) first = *pixels;
      ++pixels;
    }
  }
}

template <int kTile, bool kIsSquare>
void transform_output(const WinogradShape& s, const WinogradTiles& tiles, const float* products,
                      const WinogradOutput& last, float* out) {
  const int64_t channels = s.out_channels;
  for (int64_t r = tiles.begin; r < tiles.end; ++r) {
    const Corner corner = corner_of(s, tiles.first + r);
    // Of some dilated images, which have fewer pixels than others.
    if (corner.row >= s.out_height || corner.column >= s.out_width) continue;
    float* pixels[kTile * kTile];
    find_results(s, corner, out, pixels);
    const float* row = products + r * channels;
    const int64_t stride = tiles.rows * channels;
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      finish_tile<kTile, kIsSquare>(row, stride, last, pixels, c, kLanes);
    }
    if (c < channels) finish_tile<kTile, kIsSquare>(row, stride, last, pixels, c, channels - c);
  }
}

template <int kTile, bool kIsSquare>
void transform_filters(const WinogradShape& s, const float* filters, float* to) {
  using Matrix = typename Winograd<kTile>::Filter;
  constexpr int64_t kWindow = kIsSquare ? 9 : 3;
  for (int64_t o = 0; o < s.out_channels; ++o) {
    const float* taps[kWindow];
    for (int64_t k = 0; k < kWindow; ++k) taps[k] = filters + (o * kWindow + k) * s.terms();
    transform_channels<Matrix, kIsSquare>(taps, s.terms(), to + o * s.terms(),
                                          s.out_channels * s.terms());
  }
}

// Calls run(tile, is_square) with both as compile-time constants.
template <typename Run>
HWY_INLINE void with_tile(const WinogradShape& s, Run run) {
  const std::integral_constant<int, 2> two;
  const std::integral_constant<int, 4> four;
  if (s.is_square()) return s.tile == 2 ? run(two, std::true_type()) : run(four, std::true_type());
  s.tile == 2 ? run(two, std::false_type()) : run(four, std::false_type());
}

}  // namespace

void input_form(const WinogradShape& s, const WinogradTiles& tiles, const float* image,
                const float* zeros, float* to) {
  with_tile(s, [&](auto tile, auto is_square) {
    transform_input<tile, is_square>(s, tiles, image, zeros, to);
  });
}

void output_form(const WinogradShape& s, const WinogradTiles& tiles, const float* products,
                 const WinogradOutput& last, float* out) {
  with_tile(s, [&](auto tile, auto is_square) {
    transform_output<tile, is_square>(s, tiles, products, last, out);
  });
}

void filters_form(const WinogradShape& s, const float* filters, float* to) {
  with_tile(s,
            [&](auto tile, auto is_square) { transform_filters<tile, is_square>(s, filters, to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Input = void (*)(const WinogradShape&, const WinogradTiles&, const float*, const float*,
                       float*);
using Output = void (*)(const WinogradShape&, const WinogradTiles&, const float*,
                        const WinogradOutput&, float*);
using Filters = void (*)(const WinogradShape&, const float*, float*);

}  // namespace

bool has_winograd() { return TAPER_CHOOSE(Filters, filters_form) != nullptr; }

void winograd_filters(const WinogradShape& shape, const float* filters, float* to) {
  TAPER_CHOOSE(Filters, filters_form)(shape, filters, to);
}

void winograd_input(const WinogradShape& shape, const WinogradTiles& tiles, const float* image,
                    const float* zeros, float* to) {
  TAPER_CHOOSE(Input, input_form)(shape, tiles, image, zeros, to);
}

void winograd_output(const WinogradShape& shape, const WinogradTiles& tiles, const float* products,
                     const WinogradOutput& last, float* out) {
  TAPER_CHOOSE(Output, output_form)(shape, tiles, products, last, out);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
