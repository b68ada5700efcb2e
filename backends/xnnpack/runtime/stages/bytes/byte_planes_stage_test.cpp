// Tests first convolutions in int8 as stages, against their definition in integers.

#include "backends/xnnpack/runtime/stages/bytes/byte_planes_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kSize = 48, kOuts = 20;
constexpr float kIn = 0.5f, kWeight = 0.25f, kOut = 4;
constexpr int32_t kInZero = 3, kOutZero = -7;

// x -> bytes -> (transposed ->) a convolution of 3 x 3 with a padding of 1, a step of 2 and results
// of at least 0 -> y.
struct Model {
  uint32_t channels;
  bool is_merged;  // Four pixels of the image and two of the results are one (merged_pixels.h).
  PayloadBuilder p;
  std::vector<int8_t> filter;
  std::vector<int32_t> bias;
  uint32_t biases = 0;

  // `change` may change the merged filter and biases.
  explicit Model(uint32_t channels, bool is_merged = false,
                 const std::function<void(Model&)>& change = {})
      : channels(channels), is_merged(is_merged) {
    for (uint32_t i = 0; i < kOuts * 9 * channels; ++i) {
      filter.push_back(static_cast<int8_t>(i * 31 % 255 - 127));
    }
    for (uint32_t i = 0; i < kOuts; ++i) bias.push_back(static_cast<int32_t>(i * 211) - 2000);
    const Sizes pixels = {1, kSize, kSize, channels};
    const Sizes planes = channels > 1 ? Sizes{1, channels, kSize, kSize} : pixels;
    const Sizes results = {1, kSize / 2, kSize / 2, kOuts};
    const uint32_t x = p.input(planes), y = p.output(results);
    uint32_t image = p.bytes(planes, kIn, kInZero);
    p.unary(NodeContent::Convert, x, image);
    if (channels > 1) {
      const uint32_t moved = p.bytes(pixels, kIn, kInZero);
      p.transposed(image, {0, 2, 3, 1}, moved);
      image = moved;
    }
    const uint32_t out = p.bytes(results, kOut, kOutZero);
    if (is_merged) {
      merge();
      if (change) change(*this);
      convolve_merged(image, out);
    } else {
      convolve(image, out);
    }
    p.unary(NodeContent::Convert, out, y);
  }

  // The filter of two places: columns 3 to 5 of eight, and columns 5 to 7.
  std::vector<int8_t> merged_filter;
  std::vector<int32_t> merged_bias;

  void merge() {
    const size_t row = size_t{8} * channels, rows = size_t{kOuts} * 3, taps = size_t{3} * channels;
    merged_filter.resize(2 * rows * row);
    for (size_t place = 0; place < 2; ++place) {
      for (size_t r = 0; r < rows; ++r) {
        std::copy_n(filter.begin() + static_cast<ptrdiff_t>(r * taps), taps,
                    merged_filter.begin() + static_cast<ptrdiff_t>((place * rows + r) * row +
                                                                   (3 + 2 * place) * channels));
      }
      merged_bias.insert(merged_bias.end(), bias.begin(), bias.end());
    }
  }

  void convolve_merged(uint32_t image, uint32_t out) {
    const Sizes in = {1, kSize, kSize / 4, 4 * channels},
                made = {1, kSize / 2, kSize / 4, 2 * kOuts};
    const uint32_t merged = p.bytes(in, kIn, kInZero), results = p.bytes(made, kOut, kOutZero);
    const uint32_t weights = p.constant({2 * kOuts, 3, 2, 4 * channels}, merged_filter, kWeight);
    const uint32_t offsets = p.constant({2 * kOuts}, merged_bias, kIn * kWeight);
    p.reshaped(image, in, merged);
    PayloadBuilder::Windows windows = {1, 1, 1, 0};
    windows.step = 2;
    windows.step_across = 1;
    p.convolved(merged, weights, offsets, results, windows);
    p.nodes.back().range = {0.f, 1e30f};
    p.reshaped(results, {1, kSize / 2, kSize / 2, kOuts}, out);
  }

  void convolve(uint32_t image, uint32_t out) {
    const uint32_t weights = p.constant({kOuts, 3, 3, channels}, filter, kWeight);
    biases = p.constant({kOuts}, bias, kIn * kWeight);
    PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(1);
    windows.step = 2;
    p.convolved(image, weights, biases, out, windows);
    p.nodes.back().range = {0.f, 1e30f};
  }

  // `x` is the image in steps of kIn, in planes.
  float expected(const std::vector<int32_t>& x, int64_t height, int64_t width, int64_t pixel,
                 size_t o) const {
    const int64_t row = pixel / ((width + 1) / 2), column = pixel % ((width + 1) / 2);
    int32_t sum = bias[o];
    for (uint32_t t = 0; t < 9 * channels; ++t) {
      const int64_t place = t / channels, c = t % channels;
      const int64_t y = 2 * row + place / 3 - 1, z = 2 * column + place % 3 - 1;
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      sum += x[static_cast<size_t>((c * height + y) * width + z)] * filter[o * 9 * channels + t];
    }
    const float steps = std::nearbyint(static_cast<float>(sum) * (kIn * kWeight / kOut));
    return kOut * std::clamp(steps, 0.0f, 127.0f - kOutZero);
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    SCOPED_TRACE(testing::Message() << height << " x " << width);
    const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(width);
    const auto in = static_cast<int32_t>(channels), out = static_cast<int32_t>(kOuts);
    std::vector<int32_t> steps;
    Floats image;
    for (uint32_t i = 0; i < height * width * channels; ++i) {
      steps.push_back(static_cast<int32_t>(i * 13 % 251) - 131);
      image.push_back(kIn * static_cast<float>(steps.back()));
    }
    const size_t most = size_t{kSize} * kSize;
    HeldFloats x(
        channels > 1 ? std::vector<int32_t>{1, in, h, w} : std::vector<int32_t>{1, h, w, in}, image,
        most * channels);
    HeldFloats y({1, kSize / 2, kSize / 2, out}, Floats(most / 4 * kOuts));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{(height + 1) / 2} * ((width + 1) / 2) * kOuts);
    for (size_t i = 0; i < got.size(); ++i) {
      const float wanted = expected(steps, h, w, static_cast<int64_t>(i / kOuts), i % kOuts);
      ASSERT_EQ(got[i], wanted) << i;
    }
  }
};

TEST(BytePlanesStage, ComputesImagesOfAnySizeWithTheTransposeBefore) {
  for (const uint32_t channels : {3u, 4u, 1u, 5u}) {
    for (const uint32_t threads : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, " << threads << " threads");
      Model model(channels);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, kSize, kSize);
      model.expect_right(loaded, 3, 17);
      model.expect_right(loaded, 47, 2);
    }
  }
}

// The transpose and the convolution are a stage between those of the conversions.
TEST(BytePlanesStage, IsAStageWhereTheProcessorMultipliesBytes) {
  optimized::BytePlanesShape shape;
  shape.channels = 3;
  shape.window_width = 3;
  Model model(3), wide(5);
  EXPECT_EQ(stage_count(model.p.finish()), optimized::has_byte_planes(shape) ? 3u : 1u);
  EXPECT_EQ(stage_count(wide.p.finish()), 1u);
}

TEST(BytePlanesStage, ComputesMergedPixelsAsTheyWere) {
  for (const uint32_t channels : {3u, 4u, 1u}) {
    for (const uint32_t threads : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, " << threads << " threads");
      Model model(channels, true);
      EXPECT_EQ(stage_count(model.p.finish()), stage_count(Model(channels).p.finish()));
      Model again(channels, true);
      Loaded loaded(again.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      again.expect_right(loaded, kSize, kSize);
    }
  }
}

// A window that reads more, or differs from place to place, is computed as it is.
TEST(BytePlanesStage, OtherWindowsOfMergedPixelsStay) {
  const auto stays = [](const std::function<void(Model&)>& change) {
    return stage_count(Model(3, true, change).p.finish()) == 1;
  };
  EXPECT_TRUE(stays([](Model& m) { m.merged_filter.back() ^= 1; }));
  EXPECT_TRUE(stays([](Model& m) { m.merged_filter[m.merged_filter.size() / 2] = 1; }));
  EXPECT_TRUE(stays([](Model& m) { m.merged_filter.front() = 1; }));
  EXPECT_TRUE(stays([](Model& m) { m.merged_bias.back() += 1; }));
  EXPECT_TRUE(stays([](Model& m) { std::fill(begin(m.merged_filter), end(m.merged_filter), 0); }));
}

// XNNPACK refuses what the stage does not take.
TEST(BytePlanesStage, ABiasOfBytesIsRefused) {
  Model model(3);
  PayloadBuilder::Tensor& bias = model.p.tensors[model.biases];
  bias.type = wire::DataType::QINT8;
  model.p.constants[bias.constant].size = kOuts;
  Loaded loaded(model.p.finish());
  EXPECT_FALSE(loaded.status.ok());
}

}  // namespace
}  // namespace taper::xnnpack
