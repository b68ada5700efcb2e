// Tests graphs that run in several stages, against the definition of convolutions in double.

#include "backends/xnnpack/runtime/stages/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "test/support/heap_counter.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

struct Image {
  uint32_t height, width, channels;
  Floats data;
  double at(int64_t y, int64_t x, uint32_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    return static_cast<double>(data[static_cast<size_t>(y * width + x) * channels + c]);
  }
};

Floats random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  Floats result(count);
  for (float& value : result) value = numbers(random);
  return result;
}

// A 3 x 3 convolution with a padding of 1.
Image convolved(const Image& x, const Floats& filter, const Floats& bias, double min) {
  const auto out = static_cast<uint32_t>(bias.size());
  Image y{x.height, x.width, out, {}};
  for (int64_t row = 0; row < x.height; ++row) {
    for (int64_t column = 0; column < x.width; ++column) {
      for (uint32_t o = 0; o < out; ++o) {
        double sum = static_cast<double>(bias[o]);
        for (int k = 0; k < 9; ++k) {
          for (uint32_t c = 0; c < x.channels; ++c) {
            sum +=
                static_cast<double>(filter[(o * 9 + static_cast<uint32_t>(k)) * x.channels + c]) *
                x.at(row + k / 3 - 1, column + k % 3 - 1, c);
          }
        }
        y.data.push_back(static_cast<float>(std::max(sum, min)));
      }
    }
  }
  return y;
}

// A block of a ResNet on images of 64 channels: b = relu(conv(x)), c = conv(b), y = |b + c|. Two
// stages need `b`.
struct ResidualBlock {
  static constexpr uint32_t kChannels = 64;
  PayloadBuilder p;
  Floats first = random_floats(kChannels * 9 * kChannels, 1);
  Floats second = random_floats(kChannels * 9 * kChannels, 2);
  Floats bias = random_floats(kChannels, 3);

  explicit ResidualBlock(uint32_t size) {
    const Sizes sizes = {1, size, size, kChannels}, filter = {kChannels, 3, 3, kChannels};
    const uint32_t x = p.input(sizes), y = p.output(sizes);
    const uint32_t b = p.inner(sizes), c = p.inner(sizes), sum = p.inner(sizes);
    const uint32_t biases = p.constant({kChannels}, bias);
    p.convolved(x, p.constant(filter, first), biases, b, 1);
    p.nodes.back().range = {0.f, 1e30f};
    p.convolved(b, p.constant(filter, second), biases, c, 1);
    p.binary(NodeContent::Add, b, c, sum);
    p.unary(NodeContent::Abs, sum, y);
  }

  Image expected(const Image& x) const {
    const Image b = convolved(x, first, bias, 0), c = convolved(b, second, bias, -1e30);
    Image y = b;
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = std::abs(b.data[i] + c.data[i]);
    return y;
  }
};

void expect_right(Loaded& loaded, const ResidualBlock& block, int32_t height, int32_t width,
                  size_t capacity) {
  const auto count = static_cast<size_t>(height * width) * ResidualBlock::kChannels;
  const Image image{static_cast<uint32_t>(height), static_cast<uint32_t>(width),
                    ResidualBlock::kChannels, random_floats(count, 9)};
  HeldFloats x({1, height, width, 64}, image.data, capacity);
  HeldFloats y({1, height, width, 64}, Floats(count), capacity);
  const Status status = loaded.run({&x.value, &y.value});
  ASSERT_TRUE(status.ok()) << status.message();
  const Image want = block.expected(image);
  const Floats got = y.result();
  ASSERT_EQ(got.size(), want.data.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want.data[i], 5e-3f) << i;
}

// The number of stages if `spare_bytes` more than the graph itself needs may be used.
size_t stages_of(ResidualBlock&& block, uint64_t spare_bytes) {
  const std::vector<uint8_t> payload = block.p.finish();
  const BackendInitContext context("forward", nullptr, nullptr, {});
  Subgraph graph;
  Stages stages;
  EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
  EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
  EXPECT_TRUE(stages.build(graph, spare_bytes, {}).ok());
  return stages.size();
}

TEST(Stages, ConvolutionsThatGainAreOnesOfTheirOwn) {
  if (!has_own_stages()) GTEST_SKIP() << "no stages for this processor";
  EXPECT_EQ(stages_of(ResidualBlock(28), 1 << 30), 3u);
  EXPECT_EQ(stages_of(ResidualBlock(28), 0), 1u);
  // The transforms do not pay for so few pixels.
  EXPECT_EQ(stages_of(ResidualBlock(3), 1 << 30), 1u);
}

TEST(Stages, ComputeWhatTheGraphSays) {
  ResidualBlock block(14);
  Loaded loaded(block.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  expect_right(loaded, block, 14, 14, 0);
}

TEST(Stages, SizesMayChangeBetweenRuns) {
  ResidualBlock block(20);
  Loaded loaded(block.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const size_t capacity = size_t{20} * 20 * 64;
  for (const auto& [height, width] : {std::pair(9, 13), {20, 20}, {1, 2}, {17, 4}}) {
    SCOPED_TRACE(testing::Message() << height << "x" << width);
    expect_right(loaded, block, height, width, capacity);
  }
}

TEST(Stages, RunOnSeveralThreads) {
  ResidualBlock block(30);
  XnnpackOptions options;
  options.threads = 3;
  options.wake_seconds = 0;
  Loaded loaded(block.p.finish(), options);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  expect_right(loaded, block, 30, 30, 0);
}

TEST(Stages, WithoutRoomForFasterConvolutionsThereIsTheUsualWay) {
  ResidualBlock block(14);
  XnnpackOptions options;
  options.threads = 1;
  options.wake_seconds = 0;
  options.max_bytes = 1 << 20;
  Loaded loaded(block.p.finish(), options);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  expect_right(loaded, block, 14, 14, 0);
}

TEST(Stages, TakeNothingFromTheHeapWhileTheyRun) {
  ResidualBlock block(16);
  Loaded loaded(block.p.finish());
  const Floats data = random_floats(size_t{16} * 16 * 64, 4);
  HeldFloats x({1, 16, 16, 64}, data), y({1, 16, 16, 64}, Floats(data.size()));
  const std::vector<EValue*> args = {&x.value, &y.value};
  ASSERT_TRUE(loaded.run(args).ok());
  const uint64_t before = test::heap_calls();
  const bool ok = loaded.run(args).ok();
  EXPECT_EQ(test::heap_calls(), before);
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace taper::xnnpack
