// Tests convolutions of 3 x 3, 1 x 3 and 3 x 1 as stages on several threads, against their
// definition in double.

#include "backends/xnnpack/runtime/stages/winograd_stage.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

constexpr uint32_t kChannels = 32;

Floats some_numbers(size_t count, size_t step) {
  Floats all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i * step % 97) / 48 - 1;
  return all;
}

// A convolution that keeps the size of images of up to `size` x `size`. It is dilated along sides
// where the window has 3 taps.
struct Model {
  uint32_t size, window_height, window_width, dilation;
  Floats filter = some_numbers(size_t{kChannels} * window_height * window_width * kChannels, 31);
  Floats bias = some_numbers(kChannels, 7);
  PayloadBuilder p;

  explicit Model(uint32_t size, uint32_t height = 3, uint32_t width = 3, uint32_t dilation = 1)
      : size(size), window_height(height), window_width(width), dilation(dilation) {
    const uint32_t x = p.input({1, size, size, kChannels}),
                   y = p.output({1, size, size, kChannels});
    const uint32_t weights = p.constant({kChannels, height, width, kChannels}, filter);
    const uint32_t biases = p.constant({kChannels}, bias);
    const uint32_t down = height / 2 * dilation, across = width / 2 * dilation;
    p.convolved(x, weights, biases, y, {down, across, down, across, 1, dilation, dilation});
    p.nodes.back().range = {-1e30f, 1e30f};
  }

  double expected(const Floats& x, int64_t height, int64_t width, size_t index) const {
    const size_t o = index % kChannels;
    const auto pixel = static_cast<int64_t>(index / kChannels);
    double sum = static_cast<double>(bias[o]);
    const int64_t across = window_width, taps = across * window_height;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t row = pixel / width + (k / across - window_height / 2) * dilation;
      const int64_t column = pixel % width + (k % across - across / 2) * dilation;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const float* const from = x.data() + (row * width + column) * kChannels;
      const float* const factors =
          filter.data() + (o * static_cast<size_t>(taps) + static_cast<size_t>(k)) * kChannels;
      for (size_t c = 0; c < kChannels; ++c) {
        sum += static_cast<double>(from[c]) * static_cast<double>(factors[c]);
      }
    }
    return sum;
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    SCOPED_TRACE(testing::Message() << height << " x " << width);
    const size_t most = size_t{size} * size * kChannels;
    const auto sizes = [](uint32_t h, uint32_t w) {
      return std::vector<int32_t>{1, static_cast<int32_t>(h), static_cast<int32_t>(w), kChannels};
    };
    const Floats image = some_numbers(size_t{height} * width * kChannels, 13);
    HeldFloats x(sizes(height, width), image, most), y(sizes(size, size), Floats(most));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), image.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected(image, height, width, i), 1e-3) << i;
    }
  }
};

// Images of so many tiles that each thread has a block of its own, whose last one is not full;
// and of so few that all threads share a block.
TEST(WinogradStage, ComputesImagesOfManyTilesAndOfFew) {
  for (const uint32_t threads : {1u, 2u, 3u, 6u}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    Model model(75);
    Loaded loaded(model.p.finish(), on_threads(threads));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    model.expect_right(loaded, 75, 75);
    model.expect_right(loaded, 21, 5);
    model.expect_right(loaded, 61, 74);
  }
}

TEST(WinogradStage, ComputesWindowsInOneDimension) {
  for (const uint32_t threads : {1u, 3u}) {
    for (const uint32_t dilation : {1u, 4u}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, dilation " << dilation);
      Model wide(60, 1, 3, dilation), high(60, 3, 1, dilation);
      for (Model* model : {&wide, &high}) {
        Loaded loaded(model->p.finish(), on_threads(threads));
        ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
        model->expect_right(loaded, 60, 60);
        model->expect_right(loaded, 1, 59);
        model->expect_right(loaded, 37, 2);
      }
    }
  }
}

}  // namespace
}  // namespace taper::xnnpack
