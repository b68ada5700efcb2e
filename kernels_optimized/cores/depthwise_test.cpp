// Depthwise convolutions at every level that this processor supports, against their definition in
// double.

#include "kernels_optimized/cores/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "test/support/call_fast.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

using test::numbers;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Problem {
  WindowShape shape;
  std::vector<float> image, filter, bias;

  explicit Problem(const WindowShape& s)
      : shape(s),
        image(numbers(s.images * s.height * s.width * s.channels, 31)),
        filter(numbers(s.window_height * s.window_width * s.channels, 17)),
        bias(numbers(s.channels, 5)) {}

  double sum(int64_t n, int64_t y, int64_t x, int64_t c) const {
    const WindowShape& s = shape;
    double total = static_cast<double>(bias[static_cast<size_t>(c)]);
    for (int64_t k = 0; k < s.window_height * s.window_width; ++k) {
      const int64_t row = y * s.step_down + k / s.window_width * s.dilation_down - s.padding_top;
      const int64_t column =
          x * s.step_across + k % s.window_width * s.dilation_across - s.padding_left;
      if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
      const int64_t at = ((n * s.height + row) * s.width + column) * s.channels + c;
      total += static_cast<double>(image[static_cast<size_t>(at)]) *
               static_cast<double>(filter[static_cast<size_t>(k * s.channels + c)]);
    }
    return total;
  }

  // Computes the result in parts of two rows and up to two vectors of channels.
  std::vector<float> run(DepthwiseData data) const {
    const int64_t rows = shape.images * shape.out_height;
    std::vector<float> out(static_cast<size_t>(rows * shape.out_width * shape.channels), -99);
    data.image = image.data();
    data.filter = filter.data();
    data.bias = bias.data();
    data.out = out.data();
    const int64_t step = 2 * depthwise_channels();
    for (int64_t row = 0; row < rows; row += 2) {
      for (int64_t c = 0; c < shape.channels; c += step) {
        depthwise(shape, data,
                  {row, std::min<int64_t>(2, rows - row), c, std::min(step, shape.channels - c)});
      }
    }
    return out;
  }
};

template <typename Finish>
void expect_right(const Problem& p, const DepthwiseData& data, Finish finish) {
  const std::vector<float> out = p.run(data);
  const WindowShape& s = p.shape;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t pixel = at / s.channels, row = pixel / s.out_width;
    const double sum =
        p.sum(row / s.out_height, row % s.out_height, pixel % s.out_width, at % s.channels);
    ASSERT_NEAR(out[i], finish(sum), 2e-5) << i;
  }
}

DepthwiseData within(float min, float max) {
  DepthwiseData data;
  data.min = min;
  data.max = max;
  return data;
}

class Depthwise : public test::AtEachLevel {};

TEST_P(Depthwise, EveryWindowStepAndSize) {
  constexpr int64_t kWindows[][2] = {{3, 3},  {5, 5},  {7, 7}, {9, 9},
                                     {1, 31}, {1, 10}, {4, 5}, {11, 1}};
  for (const auto& [height, width] : kWindows) {
    for (int64_t step : {1, 2}) {
      if (!has_depthwise(step)) GTEST_SKIP() << "not for this processor";
      for (int64_t size : {1, 2, 3, 5, 6, 7, 8, 19}) {
        for (int64_t channels : {3, 16, 21, 37}) {
          SCOPED_TRACE(testing::Message() << height << " x " << width << " step " << step
                                          << " size " << size << " channels " << channels);
          WindowShape s;
          s.images = 2;
          s.height = size;
          s.width = size + 1;
          s.channels = channels;
          s.padding_top = height / 2;
          s.padding_left = width / 2;
          s.out_height = (s.height - 1) / step + 1;
          s.out_width = (s.width - 1) / step + 1;
          s.window_height = height;
          s.window_width = width;
          s.step_down = s.step_across = step;
          expect_right(Problem(s), within(-kInfinity, kInfinity), [](double v) { return v; });
        }
      }
    }
  }
}

TEST_P(Depthwise, EveryDilation) {
  if (!has_depthwise(1)) GTEST_SKIP() << "not for this processor";
  constexpr int64_t kWindows[][2] = {{3, 3}, {7, 7}, {5, 5}, {1, 9}, {9, 1}};
  constexpr int64_t kDilations[][2] = {{2, 2}, {4, 3}, {1, 5}, {3, 1}};
  for (const auto& [height, width] : kWindows) {
    for (const auto& [down, across] : kDilations) {
      for (int64_t size : {1, 4, 9, 30}) {
        for (int64_t channels : {3, 21}) {
          SCOPED_TRACE(testing::Message()
                       << height << " x " << width << " dilation " << down << " x " << across
                       << " size " << size << " channels " << channels);
          WindowShape s;
          s.images = 2;
          s.height = size + 2;
          s.width = size;
          s.channels = channels;
          s.padding_top = height / 2 * down;
          s.padding_left = width / 2 * across + 1;
          s.out_height = s.height;
          s.out_width = s.width + 1;
          s.window_height = height;
          s.window_width = width;
          s.dilation_down = down;
          s.dilation_across = across;
          expect_right(Problem(s), within(-kInfinity, kInfinity), [](double v) { return v; });
        }
      }
    }
  }
}

TEST_P(Depthwise, Activations) {
  if (!has_depthwise(1)) GTEST_SKIP() << "not for this processor";
  WindowShape s;
  s.height = s.width = 9;
  s.out_height = s.out_width = 5;
  s.channels = 20;
  s.window_height = s.window_width = 5;
  const Problem problem(s);
  expect_right(problem, within(0, 1), [](double v) { return std::fmin(std::fmax(v, 0), 1); });
  DepthwiseData data;
  data.activation = DepthwiseActivation::kSwish;
  expect_right(problem, data, [](double v) { return v / (1 + std::exp(-v)); });
  data.activation = DepthwiseActivation::kHardswish;
  expect_right(problem, data, [](double v) { return v * std::fmin(std::fmax(v + 3, 0), 6) / 6; });
}

TEST(DepthwiseForms, OtherStridesAreNotThere) {
  EXPECT_FALSE(has_depthwise(0));
  EXPECT_FALSE(has_depthwise(3));
}

INSTANTIATE_TEST_SUITE_P(Levels, Depthwise, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
