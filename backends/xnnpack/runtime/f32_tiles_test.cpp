// Tests the tiles that are compiled into XNNPACK (backends/xnnpack/library), called as XNNPACK
// calls them, against sums in double precision.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#if defined(__x86_64__)

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): XNNPACK's names.
union xnn_f32_minmax_params {
  struct {
    float min, max;
  } scalar;
};
using GemmTile = void(size_t, size_t, size_t, const float*, size_t, const float*, float*, size_t,
                      size_t, const xnn_f32_minmax_params*);
using IgemmTile = void(size_t, size_t, size_t, size_t, const float**, const float*, float*, size_t,
                       size_t, size_t, const float*, const xnn_f32_minmax_params*);
GemmTile taper_f32_gemm_14x32__avx512f, taper_f32_gemm_6x16__fma3;
IgemmTile taper_f32_igemm_12x32__avx512f, taper_f32_igemm_6x32__avx512f, taper_f32_igemm_6x16__fma3;
// NOLINTEND(bugprone-reserved-identifier)
}

namespace taper::xnnpack {
namespace {

constexpr float kNothing = -77;  // Marks elements that must not be written.
constexpr size_t kSpare = 3;     // Columns between the rows of a result.

float number(size_t i) { return static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 16; }

std::vector<float> numbers(size_t count, size_t first) {
  std::vector<float> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = number(first + i);
  return all;
}

// A product of `rows` vectors of `depth` numbers, given by row(i, k), with packed weights.
struct Problem {
  size_t rows, columns, depth, panel;
  xnn_f32_minmax_params limits = {{-9, 11}};

  size_t panels() const { return (columns + panel - 1) / panel; }
  size_t stride() const { return columns + kSpare; }
  std::vector<float> weights() const { return numbers(panels() * panel * (depth + 1), 5); }
  std::vector<float> result() const { return std::vector<float>(rows * stride(), kNothing); }

  template <typename Row>
  void check(const std::vector<float>& c, Row row) const {
    const std::vector<float> w = weights();
    for (size_t i = 0; i < rows; ++i) {
      for (size_t n = 0; n < columns; ++n) {
        const float* from = &w[n / panel * panel * (depth + 1) + n % panel];
        double sum = from[0];
        for (size_t k = 0; k < depth; ++k) sum += double{row(i, k)} * from[(k + 1) * panel];
        const double limited = std::fmin(std::fmax(sum, limits.scalar.min), limits.scalar.max);
        ASSERT_NEAR(c[i * stride() + n], limited, 1e-4) << "row " << i << ", column " << n;
      }
      for (size_t n = columns; n < stride(); ++n) ASSERT_EQ(c[i * stride() + n], kNothing);
    }
  }
};

void check_gemm(GemmTile* tile, size_t rows, size_t columns, size_t depth, size_t panel) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " +
               std::to_string(depth));
  const Problem p = {rows, columns, depth, panel};
  const size_t stride = depth + 2;
  const std::vector<float> a = numbers(rows * stride, 0), w = p.weights();
  std::vector<float> c = p.result();
  tile(rows, columns, depth * sizeof(float), a.data(), stride * sizeof(float), w.data(), c.data(),
       p.stride() * sizeof(float), panel * sizeof(float), &p.limits);
  p.check(c, [&](size_t i, size_t k) { return a[i * stride + k]; });
}

// Checks a convolution with windows of three adjacent pixels, of which the first is outside the
// image in every second row.
void check_igemm(IgemmTile* tile, size_t height, size_t rows, size_t columns, size_t channels,
                 size_t panel) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x 3 x " +
               std::to_string(channels));
  constexpr size_t kWindows = 3, kOffset = 2;
  const Problem p = {rows, columns, kWindows * channels, panel};
  const std::vector<float> image = numbers(kOffset + (height + kWindows) * channels, 0);
  const std::vector<float> zeros(channels, 0), w = p.weights();
  std::vector<const float*> pointers(kWindows * height);
  for (size_t window = 0; window < kWindows; ++window) {
    for (size_t i = 0; i < height; ++i) {
      const size_t row = i < rows ? i : rows - 1;
      const bool is_outside = window == 0 && row % 2 == 0;
      pointers[window * height + i] =
          is_outside ? zeros.data() : image.data() + (row + window) * channels;
    }
  }
  std::vector<float> c = p.result();
  tile(rows, columns, channels * sizeof(float), pointers.size() * sizeof(void*), pointers.data(),
       w.data(), c.data(), p.stride() * sizeof(float), panel * sizeof(float),
       kOffset * sizeof(float), zeros.data(), &p.limits);
  p.check(c, [&](size_t i, size_t k) {
    const size_t window = k / channels;
    if (window == 0 && i % 2 == 0) return 0.0f;
    return image[kOffset + (i + window) * channels + k % channels];
  });
}

void check_gemm(GemmTile* tile, size_t height, size_t panel) {
  for (size_t rows = 1; rows <= height; ++rows) {
    for (size_t columns : {size_t{1}, panel / 2, panel / 2 + 1, panel, 2 * panel + 3}) {
      for (size_t depth : {1, 2, 29}) check_gemm(tile, rows, columns, depth, panel);
    }
  }
}

void check_igemm(IgemmTile* tile, size_t height, size_t panel) {
  for (size_t rows = 1; rows <= height; ++rows) {
    for (size_t columns : {size_t{1}, panel / 2, panel / 2 + 1, panel, 2 * panel + 3}) {
      for (size_t channels : {1, 3, 17}) check_igemm(tile, height, rows, columns, channels, panel);
    }
  }
}

TEST(F32Tiles, Fma3) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the processor has no FMA";
  check_gemm(taper_f32_gemm_6x16__fma3, 6, 16);
  check_igemm(taper_f32_igemm_6x16__fma3, 6, 16);
}

TEST(F32Tiles, Avx512) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "the processor has no AVX-512";
  check_gemm(taper_f32_gemm_14x32__avx512f, 14, 32);
  check_igemm(taper_f32_igemm_12x32__avx512f, 12, 32);
  check_igemm(taper_f32_igemm_6x32__avx512f, 6, 32);
}

TEST(F32Tiles, NanStaysNan) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "the processor has no FMA";
  const float a = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> w(32, 1);
  float c = 0;
  const xnn_f32_minmax_params limits = {{0, 1}};
  taper_f32_gemm_6x16__fma3(1, 1, sizeof(a), &a, 0, w.data(), &c, 0, 0, &limits);
  EXPECT_TRUE(std::isnan(c));
}

}  // namespace
}  // namespace taper::xnnpack

#endif  // __x86_64__
