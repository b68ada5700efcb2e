// Grouped convolutions at every level that this processor supports, against their definition in
// double.

#include "kernels_optimized/cores/grouped/grouped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels_optimized/cores/grouped/grouped_rows.h"
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

  // Calls compute(), which is given the data but for the packed filter, and compares.
  template <typename Compute>
  void expect_right(Compute compute) const {
    const GroupedShape& s = shape;
    const int64_t rows = s.images * s.out_height;
    std::vector<float> out(static_cast<size_t>(rows * s.out_width * s.out_channels), -99);
    compute(GroupedData{image.data(), nullptr, bias.data(), out.data(), -4, 5});
    for (size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const int64_t pixel = index / s.out_channels;
      ASSERT_NEAR(out[i],
                  expected(pixel / s.out_width, pixel % s.out_width, index % s.out_channels), 2e-5)
          << i;
    }
  }
};

// Computes two rows at a time and compares.
void expect_right(const GroupedShape& shape) {
  const Problem problem(shape);
  const GroupedShape& s = problem.shape;
  std::vector<float> packed(static_cast<size_t>(grouped_filter_size(s)));
  pack_grouped(s, {problem.filter.data(), s.terms(), 1}, packed.data());
  problem.expect_right([&](GroupedData data) {
    data.filter = packed.data();
    const int64_t rows = s.images * s.out_height;
    for (int64_t row = 0; row < rows; row += 2) {
      grouped(s, data, row, std::min<int64_t>(2, rows - row));
    }
  });
}

struct Images {
  int64_t count, height, width;
};

// Windows of 3 x 3 around each pixel, or around each step-th.
GroupedShape windows_of_three(const Images& images, int64_t groups, int64_t ins, int64_t outs,
                              int64_t step) {
  GroupedShape s;
  s.images = images.count;
  s.height = images.height;
  s.width = images.width;
  s.channels = groups * ins;
  s.group_channels = ins;
  s.group_out_channels = outs;
  s.window_height = s.window_width = 3;
  s.padding_top = s.padding_left = 1;
  s.step_down = s.step_across = step;
  return s;
}

class Grouped : public test::AtEachLevel {};

TEST_P(Grouped, EveryGroupStepAndSize) {
  constexpr int64_t kGroups[][2] = {{1, 2}, {1, 4}, {2, 2}, {2, 4}, {3, 4}, {4, 4}, {8, 8}};
  for (const auto& [ins, outs] : kGroups) {
    if (!has_grouped(windows_of_three({1, 1, 1}, 1, ins, outs, 1))) continue;
    for (int64_t groups : {1, 3, 8, 13}) {
      for (int64_t step : {1, 2}) {
        for (int64_t size : {1, 4, 11, 18}) {
          SCOPED_TRACE(testing::Message() << ins << " -> " << outs << ", groups " << groups
                                          << ", step " << step << ", size " << size);
          expect_right(windows_of_three({2, size, size + 1}, groups, ins, outs, step));
        }
      }
    }
  }
}

TEST_P(Grouped, WindowsOfOnePixel) {
  constexpr int64_t kGroups[][2] = {{1, 2}, {16, 16}, {5, 32}, {48, 16}, {8, 64}};
  for (const auto& [ins, outs] : kGroups) {
    for (int64_t step : {1, 2, 3}) {
      for (int64_t size : {1, 3, 8, 19}) {
        SCOPED_TRACE(testing::Message()
                     << ins << " -> " << outs << ", step " << step << ", size " << size);
        GroupedShape s = windows_of_three({2, size, size + 1}, 3, ins, outs, step);
        s.window_height = s.window_width = 1;
        s.padding_top = s.padding_left = 0;
        const Problem problem(s);
        if (has_grouped(problem.shape)) expect_right(s);
      }
    }
  }
}

// Rows so long that all blocks of channels read a part of them before the next part.
TEST_P(Grouped, LongRows) {
  for (int64_t outs : {2, 4}) {
    GroupedShape s;
    s.height = 1;
    s.width = 701;
    s.channels = 64 * outs;
    s.group_channels = s.group_out_channels = outs;
    s.window_width = 3;
    s.padding_left = 1;
    if (has_grouped(s)) expect_right(s);
  }
}

TEST_P(Grouped, WindowsThatReachFar) {
  if (!has_grouped(windows_of_three({1, 1, 1}, 1, 2, 2, 1))) {
    GTEST_SKIP() << "not for this processor";
  }
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
  expect_right(s);
}

TEST(GroupedForms, LargeGroupsAndOddOnesAreNotThere) {
  for (const auto& [ins, outs] : {std::pair(16, 16), {3, 3}, {4, 2}}) {
    EXPECT_FALSE(has_grouped(windows_of_three({1, 1, 1}, 1, ins, outs, 1)));
  }
}

// Computes parts of three rows and compares.
void expect_rows_right(const GroupedShape& shape) {
  const Problem problem(shape);
  const GroupedShape& s = problem.shape;
  std::vector<float> packed(static_cast<size_t>(grouped_rows_filter_size(s)));
  pack_grouped_rows(s, {problem.filter.data(), s.terms(), 1}, packed.data());
  std::vector<float> scratch(static_cast<size_t>(grouped_rows_scratch(s, 3)));
  problem.expect_right([&](GroupedData data) {
    data.filter = packed.data();
    GroupedPart part;
    for (part.image = 0; part.image < s.images; ++part.image) {
      for (part.bundle = 0; part.bundle < grouped_rows_bundles(s); ++part.bundle) {
        for (part.first = 0; part.first < s.out_height; part.first += 3) {
          part.rows = std::min<int64_t>(3, s.out_height - part.first);
          grouped_rows(s, data, part, scratch.data());
        }
      }
    }
  });
}

class GroupedRows : public test::AtEachLevel {};

TEST_P(GroupedRows, EveryWidthOfRow) {
  if (!has_grouped_rows(16, 16)) GTEST_SKIP() << "not for this processor";
  constexpr int64_t kGroups[][2] = {{4, 4}, {8, 8}, {16, 16}, {16, 32}};
  for (int64_t width = 1; width <= 17; ++width) {
    for (const auto& [ins, outs] : kGroups) {
      if (!has_grouped_rows(ins, outs)) continue;
      SCOPED_TRACE(testing::Message() << "width " << width << ", " << ins << " -> " << outs);
      expect_rows_right(windows_of_three({1, 3, width}, 1, ins, outs, 1));
    }
  }
}

// Two or four of them share a vector, and the last vector is not full.
TEST_P(GroupedRows, NarrowGroupsAndEveryNumberOfThem) {
  if (!has_grouped_rows(8, 8)) GTEST_SKIP() << "not for this processor";
  constexpr int64_t kGroups[][2] = {{4, 4}, {4, 8}, {7, 8}, {8, 8}};
  for (const auto& [ins, outs] : kGroups) {
    if (!has_grouped_rows(ins, outs)) continue;
    for (int64_t groups = 1; groups <= 9; ++groups) {
      for (int64_t step : {1, 2}) {
        SCOPED_TRACE(testing::Message()
                     << ins << " -> " << outs << ", groups " << groups << ", step " << step);
        expect_rows_right(windows_of_three({2, 4, 9}, groups, ins, outs, step));
      }
    }
  }
}

TEST_P(GroupedRows, EveryGroupAndStep) {
  constexpr int64_t kGroups[][2] = {{8, 16},  {4, 16},  {24, 24}, {17, 33},
                                    {48, 48}, {16, 64}, {40, 20}};
  for (const auto& [ins, outs] : kGroups) {
    if (!has_grouped_rows(ins, outs)) continue;
    for (int64_t step : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << ins << " -> " << outs << ", step " << step);
      expect_rows_right(windows_of_three({2, 4, 9}, 2, ins, outs, step));
    }
  }
}

TEST_P(GroupedRows, WindowsThatReachFar) {
  if (!has_grouped_rows(16, 16)) GTEST_SKIP() << "not for this processor";
  for (int64_t step : {1, 2, 4}) {
    for (int64_t dilation : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << "step " << step << ", dilation " << dilation);
      GroupedShape s;
      s.height = 9;
      s.width = 5;  // Less than the padding on one side.
      s.channels = 32;
      s.group_channels = s.group_out_channels = 16;
      s.window_height = 2;
      s.window_width = 4;
      s.dilation_down = 3;
      s.dilation_across = dilation;
      s.step_across = step;
      s.padding_left = 7;
      expect_rows_right(s);
    }
  }
}

TEST(GroupedRowsForms, OddGroupsAndWideOnesAreNotThere) {
  EXPECT_FALSE(has_grouped_rows(2, 2));
  EXPECT_FALSE(has_grouped_rows(4, 3));
  EXPECT_FALSE(has_grouped_rows(8, 4));
  EXPECT_FALSE(has_grouped_rows(3, 16));
  EXPECT_FALSE(has_grouped_rows(128, 128));
}

INSTANTIATE_TEST_SUITE_P(Levels, Grouped, testing::ValuesIn(kLevels));
INSTANTIATE_TEST_SUITE_P(Levels, GroupedRows, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
