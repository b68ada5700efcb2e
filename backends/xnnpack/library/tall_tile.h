// Products of matrices and convolutions of floats, as tall tiles: compiled into XNNPACK in place of
// its own microkernels, whose interface this is.
//
// XNNPACK's tiles leave half of the vector registers empty (7 x 32 with AVX-512, 5 x 16 with AVX2):
// a step of the innermost loop loads nearly as much as it multiplies. These fill the registers. A
// convolution reads each row through a pointer of its own, so its height is also bounded by the
// general registers. The last rows and columns are computed by shorter and narrower tiles of the
// same code, where XNNPACK's kernels compute rows twice and columns that nobody wants.
//
// Whoever includes this defines `Vector` and its operations before. Packed weights lie as XNNPACK
// has them: for every kPanel columns the biases, then a row for each step.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "xnnpack/microparams.h"

namespace {

constexpr int kLanes = sizeof(Vector) / sizeof(float);
constexpr int kVectors = 2;
constexpr size_t kPanel = kVectors * kLanes;

template <typename T>
T* advance(T* pointer, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + bytes);
}

// Where the tile's results go, `columns` of each row at most.
struct Result {
  float* c;
  size_t row_bytes;
  size_t columns;
  const xnn_f32_minmax_params* limits;
};

template <int kRows, int kWidth>
struct Tile {
  Vector sums[kRows][kWidth];

  [[gnu::always_inline]] explicit Tile(const float* biases) {
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
#pragma clang loop unroll(full)
      for (int j = 0; j < kWidth; ++j) sums[i][j] = load(biases + j * kLanes);
    }
  }

  // Adds products of a number of each row and a row of the weights. row(i) is where row i begins.
  template <typename Row>
  [[gnu::always_inline]] void add(Row row, const float* weights, size_t steps) {
    for (size_t k = 0; k < steps; ++k, weights += kPanel) {
      Vector factors[kWidth];
#pragma clang loop unroll(full)
      for (int j = 0; j < kWidth; ++j) factors[j] = load(weights + j * kLanes);
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i) {
        const Vector factor = splat(row(i) + k);
#pragma clang loop unroll(full)
        for (int j = 0; j < kWidth; ++j) sums[i][j] = multiply_add(factor, factors[j], sums[i][j]);
      }
    }
  }

  [[gnu::always_inline]] void finish(const Result& result) const {
    constexpr size_t kWhole = (kWidth - 1) * kLanes;
    const Vector min = splat(&result.limits->scalar.min);
    const Vector max = splat(&result.limits->scalar.max);
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
      float* c = advance(result.c, i * result.row_bytes);
#pragma clang loop unroll(full)
      for (int j = 0; j + 1 < kWidth; ++j) {
        store(c + j * kLanes, clamp(sums[i][j], min, max));
      }
      store_some(c + kWhole, clamp(sums[i][kWidth - 1], min, max), result.columns - kWhole);
    }
  }
};

// Calls run(width) for panel after panel of the result, with as many vectors as it is wide.
template <typename Run>
[[gnu::always_inline]] inline void for_panels(Result result, size_t columns, size_t panel_bytes,
                                              Run run) {
  for (;;) {
    result.columns = columns < kPanel ? columns : kPanel;
    if (result.columns > kLanes) {
      run(result, std::integral_constant<int, 2>());
    } else {
      run(result, std::integral_constant<int, 1>());
    }
    if (columns <= kPanel) return;
    columns -= kPanel;
    result.c = advance(result.c, panel_bytes);
  }
}

struct Gemm {
  Result result;
  size_t columns, panel_bytes;
  size_t steps;
  const float* a;
  size_t a_bytes;  // From row to row.
  const float* weights;
};

template <int kRows>
void gemm(const Gemm& g) {
  const float* weights = g.weights;
  for_panels(g.result, g.columns, g.panel_bytes, [&](const Result& result, auto width) {
    Tile<kRows, width> tile(weights);
    tile.add([&](int i) { return advance(g.a, i * g.a_bytes); }, weights + kPanel, g.steps);
    tile.finish(result);
    weights += (g.steps + 1) * kPanel;
  });
}

struct Igemm {
  Result result;
  size_t columns, panel_bytes;
  size_t steps;  // Per pointer.
  // A pointer per place of the window and row, rows together, `height` of them. They count from
  // `offset` but the ones to `zeros`.
  const float* const* pointers;
  size_t height, windows;
  size_t offset;
  const float* zeros;
  const float* weights;
};

template <int kRows>
void igemm(const Igemm& g) {
  const float* weights = g.weights;
  for_panels(g.result, g.columns, g.panel_bytes, [&](const Result& result, auto width) {
    Tile<kRows, width> tile(weights);
    weights += kPanel;
    const float* const* pointers = g.pointers;
    for (size_t window = 0; window < g.windows; ++window, pointers += g.height) {
      const float* rows[kRows];
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i) {
        rows[i] = pointers[i] == g.zeros ? g.zeros : advance(pointers[i], g.offset);
      }
      tile.add([&](int i) { return rows[i]; }, weights, g.steps);
      weights += g.steps * kPanel;
    }
    tile.finish(result);
  });
}

template <typename Problem>
using Kernel = void (*)(const Problem&);

template <int... kRows>
void run_gemm(std::integer_sequence<int, kRows...>, size_t rows, const Gemm& g) {
  static constexpr Kernel<Gemm> kernels[] = {gemm<kRows + 1>...};
  kernels[rows - 1](g);
}

template <int... kRows>
void run_igemm(std::integer_sequence<int, kRows...>, size_t rows, const Igemm& g) {
  static constexpr Kernel<Igemm> kernels[] = {igemm<kRows + 1>...};
  kernels[rows - 1](g);
}

}  // namespace

// XNNPACK's interface. Sizes are in bytes but mr and nc, which are counts.
#define TAPER_F32_GEMM(name, kHeight)                                                         \
  void name(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w, \
            float* c, size_t cm_stride, size_t cn_stride,                                     \
            const union xnn_f32_minmax_params* params) {                                      \
    run_gemm(std::make_integer_sequence<int, kHeight>(), mr,                                  \
             {{c, cm_stride, 0, params}, nc, cn_stride, kc / sizeof(float), a, a_stride, w}); \
  }

#define TAPER_F32_IGEMM(name, kHeight)                                                             \
  void name(size_t mr, size_t nc, size_t kc, size_t ks, const float** a, const float* w, float* c, \
            size_t cm_stride, size_t cn_stride, size_t a_offset, const float* zero,                \
            const union xnn_f32_minmax_params* params) {                                           \
    run_igemm(std::make_integer_sequence<int, kHeight>(), mr,                                      \
              {{c, cm_stride, 0, params},                                                          \
               nc,                                                                                 \
               cn_stride,                                                                          \
               kc / sizeof(float),                                                                 \
               a,                                                                                  \
               kHeight,                                                                            \
               ks / (kHeight * sizeof(void*)),                                                     \
               a_offset,                                                                           \
               zero,                                                                               \
               w});                                                                                \
  }
