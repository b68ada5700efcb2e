// Tiles multiply a vector of a panel by one number of each row, which the instruction takes from a
// vector of four steps of that row; see constant_product.h.

#include "kernels_optimized/cores/arm/constant_product.h"

#include <algorithm>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace taper::optimized {
namespace {

constexpr int64_t kPanel = 16;

}  // namespace

int64_t constant_panels(int64_t columns) { return (columns + kPanel - 1) / kPanel; }

int64_t constant_product_size(int64_t depth, int64_t columns) {
  return constant_panels(columns) * kPanel * depth;
}

void pack_constant(const ConstantMatrix& from, float* to) {
  for (int64_t first = 0; first < from.columns; first += kPanel) {
    const int64_t count = std::min(kPanel, from.columns - first);
    for (int64_t k = 0; k < from.depth; ++k, to += kPanel) {
      const float* row = from.data + first * from.column_step + k * from.depth_step;
      for (int64_t j = 0; j < count; ++j) to[j] = row[j * from.column_step];
      std::fill(to + count, to + kPanel, 0.0f);
    }
  }
}

#if defined(__aarch64__)

#define TAPER_INLINE __attribute__((always_inline)) inline

namespace {

constexpr int64_t kLanes = 4;
constexpr int64_t kMostRows = 5;

// Compilers would load all vectors of a step at once, and have no registers left for the sums.
TAPER_INLINE float32x4_t loaded(const float* from) {
  float32x4_t vector;
  asm volatile("ldr %q0, %1" : "=w"(vector) : "m"(*reinterpret_cast<const float32x4_t*>(from)));
  return vector;
}

// Adds the products of a vector and one number of another; the first time the sum begins with them.
// Assembly, since compilers copy the number to a whole vector if several vectors are multiplied by
// it.
template <int kLane, bool kIsFirst>
TAPER_INLINE void add_products(float32x4_t& sum, float32x4_t factors, float32x4_t row) {
  if constexpr (kIsFirst) {
    asm("fmul %0.4s, %1.4s, %2.s[%3]" : "=w"(sum) : "w"(factors), "w"(row), "i"(kLane));
  } else {
    asm("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(sum) : "w"(factors), "w"(row), "i"(kLane));
  }
}

// Adds the products of step kStep of each row.
template <int kRows, int kVectors, int kStep, bool kIsFirst = false>
TAPER_INLINE void add_step(float32x4_t (&sums)[kRows][kVectors], const float32x4_t (&rows)[kRows],
                           const float* panel) {
  panel += kStep * kPanel;
  float32x4_t factors = loaded(panel);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    // The next vector is loaded before this one is used, for cores that keep to the order.
    const float32x4_t next = v + 1 < kVectors ? loaded(panel + (v + 1) * kLanes) : factors;
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i) {
      add_products<kStep, kIsFirst>(sums[i][v], factors, rows[i]);
    }
    factors = next;
  }
}

// The sums of a tile. Those of one row are in two sets, since a sum waits for its last product.
template <int kRows, int kVectors>
struct Sums {
  static constexpr int kSets = kRows == 1 ? 2 : 1;
  float32x4_t sets[kSets][kRows][kVectors];
};

// Adds the products of four steps.
template <int kRows, int kVectors, bool kIsFirst>
TAPER_INLINE void add_steps(Sums<kRows, kVectors>& sums, const float* left, int64_t depth,
                            const float* panel) {
  constexpr int kSets = Sums<kRows, kVectors>::kSets;
  float32x4_t rows[kRows];
#pragma GCC unroll 5
  for (int i = 0; i < kRows; ++i) rows[i] = vld1q_f32(left + i * depth);
  add_step<kRows, kVectors, 0, kIsFirst>(sums.sets[0], rows, panel);
  add_step<kRows, kVectors, 1, kIsFirst && kSets == 2>(sums.sets[kSets - 1], rows, panel);
  add_step<kRows, kVectors, 2>(sums.sets[0], rows, panel);
  add_step<kRows, kVectors, 3>(sums.sets[kSets - 1], rows, panel);
}

// The first `count` of four numbers.
TAPER_INLINE void store_some(float* to, float32x4_t numbers, int64_t count) {
  if (count >= kLanes) return vst1q_f32(to, numbers);
  if (count > 0) vst1q_lane_f32(to, numbers, 0);
  if (count > 1) vst1q_lane_f32(to + 1, numbers, 1);
  if (count > 2) vst1q_lane_f32(to + 2, numbers, 2);
}

TAPER_INLINE float32x4_t load_some(const float* from, int64_t count) {
  if (count >= kLanes) return vld1q_f32(from);
  float numbers[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) numbers[i] = from[i];
  return vld1q_f32(numbers);
}

// Adds the bias and clamps; NaN stays NaN.
template <int kRows, int kVectors>
TAPER_INLINE void finish(const ConstantProduct& p, int64_t first, int64_t columns,
                         float32x4_t (&sums)[kRows][kVectors]) {
  const float32x4_t min = vdupq_n_f32(p.min), max = vdupq_n_f32(p.max);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const float32x4_t bias = p.bias != nullptr
                                 ? load_some(p.bias + first + v * kLanes, columns - v * kLanes)
                                 : vdupq_n_f32(0);
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i) {
      sums[i][v] = vminq_f32(vmaxq_f32(vaddq_f32(sums[i][v], bias), min), max);
    }
  }
}

// Computes kRows rows from `row` on, in columns [first, first + columns).
template <int kRows, int kVectors>
TAPER_INLINE void multiply_tile(const ConstantProduct& p, int64_t row, int64_t first,
                                int64_t columns) {
  constexpr int kSets = Sums<kRows, kVectors>::kSets;
  Sums<kRows, kVectors> all;
  float32x4_t(&sums)[kRows][kVectors] = all.sets[0];
  const float* left = p.left + row * p.depth;
  const float* panel = p.constant + first * p.depth;
  const int64_t step = p.depth;
  int64_t k = 0;
  if (step >= kLanes) {
    add_steps<kRows, kVectors, true>(all, left, step, panel);
    for (k = kLanes; k + kLanes <= step; k += kLanes) {
      add_steps<kRows, kVectors, false>(all, left + k, step, panel + k * kPanel);
    }
  } else {
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) all.sets[kSets - 1][i][v] = sums[i][v] = vdupq_n_f32(0);
    }
  }
  if constexpr (kSets == 2) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[0][v] = vaddq_f32(sums[0][v], all.sets[1][0][v]);
  }
  left += k;
  panel += k * kPanel;
  for (; k < step; ++k, ++left, panel += kPanel) {
    float32x4_t rows[kRows];
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i) rows[i] = vld1q_dup_f32(left + i * step);
    add_step<kRows, kVectors, 0>(sums, rows, panel);
  }
  if (p.has_ends) finish<kRows, kVectors>(p, first, columns, sums);
  float* out = p.out + row * p.columns + first;
  if (columns == kVectors * kLanes) {
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i, out += p.columns) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) vst1q_f32(out + v * kLanes, sums[i][v]);
    }
    return;
  }
#pragma GCC unroll 5
  for (int i = 0; i < kRows; ++i, out += p.columns) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      store_some(out + v * kLanes, sums[i][v], columns - v * kLanes);
    }
  }
}

// `count` tiles of kRows rows below each other.
template <int kRows, int kVectors>
void multiply_tiles(const ConstantProduct& product, int64_t row, int64_t count, int64_t first,
                    int64_t columns) {
  const ConstantProduct p = product;  // A copy, which no stored result could change.
  for (; count > 0; --count, row += kRows) multiply_tile<kRows, kVectors>(p, row, first, columns);
}

template <int kRows>
void multiply_rows(const ConstantProduct& p, int64_t row, int64_t count, int64_t first,
                   int64_t columns) {
  if (columns > kPanel / 2) return multiply_tiles<kRows, 4>(p, row, count, first, columns);
  multiply_tiles<kRows, 2>(p, row, count, first, columns);
}

using Multiply = void (*)(const ConstantProduct&, int64_t, int64_t, int64_t, int64_t);
constexpr Multiply kTiles[kMostRows] = {multiply_rows<1>, multiply_rows<2>, multiply_rows<3>,
                                        multiply_rows<4>, multiply_rows<5>};

}  // namespace

bool has_constant_product() { return true; }

void multiply_constant(const ConstantProduct& p, int64_t begin, int64_t end) {
  if (p.rows <= 0) return;
  // Tiles of the same height, but for some that are one row higher.
  const int64_t tiles = (p.rows + kMostRows - 1) / kMostRows;
  const int64_t height = p.rows / tiles, higher = p.rows % tiles;
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * kPanel, columns = std::min(kPanel, p.columns - first);
    if (higher > 0) kTiles[height](p, 0, higher, first, columns);
    kTiles[height - 1](p, higher * (height + 1), tiles - higher, first, columns);
  }
}

#else

bool has_constant_product() { return false; }
void multiply_constant(const ConstantProduct&, int64_t, int64_t) {}

#endif

}  // namespace taper::optimized
