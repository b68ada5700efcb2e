// Means and squared differences of channels at every level that this processor supports, against
// double.

#include "kernels_optimized/cores/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/dispatch.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

// `offset` is added to all elements.
void expect_moments(int64_t pixels, int64_t channels, float offset) {
  std::vector<float> image = test::numbers(pixels * channels, 31);
  for (float& x : image) x += offset;
  std::vector<float> means(static_cast<size_t>(channels) + 1, 7), squares = means;
  channel_moments(image.data(), pixels, channels, means.data(), squares.data());
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = [&](int64_t p) {
      return static_cast<double>(image[static_cast<size_t>(p * channels + c)]);
    };
    double mean = 0, square = 0;
    for (int64_t p = 0; p < pixels; ++p) mean += at(p) / static_cast<double>(pixels);
    for (int64_t p = 0; p < pixels; ++p) square += (at(p) - mean) * (at(p) - mean);
    const double most = std::abs(static_cast<double>(offset)) + 1;
    const auto i = static_cast<size_t>(c);
    ASSERT_NEAR(means[i], mean, 1e-6 * most) << c;
    ASSERT_NEAR(squares[i], square, 1e-5 * (1 + square)) << c;
  }
  EXPECT_EQ(means.back(), 7);
  EXPECT_EQ(squares.back(), 7);
}

TEST(Moments, OfAnyNumberOfChannelsAndPixels) {
  for (const Level limit : kLevels) {
    limit_level(limit);
    if (!has_vectors()) continue;
    for (const int64_t channels : {1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 64, 65, 100, 133}) {
      for (const int64_t pixels : {1, 2, 3, 4, 5, 8, 31}) {
        SCOPED_TRACE(channels * 1000 + pixels);
        expect_moments(pixels, channels, 0);
      }
    }
  }
  limit_level(Level::kAvx512);
}

// The squares of differences from a mean that is far from 0 do not lose their digits.
TEST(Moments, FarFromZero) {
  for (const Level limit : kLevels) {
    limit_level(limit);
    if (has_vectors()) expect_moments(64, 37, 256);
  }
  limit_level(Level::kAvx512);
}

}  // namespace
}  // namespace taper::optimized
