#include "exir/quantize/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "exir/quantize/feedback.h"

namespace taper::exir {
namespace {

TEST(Weights, EachChannelHasItsLargestAt127) {
  const std::vector<float> weight = {1, -2, 0.5f, 100, 50, 0};
  const QuantisedWeight q = round_weight(weight, {2, 3}, 0, {});
  EXPECT_EQ(q.integers, (std::vector<int8_t>{64, -127, 32, 127, 64, 0}));
  EXPECT_FLOAT_EQ(q.scales[0], 2.0f / 127);
  EXPECT_FLOAT_EQ(q.scales[1], 100.0f / 127);
  EXPECT_FLOAT_EQ(restored(q, {2, 3})[1], -2);
}

TEST(Weights, ChannelsMayBeAnotherDimension) {
  const QuantisedWeight q = round_weight({1, 10, -1, 20}, {2, 2}, 1, {});
  EXPECT_EQ(q.integers, (std::vector<int8_t>{127, 64, -127, 127}));
  EXPECT_EQ(q.scales.size(), 2u);
}

TEST(Weights, AChannelOfZerosHasAModerateScale) {
  const QuantisedWeight q = round_weight({0, 0, 1, -1}, {2, 2}, 0, {});
  EXPECT_FLOAT_EQ(q.scales[0], 1.0f / 127);
  EXPECT_EQ(q.integers[0], 0);
  EXPECT_EQ(round_weight({0, 0}, {1, 2}, 0, {}).scales[0], 1);
}

TEST(Weights, GroupsOfARowHaveScalesOfTheirOwn) {
  const std::vector<float> weight = {7, -7, 0.7f, 0.1f, 0, 0, 14, 2};
  const QuantisedWeight q = round_weight(weight, {2, 4}, 0, {4, 2});
  ASSERT_EQ(q.scales.size(), 4u);
  EXPECT_EQ(q.low, -8);
  EXPECT_EQ(q.integers[0], 7);
  EXPECT_EQ(q.integers[1], -7);
  EXPECT_EQ(q.integers[2], 7);
  EXPECT_EQ(q.integers[3], 1);
  EXPECT_EQ(q.integers[6], 7);
  EXPECT_EQ(q.integers[7], 1);
}

TEST(Weights, HalvesHaveNoScales) {
  const std::vector<float> weight = {1, -2, 0.1f, 65504, 1e-8f, 6e-8f};
  const QuantisedWeight q = round_weight(weight, {2, 3}, 0, {kHalfBits, 0});
  EXPECT_EQ(q.halves, (std::vector<uint16_t>{0x3c00, 0xc000, 0x2e66, 0x7bff, 0, 1}));
  EXPECT_TRUE(q.integers.empty() && q.scales.empty());
  const std::vector<float> again = {1, -2, 0.0999755859375f, 65504, 0, 5.9604644775390625e-8f};
  EXPECT_EQ(restored(q, {2, 3}), again);
}

// With correlated inputs, the error of a column is made up for by the next: for inputs x0 = x1 only
// the sum of the two weights counts.
TEST(Feedback, KeepsTheSumOfTwoWeightsThatSeeTheSame) {
  const std::vector<float> weight = {7, 0.4f, 0.4f, 0};
  // X^T X for rows (1, 0, 0, 1) and (0, 1, 1, 0), many times.
  const std::vector<double> squares = {9, 0, 0, 9, 0, 9, 9, 0, 0, 9, 9, 0, 9, 0, 0, 9};
  const QuantisedWeight plain = round_weight(weight, {1, 4}, 0, {4, 0});
  const QuantisedWeight fed = round_with_feedback(weight, 1, 4, squares, {4, 0});
  EXPECT_EQ(plain.integers[1] + plain.integers[2], 0);
  EXPECT_EQ(fed.integers[1] + fed.integers[2], 1);
}

TEST(Feedback, WithoutCorrelationIsPlainRounding) {
  const std::vector<float> weight = {7, 0.4f, -3.6f, 2};
  const std::vector<double> squares = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_EQ(round_with_feedback(weight, 1, 4, squares, {4, 0}).integers,
            round_weight(weight, {1, 4}, 0, {4, 0}).integers);
  // Inputs that were always 0 say nothing.
  EXPECT_EQ(round_with_feedback(weight, 1, 4, std::vector<double>(16, 0), {4, 0}).integers,
            round_weight(weight, {1, 4}, 0, {4, 0}).integers);
}

// On inputs that depend on each other, the products are closer than those of plain rounding.
TEST(Feedback, BringsProductsCloser) {
  constexpr size_t kRows = 16, kColumns = 64, kInputs = 256;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> weight(kRows * kColumns);
  for (float& value : weight) value = normal(random);
  std::vector<float> inputs(kInputs * kColumns);
  for (size_t r = 0; r < kInputs; ++r) {
    const float shared = normal(random);
    for (size_t c = 0; c < kColumns; ++c) {
      inputs[r * kColumns + c] = shared + 0.3f * normal(random);
    }
  }
  std::vector<double> squares(kColumns * kColumns, 0);
  for (size_t r = 0; r < kInputs; ++r) {
    for (size_t i = 0; i < kColumns; ++i) {
      for (size_t j = 0; j < kColumns; ++j) {
        squares[i * kColumns + j] += static_cast<double>(inputs[r * kColumns + i]) *
                                     static_cast<double>(inputs[r * kColumns + j]);
      }
    }
  }
  const auto error = [&](const QuantisedWeight& q) {
    const std::vector<float> now = restored(q, {kRows, kColumns});
    double sum = 0;
    for (size_t r = 0; r < kInputs; ++r) {
      for (size_t o = 0; o < kRows; ++o) {
        double difference = 0;
        for (size_t c = 0; c < kColumns; ++c) {
          difference += static_cast<double>(now[o * kColumns + c] - weight[o * kColumns + c]) *
                        static_cast<double>(inputs[r * kColumns + c]);
        }
        sum += difference * difference;
      }
    }
    return sum;
  };
  const double plain = error(round_weight(weight, {kRows, kColumns}, 0, {4, 32}));
  EXPECT_LT(error(round_with_feedback(weight, kRows, kColumns, squares, {4, 32})), 0.5 * plain);
}

}  // namespace
}  // namespace taper::exir
