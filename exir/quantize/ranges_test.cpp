#include "exir/quantize/ranges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace taper::exir {
namespace {

Histogram histogram_of(const std::vector<float>& values) {
  Histogram histogram;
  EXPECT_TRUE(histogram.add(values));
  return histogram;
}

// A bell by its quantiles, all within 7.1 of 0, with one outlier: to cut it off costs less than it
// costs all others to keep it.
std::vector<float> bell_with_outlier() {
  std::vector<float> values;
  for (int i = 1; i < 400000; ++i) {
    const double p = i / 400000.0;
    values.push_back(static_cast<float>(0.55 * std::log(p / (1 - p))));
  }
  values.push_back(20);
  return values;
}

TEST(Histogram, CountsInOnePassWhateverTheOrder) {
  Histogram histogram = histogram_of({0.5f});
  EXPECT_TRUE(histogram.add(std::vector<float>{-8, 1000, 3}));
  EXPECT_EQ(histogram.min(), -8);
  EXPECT_EQ(histogram.max(), 1000);
  double sum = 0;
  for (size_t i = 0; i < Histogram::kBins; ++i) sum += histogram.bin(i);
  EXPECT_EQ(sum, 4);
  EXPECT_EQ(histogram.count(), 4);
}

TEST(Histogram, RefusesWhatIsNotFinite) {
  Histogram histogram;
  EXPECT_FALSE(histogram.add(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(histogram.add(std::vector<float>{-std::numeric_limits<float>::infinity()}));
  EXPECT_TRUE(histogram.empty());
}

TEST(Histogram, AddsAnother) {
  Histogram all = histogram_of({0, 1, 2});
  all.add(histogram_of({-100, 50}));
  EXPECT_EQ(all.count(), 5);
  EXPECT_EQ(all.min(), -100);
  EXPECT_EQ(all.max(), 50);
}

// scale = (high - low) / 255, zero point = -128 - round(low / scale); PyTorch's observers give the
// same numbers.
TEST(Ranges, ScaleOfARange) {
  const TensorScale all = scale_of({-1, 1.55});
  EXPECT_NEAR(all.scale, 0.01, 1e-9);
  EXPECT_EQ(all.zero_point, -28);
  EXPECT_EQ(scale_of({0, 255}).zero_point, -128);
  EXPECT_EQ(scale_of({0, 255}).scale, 1);
  EXPECT_EQ(scale_of({-255, 0}).zero_point, 127);
  // 0 is always exact.
  EXPECT_EQ(scale_of({51, 255}).zero_point, -128);
  EXPECT_EQ(scale_of({51, 255}).scale, 1);
}

TEST(Ranges, AConstantStillHasAScale) {
  EXPECT_EQ(scale_of({0, 0}).scale, 1);
  EXPECT_GT(scale_of({3, 3}).scale, 0);
  EXPECT_GT(scale_of({1e-44, 1e-44}).scale, 0);
  for (const float value : {0.0f, 3.0f, -2.5f, 1e-30f}) {
    const ChosenRange chosen = choose_range(histogram_of({value, value}), {});
    EXPECT_GT(chosen.scale.scale, 0) << value;
    EXPECT_TRUE(std::isfinite(chosen.scale.scale)) << value;
  }
}

TEST(Ranges, ErrorOfAKnownCase) {
  // With scale 1 the values 0.25 and 300 become 0 and 127 - (-128) = 255.
  const Histogram histogram = histogram_of({0, 300});
  TensorScale scale;
  scale.zero_point = -128;
  EXPECT_NEAR(squared_error(histogram, scale), 45.0 * 45.0 / 2, 45);
}

TEST(Ranges, OutliersAreCutByAllButMinMax) {
  const Histogram histogram = histogram_of(bell_with_outlier());
  EXPECT_EQ(min_max_range(histogram).high, 20);
  EXPECT_LT(percentile_range(histogram).high, 10);
  EXPECT_LT(entropy_range(histogram).high, 20);
  EXPECT_LT(squared_error_range(histogram).high, 20);
  const ChosenRange best = choose_range(histogram, {});
  for (const RangeMethod method : {RangeMethod::kMinMax, RangeMethod::kPercentile,
                                   RangeMethod::kEntropy, RangeMethod::kSquaredError}) {
    EXPECT_LE(best.error, choose_range(histogram, method).error / 0.75);
    EXPECT_EQ(choose_range(histogram, method).method, method);
  }
}

}  // namespace
}  // namespace taper::exir
