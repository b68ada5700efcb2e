// Tests graphs that run in several stages, against the definition of convolutions in double.

#include "backends/xnnpack/runtime/stages/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"
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
    p.convolved(x, p.constant(filter, first), biases, b, PayloadBuilder::Windows::padded(1));
    p.nodes.back().range = {0.f, 1e30f};
    p.convolved(b, p.constant(filter, second), biases, c, PayloadBuilder::Windows::padded(1));
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
  return stage_count(block.p.finish(), {}, spare_bytes);
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
  Loaded loaded(block.p.finish(), on_threads(3));
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  expect_right(loaded, block, 30, 30, 0);
}

TEST(Stages, WithoutRoomForFasterConvolutionsThereIsTheUsualWay) {
  ResidualBlock block(14);
  XnnpackOptions options = on_threads(1);
  options.max_bytes = 1 << 20;
  Loaded loaded(block.p.finish(), options);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  expect_right(loaded, block, 14, 14, 0);
}

// The results of a chain need not be in memory all at once.
TEST(Stages, CountResultsAsLongAsTheyAreNeeded) {
  const Sizes sizes = {16, 1024};
  for (const bool are_added : {false, true}) {
    PayloadBuilder p;
    const uint32_t x = p.input(sizes), y = p.output(sizes);
    std::vector<uint32_t> made = {x};
    for (int i = 0; i < 100; ++i) {
      made.push_back(p.inner(sizes));
      p.unary(NodeContent::Abs, made[made.size() - 2], made.back());
    }
    uint32_t sum = made.back();
    for (size_t i = 1; are_added && i + 1 < made.size(); ++i) {
      const uint32_t next = p.inner(sizes);
      p.binary(NodeContent::Add, sum, made[i], next);
      sum = next;
    }
    p.unary(NodeContent::Negate, sum, y);
    XnnpackOptions options = on_threads(1);
    options.max_bytes = 1 << 20;
    Loaded loaded(p.finish(), options);
    ASSERT_EQ(loaded.status.error(), are_added ? Error::kOutOfResources : Error::kOk);
    if (are_added) continue;
    HeldFloats from({16, 1024}, Floats(16 * 1024, -2)), to({16, 1024}, Floats(16 * 1024));
    ASSERT_TRUE(loaded.run({&from.value, &to.value}).ok());
    EXPECT_EQ(to.result(), Floats(16 * 1024, -2));
  }
}

// Slices of a = -x, whose elements follow one another, and what is made of them:
// sum = swish(a[1]) * a[0] + a[1], last = -a[2], part = -(a[1] without its first 10 rows).
struct Slices {
  static constexpr uint32_t kRows = 40, kColumns = 300;

  PayloadBuilder p;
  uint32_t x = p.input({3, kRows, kColumns});
  uint32_t sum = p.output({1, kRows, kColumns}), last = p.output({kRows, kColumns});
  uint32_t part = p.output({1, kRows - 10, kColumns});

  // With `rows` of 0 the number of rows may change, and nothing is made of a part of them.
  explicit Slices(uint32_t rows) {
    const Sizes one = {1, kRows, kColumns};
    const uint32_t a = p.inner({3, kRows, kColumns});
    p.unary(NodeContent::Negate, x, a);
    uint32_t of[3];
    for (uint32_t i = 0; i < 3; ++i) of[i] = slice(a, {i, 0, 0}, {1, rows, 0}, one);
    const uint32_t swish = p.inner(one), product = p.inner(one), flat = p.inner({kRows, kColumns});
    p.taper_node(NodeContent::Swish, wire::CreateUnary(p.fbb, of[1], swish).Union());
    p.binary(NodeContent::Multiply, swish, of[0], product);
    p.binary(NodeContent::Add, product, of[1], sum);
    p.reshaped(of[2], {0, kColumns}, flat);
    p.unary(NodeContent::Negate, flat, last);
    const uint32_t rest =
        rows == 0 ? of[1] : slice(of[1], {0, 10, 0}, {1, rows - 10, 0}, {1, kRows - 10, kColumns});
    p.unary(NodeContent::Negate, rest, part);
  }

  uint32_t slice(uint32_t from, const Sizes& offsets, const Sizes& sizes, const Sizes& result) {
    const uint32_t to = p.inner(result);
    p.nodes.push_back({NodeContent::Slice,
                       wire::CreateSliceDirect(p.fbb, 3, &offsets, &sizes, from, to).Union()});
    return to;
  }
};

void expect_slices(Loaded& loaded, uint32_t rows, uint32_t first_of_part) {
  const size_t count = size_t{rows} * Slices::kColumns, skipped = first_of_part * Slices::kColumns;
  const auto height = static_cast<int32_t>(rows), width = static_cast<int32_t>(Slices::kColumns);
  const Floats data = random_floats(3 * count, 7);
  const size_t capacity = size_t{Slices::kRows} * Slices::kColumns;
  HeldFloats x({3, height, width}, data, 3 * capacity);
  HeldFloats sum({1, height, width}, Floats(count), capacity);
  HeldFloats last({height, width}, Floats(count), capacity);
  HeldFloats part({1, height - static_cast<int32_t>(first_of_part), width}, Floats(count - skipped),
                  capacity);
  for (int run = 0; run < 2; ++run) {
    const Status status = loaded.run({&x.value, &sum.value, &last.value, &part.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats sums = sum.result(), lasts = last.result(), parts = part.result();
    ASSERT_EQ(sums.size(), count);
    for (size_t i = 0; i < count; ++i) {
      const double a0 = -static_cast<double>(data[i]), a1 = -static_cast<double>(data[count + i]);
      ASSERT_NEAR(sums[i], a1 / (1 + std::exp(-a1)) * a0 + a1, 1e-6) << i;
      ASSERT_EQ(lasts[i], data[2 * count + i]) << i;
    }
    ASSERT_EQ(parts.size(), count - skipped);
    for (size_t i = 0; i < parts.size(); ++i) ASSERT_EQ(parts[i], data[count + skipped + i]) << i;
  }
}

TEST(Stages, SlicesArePartsOfTheMemoryOfTheirInput) {
  Slices slices(Slices::kRows);
  const std::vector<uint8_t> payload = slices.p.finish();
  for (const uint32_t threads : {1u, 3u}) {
    Loaded loaded(payload, on_threads(threads));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    expect_slices(loaded, Slices::kRows, 10);
  }
}

TEST(Stages, SlicesBeginWhereTheSizesSay) {
  Slices slices(0);
  slices.p.tensors[slices.part].sizes = {1, Slices::kRows, Slices::kColumns};
  Loaded loaded(slices.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  for (const uint32_t rows : {40u, 33u, 1u, 40u}) expect_slices(loaded, rows, 0);
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
