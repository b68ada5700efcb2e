// The transforms with plain products between them, against the definition of convolution in double:
// partial tiles, every padding, dilations, channels that do not fill a vector, several images,
// clamping.

#include "kernels_optimized/cores/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

using Floats = std::vector<float>;

Floats random_floats(int64_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> numbers(-1, 1);
  Floats result(static_cast<size_t>(count));
  for (float& value : result) value = numbers(random);
  return result;
}

float pixel(const WinogradShape& s, const Floats& image, int64_t n, int64_t y, int64_t x,
            int64_t c) {
  if (y < 0 || y >= s.height || x < 0 || x >= s.width) return 0;
  return image[static_cast<size_t>(((n * s.height + y) * s.width + x) * s.channels + c)];
}

double convolved(const WinogradShape& s, const Floats& image, const Floats& filters, int64_t n,
                 int64_t y, int64_t x, int64_t o) {
  double sum = 0;
  for (int64_t i = 0; i < s.window() * s.terms(); ++i) {
    const int64_t k = i / s.terms(), tap = i % s.terms() / s.channels, c = i % s.channels;
    const int64_t row = y + k / s.window_width * s.dilation_down - s.padding_top;
    const int64_t column = x + k % s.window_width * s.dilation_across - s.padding_left;
    const int64_t slice = n % s.out_depth + tap * s.dilation_deep - s.padding_front;
    if (slice < 0 || slice >= s.depth) continue;
    const float value = pixel(s, image, n / s.out_depth * s.depth + slice, row, column, c);
    const float factor = filters[static_cast<size_t>(o * s.window() * s.terms() + i)];
    sum += static_cast<double>(factor) * static_cast<double>(value);
  }
  return sum;
}

void multiply(const WinogradShape& s, int64_t rows, const Floats& left, const Floats& right,
              Floats& out) {
  for (int64_t p = 0; p < s.points(); ++p) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t o = 0; o < s.out_channels; ++o) {
        float sum = 0;
        for (int64_t c = 0; c < s.terms(); ++c) {
          sum += left[static_cast<size_t>((p * rows + r) * s.terms() + c)] *
                 right[static_cast<size_t>((p * s.out_channels + o) * s.terms() + c)];
        }
        out[static_cast<size_t>((p * rows + r) * s.out_channels + o)] = sum;
      }
    }
  }
}

// Computes a few tiles at a time, and each transform in two halves.
Floats run(const WinogradShape& s, const Floats& image, const Floats& filters,
           const WinogradOutput& last) {
  const int64_t rows = std::min<int64_t>(s.tiles(), 5);
  Floats weights(static_cast<size_t>(s.points() * s.out_channels * s.terms()));
  Floats left(static_cast<size_t>(s.points() * rows * s.terms()));
  Floats products(static_cast<size_t>(s.points() * rows * s.out_channels));
  Floats out(static_cast<size_t>(s.images * s.out_height * s.out_width * s.out_channels), NAN);
  const Floats zeros(static_cast<size_t>(s.channels));
  winograd_filters(s, filters.data(), weights.data());
  for (int64_t first = 0; first < s.tiles(); first += rows) {
    const int64_t begin = std::min(first, s.tiles() - rows);
    const WinogradTiles halves[] = {{begin, 0, rows / 2, rows}, {begin, rows / 2, rows, rows}};
    for (const WinogradTiles& half : halves) {
      winograd_input(s, half, image.data(), zeros.data(), left.data());
    }
    multiply(s, rows, left, weights, products);
    for (const WinogradTiles& half : halves) {
      winograd_output(s, half, products.data(), last, out.data());
    }
  }
  return out;
}

void check(const WinogradShape& s, const WinogradOutput& last, const Floats& image,
           const Floats& filters) {
  const Floats out = run(s, image, filters, last);
  const double tolerance = 2e-6 * std::sqrt(static_cast<double>(s.window() * s.terms()));
  size_t i = 0;
  for (int64_t n = 0; n < s.images; ++n) {
    for (int64_t y = 0; y < s.out_height; ++y) {
      for (int64_t x = 0; x < s.out_width; ++x) {
        for (int64_t o = 0; o < s.out_channels; ++o, ++i) {
          double want = convolved(s, image, filters, n, y, x, o);
          if (last.bias != nullptr) want += static_cast<double>(last.bias[o]);
          want = std::clamp(want, static_cast<double>(last.min), static_cast<double>(last.max));
          ASSERT_NEAR(static_cast<double>(out[i]), want, tolerance) << n << "," << y << "," << x;
        }
      }
    }
  }
}

// Checks both tiles at every level, with and without a bias.
void check_everywhere(WinogradShape s) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 random(11);
  const int64_t slices = s.images / s.out_depth * s.depth;
  const Floats image = random_floats(slices * s.height * s.width * s.channels, random);
  const Floats filters = random_floats(s.out_channels * s.window() * s.terms(), random);
  const Floats bias = random_floats(s.out_channels, random);
  for (Level level : kLevels) {
    limit_level(level);
    if (!has_winograd()) continue;
    for (int64_t tile : {2, 4}) {
      s.tile = tile;
      check(s, {bias.data(), -0.5f, 1.5f}, image, filters);
      check(s, {nullptr, -kInfinity, kInfinity}, image, filters);
    }
  }
  limit_level(Level::kAvx512);
}

TEST(Winograd, IsTheConvolution) {
  // {images, height, width, channels, out height, out width, out channels, top, left, tile,
  //  dilation down, dilation across}
  const WinogradShape shapes[] = {
      {1, 8, 8, 16, 8, 8, 16, 1, 1},         {2, 7, 5, 3, 7, 5, 5, 1, 1},
      {1, 6, 9, 17, 4, 7, 33, 0, 0},         {1, 3, 3, 1, 1, 1, 1, 0, 0},
      {1, 10, 4, 40, 12, 6, 19, 2, 2},       {3, 1, 1, 8, 1, 1, 8, 1, 1},
      {1, 13, 6, 20, 12, 7, 16, 0, 1},       {1, 11, 9, 16, 11, 9, 16, 2, 2, 4, 2, 2},
      {2, 9, 8, 5, 7, 6, 17, 0, 3, 4, 1, 4}, {1, 3, 2, 8, 3, 2, 8, 5, 5, 4, 5, 5}};
  for (const WinogradShape& s : shapes) check_everywhere(s);
}

// Windows of three taps in one dimension, of images that are a line and of others.
TEST(Winograd, IsTheConvolutionInOneDimension) {
  const WinogradShape lines[] = {{1, 1, 9, 16, 1, 9, 16, 0, 1},
                                 {2, 1, 30, 3, 1, 28, 18, 0, 0},
                                 {1, 1, 21, 17, 1, 21, 5, 0, 14, 4, 1, 7},
                                 {1, 1, 4, 8, 1, 4, 8, 0, 5, 4, 1, 5},
                                 {2, 3, 7, 20, 3, 6, 33, 0, 1},
                                 {1, 5, 11, 16, 7, 13, 16, 1, 4, 4, 1, 3}};
  for (WinogradShape s : lines) {
    s.window_height = 1;
    check_everywhere(s);
    std::swap(s.window_height, s.window_width);
    std::swap(s.height, s.width);
    std::swap(s.out_height, s.out_width);
    std::swap(s.padding_top, s.padding_left);
    std::swap(s.dilation_down, s.dilation_across);
    check_everywhere(s);
  }
}

// Volumes: slices of zeros before and after, windows of any depth, two volumes, dilation.
TEST(Winograd, IsTheConvolutionOfVolumes) {
  WinogradShape s = {4, 5, 6, 17, 5, 6, 18, 1, 1};
  s.taps = 3, s.depth = s.out_depth = 4, s.padding_front = 1;
  check_everywhere(s);
  s = {6, 6, 5, 8, 4, 3, 9, 0, 0};
  s.taps = 2, s.depth = 4, s.out_depth = 3;
  check_everywhere(s);
  s = {4, 4, 7, 16, 4, 7, 16, 1, 1};
  s.taps = 3, s.depth = 2, s.out_depth = 2, s.padding_front = 2, s.dilation_deep = 2;
  check_everywhere(s);
  s.window_height = 1, s.padding_top = 0;
  check_everywhere(s);
}

TEST(Winograd, NansStay) {
  const WinogradShape s{1, 4, 4, 16, 4, 4, 16, 1, 1};
  if (!has_winograd()) GTEST_SKIP() << "no transforms for this processor";
  Floats image(4 * 4 * 16, 1);
  image[0] = NAN;
  const Floats out = run(s, image, Floats(16 * 9 * 16, 1), {nullptr, 0, 6});
  EXPECT_TRUE(std::isnan(out[0]));
}

}  // namespace
}  // namespace taper::optimized
