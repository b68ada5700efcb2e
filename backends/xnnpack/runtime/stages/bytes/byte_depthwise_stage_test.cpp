// Tests depthwise convolutions of int8 as stages, against their definition: on processors without
// the stage XNNPACK has to give the same bytes.

#include "backends/xnnpack/runtime/stages/bytes/byte_depthwise_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr float kInScale = 0.5f, kFilterScale = 0.125f, kOutScale = 4;
constexpr int32_t kInZero = -3, kOutZero = 5;
constexpr float kMin = -300, kMax = 200;

// x -> bytes -> a convolution with a padding of half the window -> bytes -> y.
struct Model {
  uint32_t side, step, size, channels;
  std::vector<int8_t> filter;
  std::vector<int32_t> bias;
  PayloadBuilder p;
  uint32_t node = 1;  // The convolution's place.

  Model(uint32_t side, uint32_t step, uint32_t size, uint32_t channels, int32_t first_bias = 0)
      : side(side), step(step), size(size), channels(channels) {
    const uint32_t out = (size - 1) / step + 1;
    const uint32_t x = p.input({1, size, size, channels});
    const uint32_t in = p.bytes({1, size, size, channels}, kInScale, kInZero);
    const uint32_t result = p.bytes({1, out, out, channels}, kOutScale, kOutZero);
    const uint32_t y = p.output({1, out, out, channels});
    for (uint32_t i = 0; i < side * side * channels; ++i) {
      filter.push_back(static_cast<int8_t>(static_cast<int32_t>(i * 37 % 255) - 127));
    }
    for (uint32_t c = 0; c < channels; ++c) bias.push_back(static_cast<int32_t>(c * 97) - 1000);
    bias[0] += first_bias;
    const uint32_t weights = p.constant({1, side, side, channels}, filter, kFilterScale);
    const uint32_t biases = p.constant({channels}, bias, kInScale * kFilterScale);
    p.unary(NodeContent::Convert, x, in);
    PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(side / 2);
    windows.step = step;
    windows.groups = channels;
    p.convolved(in, weights, biases, result, windows);
    p.nodes.back().range = {kMin, kMax};
    p.unary(NodeContent::Convert, result, y);
  }

  float expected(const std::vector<int8_t>& image, int64_t height, int64_t width, int64_t row,
                 int64_t column, size_t c) const {
    int64_t sum = bias[c];
    const int64_t half = side / 2;
    for (int64_t k = 0; k < side * side; ++k) {
      const int64_t y = row * step + k / side - half, x = column * step + k % side - half;
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      sum += (image[static_cast<size_t>(y * width + x) * channels + c] - kInZero) *
             filter[static_cast<size_t>(k) * channels + c];
    }
    const float scale = kInScale * kFilterScale / kOutScale;
    const float rounded = std::nearbyint(static_cast<float>(sum) * scale) + kOutZero;
    const float byte =
        std::clamp(rounded, kMin / kOutScale + kOutZero, kMax / kOutScale + kOutZero);
    return (byte - kOutZero) * kOutScale;
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    SCOPED_TRACE(testing::Message()
                 << side << " step " << step << ": " << height << " x " << width);
    const size_t most = size_t{size} * size * channels;
    std::vector<int8_t> image(size_t{height} * width * channels);
    Floats in(image.size());
    for (size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<int8_t>(static_cast<int32_t>(i * 101 % 251) - 125);
      in[i] = static_cast<float>(image[i] - kInZero) * kInScale;
    }
    const auto n = [](uint32_t number) { return static_cast<int32_t>(number); };
    HeldFloats x({1, n(height), n(width), n(channels)}, in, most);
    HeldFloats y({1, n(size), n(size), n(channels)}, Floats(most));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    const size_t out_width = (width - 1) / step + 1, out_height = (height - 1) / step + 1;
    ASSERT_EQ(got.size(), out_height * out_width * channels);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto pixel = static_cast<int64_t>(i / channels);
      const auto across = static_cast<int64_t>(out_width);
      ASSERT_EQ(got[i],
                expected(image, height, width, pixel / across, pixel % across, i % channels))
          << i;
    }
  }
};

TEST(ByteDepthwiseStage, GivesTheBytesOfTheDefinition) {
  for (const uint32_t side : {3u, 5u, 7u}) {
    for (const uint32_t step : {1u, 2u}) {
      for (const uint32_t threads : {1u, 3u}) {
        Model model(side, step, 28, 20);
        Loaded loaded(model.p.finish(), on_threads(threads));
        ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
        model.expect_right(loaded, 28, 28);
        model.expect_right(loaded, 7, 13);
        model.expect_right(loaded, 1, 2);
      }
    }
  }
}

TEST(ByteDepthwiseStage, TakesWhatItComputesExactly) {
  const auto is_better = [](Model model) {
    const std::vector<uint8_t> payload = model.p.finish();
    const BackendInitContext context("forward", nullptr, nullptr, {});
    Subgraph graph;
    EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
    return ByteDepthwiseStage::is_better(graph.nodes()[model.node], graph.values());
  };
  // Whether the processor has a faster form for windows of so many pixels across and rows of 40.
  const auto has = [](int64_t side, int64_t step) {
    optimized::WindowShape shape;
    shape.window_height = shape.window_width = side;
    shape.step_down = shape.step_across = step;
    shape.channels = 16;
    shape.out_width = 40;
    return optimized::has_byte_depthwise(shape) && optimized::is_byte_depthwise_faster(shape);
  };
  for (const uint32_t side : {3u, 5u, 7u}) {
    for (const uint32_t step : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << side << " step " << step);
      EXPECT_EQ(is_better(Model(side, step, 40 * step, 16)), has(side, step));
      EXPECT_FALSE(is_better(Model(side, step, 40 * step, 7)));
    }
  }
  EXPECT_FALSE(is_better(Model(3, 1, 4, 8)));  // Too few products.
  EXPECT_EQ(is_better(Model(5, 1, 8, 1600)), has(5, 1));
#if defined(__aarch64__)
  EXPECT_FALSE(is_better(Model(3, 1, 7, 1600)));          // Short rows.
  EXPECT_FALSE(is_better(Model(3, 1, 40, 16, 1 << 23)));  // Sums may be too large.
#endif
}

// A bias beyond what the stage takes: XNNPACK computes it.
TEST(ByteDepthwiseStage, LargeSumsAreRightToo) {
  Model model(3, 1, 28, 20, 1 << 22);
  Loaded loaded(model.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  model.expect_right(loaded, 28, 28);
}

}  // namespace
}  // namespace taper::xnnpack
