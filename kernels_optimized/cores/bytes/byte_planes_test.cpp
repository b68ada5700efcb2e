// Convolutions of a few planes of int8 against their definition in integers: every byte is the
// same.

#include "kernels_optimized/cores/bytes/byte_planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

using Bytes = std::vector<int8_t>;

struct Problem {
  BytePlanesShape shape;
  Bytes image, filter;
  std::vector<int32_t> bias;
  std::vector<float> scales;
  BytePlanesOutput last;

  // The results end where the last window does; `padding` is also to the right and below.
  explicit Problem(BytePlanesShape s, int64_t padding) : shape(s) {
    shape.padding_top = shape.padding_left = padding;
    const int64_t tall = (s.window_height - 1) * s.dilation_down + 1;
    shape.out_height = (s.height + 2 * padding - tall) / s.step_down + 1;
    shape.out_width = (s.width + 2 * padding - s.window_width) / s.step_across + 1;
    std::mt19937 random(7);
    const auto bytes = [&](int64_t count) {
      Bytes all(static_cast<size_t>(count));
      for (int8_t& each : all) each = static_cast<int8_t>(random() % 256 - 128);
      return all;
    };
    image = bytes(s.images * s.channels * s.height * s.width);
    filter = bytes(s.out_channels * terms());
    for (int64_t o = 0; o < s.out_channels; ++o) {
      bias.push_back(static_cast<int32_t>(random() % 20000) - 10000);
      scales.push_back(static_cast<float>(random() % 1000 + 1) / 3e5f);
    }
    scales.resize(static_cast<size_t>(byte_planes_padded(shape)));
    last.zero_point = -5;
  }

  int64_t terms() const { return shape.window_height * shape.window_width * shape.channels; }

  int8_t expected(int64_t row, int64_t x, int64_t o, bool has_bias) const {
    const BytePlanesShape& s = shape;
    int32_t sum = has_bias ? bias[static_cast<size_t>(o)] : 0;
    for (int64_t t = 0; t < terms(); ++t) {
      const int64_t c = t % s.channels, place = t / s.channels;
      const int64_t y = row % s.out_height * s.step_down - s.padding_top +
                        place / s.window_width * s.dilation_down;
      const int64_t z = x * s.step_across - s.padding_left + place % s.window_width;
      if (y < 0 || y >= s.height || z < 0 || z >= s.width) continue;
      const int64_t line = (row / s.out_height * s.channels + c) * s.height + y;
      sum += (image[static_cast<size_t>(line * s.width + z)] - s.zero_point) *
             filter[static_cast<size_t>(o * terms() + t)];
    }
    const float scaled = static_cast<float>(sum) * scales[static_cast<size_t>(o)];
    const auto result = static_cast<int32_t>(std::nearbyint(scaled)) + last.zero_point;
    return static_cast<int8_t>(std::clamp(result, last.min, last.max));
  }

  Bytes run(bool has_bias) const {
    const BytePlanesShape& s = shape;
    Bytes packed(static_cast<size_t>(byte_planes_filter_size(s)));
    std::vector<int32_t> biases(static_cast<size_t>(byte_planes_padded(s)));
    std::vector<uint8_t> panel(static_cast<size_t>(byte_planes_panel_size(s)));
    const int64_t rows = s.images * s.out_height;
    Bytes out(static_cast<size_t>(rows * s.out_width * s.out_channels + 64), 99);
    pack_byte_planes(s, filter.data(), has_bias ? bias.data() : nullptr, packed.data(),
                     biases.data());
    BytePlanesData data = {image.data(), packed.data(), biases.data(), out.data(), last};
    data.last.scales = scales.data();
    for (int64_t row = 0; row < rows; ++row) byte_planes(s, data, row, panel.data());
    return out;
  }

  void check() const {
    if (!has_byte_planes(shape)) GTEST_SKIP() << "not for this processor";
    for (const bool has_bias : {true, false}) {
      const Bytes out = run(has_bias);
      size_t i = 0;
      for (int64_t row = 0; row < shape.images * shape.out_height; ++row) {
        for (int64_t x = 0; x < shape.out_width; ++x) {
          for (int64_t o = 0; o < shape.out_channels; ++o, ++i) {
            ASSERT_EQ(out[i], expected(row, x, o, has_bias)) << row << "," << x << "," << o;
          }
        }
      }
      for (; i < out.size(); ++i) ASSERT_EQ(out[i], 99) << "past the end";
    }
  }
};

BytePlanesShape shape_of(int64_t channels, int64_t out_channels, int64_t height, int64_t width) {
  BytePlanesShape s;
  s.channels = channels;
  s.out_channels = out_channels;
  s.height = height;
  s.width = width;
  return s;
}

TEST(BytePlanes, WindowsStepsAndPaddings) {
  for (const auto& [tall, wide] : {std::pair{3, 3}, {7, 7}, {1, 4}, {10, 4}, {2, 9}}) {
    for (const int64_t step : {1, 2, 3}) {
      for (const int64_t padding : {0, 1, 5}) {
        SCOPED_TRACE(testing::Message()
                     << tall << " x " << wide << ", " << step << ", " << padding);
        BytePlanesShape s = shape_of(3, 20, 13, 29);
        s.window_height = tall, s.window_width = wide;
        s.step_down = step, s.step_across = step;
        s.zero_point = 17;
        Problem(s, padding).check();
      }
    }
  }
}

// Tiles of four, two and one vectors, whole and with channels missing; few and many pixels.
TEST(BytePlanes, ChannelsAndSizes) {
  for (const int64_t outs : {1, 16, 17, 32, 48, 63, 64, 65, 112, 130}) {
    for (const int64_t width : {2, 7, 14, 25}) {
      for (const int64_t channels : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << outs << ", " << width << ", " << channels);
        BytePlanesShape s = shape_of(channels, outs, 4, width);
        s.images = 2;
        s.window_height = 3, s.window_width = 2;
        s.zero_point = -128;
        Problem(s, 1).check();
      }
    }
  }
}

TEST(BytePlanes, DilationDownAndBounds) {
  BytePlanesShape s = shape_of(3, 33, 9, 11);
  s.window_height = s.window_width = 3;
  s.dilation_down = 2;
  s.zero_point = 127;
  Problem problem(s, 2);
  problem.last.min = -5;
  problem.last.max = 30;
  problem.check();
}

TEST(BytePlanes, WhatIsNotTaken) {
  BytePlanesShape s = shape_of(3, 32, 9, 9);
  s.window_height = s.window_width = 3;
  BytePlanesShape wide = s, pointwise = s, dilated = s;
  wide.channels = 5;
  pointwise.window_width = 1;
  dilated.dilation_across = 2;
  for (const BytePlanesShape& each : {wide, pointwise, dilated})
    EXPECT_FALSE(has_byte_planes(each));
  limit_level(Level::kAvx2);
  EXPECT_FALSE(has_byte_planes(s));
  limit_level(Level::kAvx512);
}

}  // namespace
}  // namespace taper::optimized
