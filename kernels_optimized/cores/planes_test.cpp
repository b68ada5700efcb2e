// Convolutions of a few planes at every level that this processor supports, against their
// definition in double.

#include "kernels_optimized/cores/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test/support/call_fast.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

using test::numbers;

struct Problem {
  PlanesShape shape;
  std::vector<float> image, filter, bias;

  // The results end where the last window does; `padding` is also to the right and below.
  explicit Problem(PlanesShape s, int64_t padding) : shape(s) {
    shape.padding_top = shape.padding_left = padding;
    const int64_t tall = (s.window_height - 1) * s.dilation_down + 1;
    const int64_t wide = (s.window_width - 1) * s.dilation_across + 1;
    shape.out_height = (s.height + 2 * padding - tall) / s.step_down + 1;
    shape.out_width = (s.width + 2 * padding - wide) / s.step_across + 1;
    image = numbers(s.images * s.channels * s.height * s.width, 31);
    filter = numbers(shape.out_channels * s.terms(), 17);
    bias = numbers(shape.out_channels, 5);
  }

  double expected(int64_t row, int64_t x, int64_t o) const {
    const PlanesShape& s = shape;
    double sum = static_cast<double>(bias[static_cast<size_t>(o)]);
    for (int64_t t = 0; t < s.terms(); ++t) {
      const int64_t c = t % s.channels, place = t / s.channels;
      const int64_t y = row % s.out_height * s.step_down - s.padding_top +
                        place / s.window_width * s.dilation_down;
      const int64_t column =
          x * s.step_across - s.padding_left + place % s.window_width * s.dilation_across;
      if (y < 0 || y >= s.height || column < 0 || column >= s.width) continue;
      const int64_t at = ((row / s.out_height * s.channels + c) * s.height + y) * s.width + column;
      sum += static_cast<double>(filter[static_cast<size_t>(o * s.terms() + t)]) *
             static_cast<double>(image[static_cast<size_t>(at)]);
    }
    return std::clamp(sum, -4.0, 5.0);
  }

  void expect_right() const {
    const PlanesShape& s = shape;
    ASSERT_TRUE(has_planes(s));
    std::vector<float> packed(static_cast<size_t>(planes_filter_size(s)));
    pack_planes(s, filter.data(), packed.data());
    std::vector<float> panel(static_cast<size_t>(planes_panel_size(s)));
    const int64_t rows = s.images * s.out_height;
    std::vector<float> out(static_cast<size_t>(rows * s.out_width * s.out_channels), -99);
    const PlanesData data = {image.data(), packed.data(), bias.data(), out.data(), -4, 5};
    for (int64_t row = 0; row < rows; ++row) planes(s, data, row, panel.data());
    for (size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const int64_t pixel = index / s.out_channels;
      ASSERT_NEAR(out[i],
                  expected(pixel / s.out_width, pixel % s.out_width, index % s.out_channels), 2e-5)
          << i;
    }
  }
};

class Planes : public test::AtEachLevel {
 protected:
  void SetUp() override {
    AtEachLevel::SetUp();
    PlanesShape least;
    least.channels = least.out_width = 1;
    if (!IsSkipped() && !has_planes(least)) GTEST_SKIP() << "there are no such vectors";
  }
};

TEST_P(Planes, EveryStepSizeAndCountOfChannels) {
  for (const int64_t channels : {1, 3}) {
    for (const int64_t outs : {1, 16, 24, 33}) {
      for (const int64_t step : {1, 2, 4}) {
        for (const int64_t width : {3, 45}) {
          SCOPED_TRACE(testing::Message()
                       << channels << " -> " << outs << ", step " << step << ", width " << width);
          PlanesShape s;
          s.images = 2;
          s.height = 5;
          s.width = width;
          s.channels = channels;
          s.out_channels = outs;
          s.window_height = s.window_width = 3;
          s.step_down = s.step_across = step;
          Problem(s, step == 2 ? 0 : 1).expect_right();
        }
      }
    }
  }
}

TEST_P(Planes, WindowsThatReachBeyondTheImage) {
  PlanesShape s;
  s.height = 4;
  s.width = 6;
  s.channels = 2;
  s.out_channels = 20;
  s.window_height = 5;
  s.window_width = 7;
  s.dilation_down = 2;
  s.dilation_across = 3;
  for (const int64_t padding : {7, 12, 30}) {
    SCOPED_TRACE(padding);
    Problem(s, padding).expect_right();
  }
}

TEST(PlanesForms, ManyChannelsLargeWindowsAndLongRowsAreNotThere) {
  PlanesShape s;
  s.channels = 5;
  s.out_width = 8;
  EXPECT_FALSE(has_planes(s));
  s.channels = 3;
  s.window_height = s.window_width = 16;
  EXPECT_FALSE(has_planes(s));
  s.window_height = s.window_width = 3;
  s.out_width = 1 << 20;
  EXPECT_FALSE(has_planes(s));
}

INSTANTIATE_TEST_SUITE_P(Levels, Planes, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
