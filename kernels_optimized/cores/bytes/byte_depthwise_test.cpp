// Depthwise convolutions of int8, against their definition, with the roundings that it names.

#include "kernels_optimized/cores/bytes/byte_depthwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

constexpr int8_t kUntouched = 99;

WindowShape shape_of(int64_t side, int64_t step, int64_t height, int64_t width, int64_t channels,
                     int64_t padding) {
  WindowShape s;
  s.images = 2;
  s.height = height;
  s.width = width;
  s.channels = channels;
  s.window_height = s.window_width = side;
  s.step_down = s.step_across = step;
  s.padding_top = s.padding_left = padding;
  s.out_height = (height + 2 * padding - side) / step + 1;
  s.out_width = (width + 2 * padding - side) / step + 1;
  return s;
}

// Calls a test at each level of this processor that has a form.
template <typename Test>
void at_each_level(const Test& test) {
  const Level best = level();
  bool is_any = false;
  for (const Level limit : kLevels) {
    if (limit > best) continue;
    limit_level(limit);
    SCOPED_TRACE(testing::Message() << "level " << static_cast<int>(limit));
    if (!has_byte_depthwise(shape_of(3, 1, 8, 8, 16, 1))) continue;
    is_any = true;
    test();
  }
  limit_level(best);
  if (!is_any) GTEST_SKIP() << "no form for this processor";
}

struct Problem {
  WindowShape shape;
  std::vector<int8_t> image, weights, out;
  std::vector<int32_t> bias;
  std::vector<float> scales;
  ByteDepthwise data;
  std::mt19937 random{7};

  explicit Problem(const WindowShape& s)
      : shape(s),
        image(bytes(s.images * s.height * s.width * s.channels)),
        weights(bytes(s.window_height * s.window_width * s.channels)),
        out(static_cast<size_t>(s.images * s.out_height * s.out_width * s.channels + 16),
            kUntouched) {
    for (int64_t c = 0; c < s.channels; ++c) {
      bias.push_back(static_cast<int32_t>(random() % 20000) - 10000);
      // Powers of two give results halfway between integers.
      scales.push_back(c % 2 == 0 ? 1.f / 256 : 0.0007f * static_cast<float>(c + 1));
    }
  }

  std::vector<int8_t> bytes(int64_t count) {
    std::vector<int8_t> made(static_cast<size_t>(count));
    for (int8_t& each : made) each = static_cast<int8_t>(random() % 256 - 128);
    return made;
  }

  bool run() {
    std::vector<float> packed(static_cast<size_t>(byte_depthwise_size(shape) / 4) + 4);
    void* to = packed.data();
    while (reinterpret_cast<uintptr_t>(to) % 16 != 0) to = static_cast<float*>(to) + 1;
    const ByteFilter filter = {weights.data(), bias.data(), scales.data(), data.zero_in};
    if (!has_exact_sums(shape, filter)) return false;
    pack_byte_depthwise(shape, filter, to);
    data.image = image.data();
    data.out = out.data();
    data.filter = to;
    const int64_t rows = shape.images * shape.out_height;
    for (int64_t row = 0; row < rows; row += 2) {
      byte_depthwise(shape, data, row, std::min<int64_t>(2, rows - row));
    }
    return true;
  }

  int8_t expected(int64_t image_index, int64_t y, int64_t x, int64_t c) const {
    const WindowShape& s = shape;
    int32_t sum = bias[static_cast<size_t>(c)];
    for (int64_t k = 0; k < s.window_height * s.window_width; ++k) {
      const int64_t row = y * s.step_down + k / s.window_width * s.dilation_down - s.padding_top;
      const int64_t column =
          x * s.step_across + k % s.window_width * s.dilation_across - s.padding_left;
      if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
      const int64_t at = ((image_index * s.height + row) * s.width + column) * s.channels + c;
      sum += (image[static_cast<size_t>(at)] - data.zero_in) *
             weights[static_cast<size_t>(k * s.channels + c)];
    }
    const float scaled = static_cast<float>(sum) * scales[static_cast<size_t>(c)];
    const float result = std::nearbyint(scaled) + static_cast<float>(data.zero_out);
    return static_cast<int8_t>(
        std::clamp(result, static_cast<float>(data.min), static_cast<float>(data.max)));
  }

  void expect_right() const {
    const WindowShape& s = shape;
    size_t at = 0;
    for (int64_t row = 0; row < s.images * s.out_height; ++row) {
      for (int64_t x = 0; x < s.out_width; ++x) {
        for (int64_t c = 0; c < s.channels; ++c, ++at) {
          ASSERT_EQ(out[at], expected(row / s.out_height, row % s.out_height, x, c))
              << "row " << row << ", column " << x << ", channel " << c;
        }
      }
    }
    for (; at < out.size(); ++at) ASSERT_EQ(out[at], kUntouched);
  }
};

void expect_right(const WindowShape& shape) {
  SCOPED_TRACE(testing::Message() << shape.window_height << " x " << shape.window_width << " step "
                                  << shape.step_across << " padding " << shape.padding_left
                                  << " of " << shape.height << " x " << shape.width << " x "
                                  << shape.channels);
  Problem problem(shape);
  problem.data.zero_in = static_cast<int8_t>(shape.height * 7 - 60);
  problem.data.zero_out = static_cast<int8_t>(shape.channels % 200 - 20);
  ASSERT_TRUE(problem.run());
  problem.expect_right();
}

TEST(ByteDepthwise, EveryWindowStepAndSize) {
  at_each_level([] {
    for (const int64_t side : {1, 2, 3, 4, 5, 7}) {
      for (const int64_t step : {1, 2}) {
        for (const int64_t padding : {int64_t{0}, side / 2, side - 1}) {
          for (const int64_t size : {1, 3, 8, 19}) {
            for (const int64_t channels : {8, 9, 16, 35, 72, 130}) {
              const WindowShape shape = shape_of(side, step, size, size + 1, channels, padding);
              if (size + 2 * padding >= side && has_byte_depthwise(shape)) expect_right(shape);
            }
          }
        }
      }
    }
  });
}

TEST(ByteDepthwise, WindowsThatAreNotSquareOrDense) {
  at_each_level([] {
    for (const auto& [height, width] : {std::pair{1, 9}, {9, 1}, {2, 5}, {16, 3}, {3, 11}}) {
      for (const int64_t dilation : {1, 2, 3}) {
        WindowShape s = shape_of(1, 1, 21, 37, 48, 0);
        s.window_height = height;
        s.window_width = width;
        s.step_down = 3;
        s.dilation_down = dilation;
        s.dilation_across = 4 - dilation;
        s.padding_top = dilation * (height - 1) / 2;
        s.padding_left = s.dilation_across * (width - 1);
        s.out_height = (s.height + 2 * s.padding_top - dilation * (height - 1) - 1) / 3 + 1;
        s.out_width = s.width + s.padding_left - s.dilation_across * (width - 1);
        if (s.out_height > 0 && has_byte_depthwise(s)) expect_right(s);
      }
    }
  });
}

TEST(ByteDepthwise, BoundsAndExtremes) {
  at_each_level([] {
    for (const int8_t zero : {-128, 0, 127}) {
      Problem problem(shape_of(3, 1, 6, 9, 16, 1));
      std::fill(problem.image.begin(), problem.image.end(), static_cast<int8_t>(-zero - 1));
      std::fill(problem.weights.begin(), problem.weights.end(), static_cast<int8_t>(-128));
      problem.data.zero_in = problem.data.zero_out = zero;
      problem.data.min = -100;
      problem.data.max = 3;
      ASSERT_TRUE(problem.run());
      problem.expect_right();
    }
  });
}

// On 64-bit ARM. The others round as XNNPACK does, whatever the sums are.
TEST(ByteDepthwise, NumbersThatMayNotBeExactAreNotPacked) {
#if !defined(__aarch64__)
  GTEST_SKIP() << "any sum is exact";
#endif
  if (!has_byte_depthwise(shape_of(3, 1, 8, 8, 9, 1))) GTEST_SKIP() << "no dot products of bytes";
  Problem large(shape_of(3, 1, 8, 8, 9, 1)), wide = large, unscaled = large;
  EXPECT_TRUE(large.run());
  large.bias[8] = 1 << 22;
  EXPECT_FALSE(large.run());
  large.bias[8] = INT32_MIN;
  EXPECT_FALSE(large.run());
  wide.scales[3] = 200;
  EXPECT_FALSE(wide.run());
  unscaled.scales[0] = NAN;
  EXPECT_FALSE(unscaled.run());
}

TEST(ByteDepthwise, OtherWindowsAreNotThere) {
  EXPECT_FALSE(has_byte_depthwise(shape_of(3, 3, 33, 33, 16, 0)));
  EXPECT_FALSE(has_byte_depthwise(shape_of(3, 1, 9, 9, 7, 0)));
  EXPECT_FALSE(has_byte_depthwise(shape_of(17, 1, 33, 33, 16, 0)));
  WindowShape dilated = shape_of(3, 1, 99, 99, 16, 0);
  dilated.dilation_across = 48;
  EXPECT_FALSE(has_byte_depthwise(dilated));
}

}  // namespace
}  // namespace taper::optimized
