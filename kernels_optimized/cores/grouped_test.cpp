// Grouped convolutions at every level that this processor supports, against their definition in
// double.

#include "kernels_optimized/cores/grouped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test/support/call_fast.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

using test::numbers;

struct Problem {
  GroupedShape shape;
  std::vector<float> image, filter, bias;

  explicit Problem(GroupedShape s) : shape(s) {
    shape.out_height =
        (s.height + 2 * s.padding_top - (s.window_height - 1) * s.dilation_down - 1) / s.step_down +
        1;
    shape.out_width =
        (s.width + 2 * s.padding_left - (s.window_width - 1) * s.dilation_across - 1) /
            s.step_across +
        1;
    shape.out_channels = s.channels / s.group_channels * s.group_out_channels;
    image = numbers(s.images * s.height * s.width * s.channels, 31);
    filter = numbers(shape.out_channels * s.terms(), 17);
    bias = numbers(shape.out_channels, 5);
  }

  double at(int64_t n, int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) return 0;
    const int64_t index = ((n * shape.height + y) * shape.width + x) * shape.channels + c;
    return static_cast<double>(image[static_cast<size_t>(index)]);
  }

  double expected(int64_t row, int64_t x, int64_t o) const {
    const GroupedShape& s = shape;
    double sum = static_cast<double>(bias[static_cast<size_t>(o)]);
    for (int64_t t = 0; t < s.terms(); ++t) {
      const int64_t c = t % s.group_channels, place = t / s.group_channels;
      const int64_t y = row % s.out_height * s.step_down - s.padding_top +
                        place / s.window_width * s.dilation_down;
      const int64_t column =
          x * s.step_across - s.padding_left + place % s.window_width * s.dilation_across;
      sum += static_cast<double>(filter[static_cast<size_t>(o * s.terms() + t)]) *
             at(row / s.out_height, y, column, o / s.group_out_channels * s.group_channels + c);
    }
    return std::clamp(sum, -4.0, 5.0);
  }

  // Computes two rows at a time and compares.
  void expect_right() const {
    const GroupedShape& s = shape;
    std::vector<float> packed(static_cast<size_t>(grouped_filter_size(s)));
    pack_grouped(s, {filter.data(), s.terms(), 1}, packed.data());
    const int64_t rows = s.images * s.out_height;
    std::vector<float> out(static_cast<size_t>(rows * s.out_width * s.out_channels), -99);
    const GroupedData data = {image.data(), packed.data(), bias.data(), out.data(), -4, 5};
    for (int64_t row = 0; row < rows; row += 2) {
      grouped(s, data, row, std::min<int64_t>(2, rows - row));
    }
    for (size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const int64_t pixel = index / s.out_channels;
      ASSERT_NEAR(out[i],
                  expected(pixel / s.out_width, pixel % s.out_width, index % s.out_channels), 2e-5)
          << i;
    }
  }
};

class Grouped : public test::AtEachLevel {};

TEST_P(Grouped, EveryGroupStepAndSize) {
  constexpr int64_t kGroups[][2] = {{1, 2}, {1, 4}, {2, 2}, {2, 4}, {3, 4}, {4, 4}, {8, 8}};
  for (const auto& [ins, outs] : kGroups) {
    if (!has_grouped(ins, outs)) continue;
    for (int64_t groups : {1, 3, 8, 13}) {
      for (int64_t step : {1, 2}) {
        for (int64_t size : {1, 4, 11, 18}) {
          SCOPED_TRACE(testing::Message() << ins << " -> " << outs << ", groups " << groups
                                          << ", step " << step << ", size " << size);
          GroupedShape s;
          s.images = 2;
          s.height = size;
          s.width = size + 1;
          s.channels = groups * ins;
          s.group_channels = ins;
          s.group_out_channels = outs;
          s.window_height = s.window_width = 3;
          s.padding_top = s.padding_left = 1;
          s.step_down = s.step_across = step;
          Problem(s).expect_right();
        }
      }
    }
  }
}

TEST_P(Grouped, WindowsThatReachFar) {
  if (!has_grouped(2, 2)) GTEST_SKIP() << "not for this processor";
  GroupedShape s;
  s.height = 9;
  s.width = 23;
  s.channels = 10;
  s.group_channels = s.group_out_channels = 2;
  s.window_height = 2;
  s.window_width = 5;
  s.dilation_down = 3;
  s.dilation_across = 2;
  s.step_down = 2;
  s.padding_left = 4;
  Problem(s).expect_right();
}

TEST(GroupedForms, LargeGroupsAndOddOnesAreNotThere) {
  EXPECT_FALSE(has_grouped(16, 16));
  EXPECT_FALSE(has_grouped(3, 3));
  EXPECT_FALSE(has_grouped(4, 2));
}

INSTANTIATE_TEST_SUITE_P(Levels, Grouped, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
