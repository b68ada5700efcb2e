// Tests transposed convolutions as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/transposed_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

constexpr uint32_t kSize = 24, kWindow = 4, kStep = 2, kPadding = 1;

// y = max(0, conv_transpose(x)) with a window of 4 x 4 and a step of 2, twice as large as x.
struct Model {
  uint32_t ins, outs, groups;
  Floats filter, bias;
  PayloadBuilder p;

  Model(uint32_t ins, uint32_t outs, uint32_t groups)
      : ins(ins),
        outs(outs),
        groups(groups),
        filter(some_numbers(size_t{outs} * kWindow * kWindow * ins / groups, 31, 1)),
        bias(some_numbers(outs, 7)) {
    const uint32_t x = p.input({1, kSize, kSize, ins});
    const uint32_t y = p.output({1, 2 * kSize, 2 * kSize, outs});
    const uint32_t weights = p.constant({outs, kWindow, kWindow, ins / groups}, filter);
    PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(kPadding);
    windows.step = kStep;
    windows.groups = groups;
    p.convolved(x, weights, p.constant({outs}, bias), y, windows);
    p.nodes.back().kind = wire::NodeContent::ConvTranspose2d;
    p.nodes.back().range = {0.f, 1e30f};
  }

  // The result at a pixel of output channel o, of an image of height x width.
  double expected(const Floats& x, int64_t height, int64_t width, int64_t row, int64_t column,
                  uint32_t o) const {
    double sum = static_cast<double>(bias[o]);
    const uint32_t depth = ins / groups, first = o / (outs / groups) * depth;
    for (int64_t t = 0; t < kWindow * kWindow; ++t) {
      const int64_t down = row + kPadding - t / kWindow, across = column + kPadding - t % kWindow;
      if (down % kStep != 0 || across % kStep != 0) continue;
      const int64_t i = down / kStep, j = across / kStep;
      if (down < 0 || across < 0 || i >= height || j >= width) continue;
      for (uint32_t k = 0; k < depth; ++k) {
        const auto factor = (size_t{o} * kWindow * kWindow + static_cast<size_t>(t)) * depth + k;
        sum += static_cast<double>(x[static_cast<size_t>(i * width + j) * ins + first + k]) *
               static_cast<double>(filter[factor]);
      }
    }
    return std::fmax(sum, 0);
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(width);
    const Floats image = some_numbers(size_t{height} * width * ins, 13, 1);
    HeldFloats x({1, h, w, static_cast<int32_t>(ins)}, image, size_t{kSize} * kSize * ins);
    HeldFloats y({1, 2 * kSize, 2 * kSize, static_cast<int32_t>(outs)},
                 Floats(size_t{4} * kSize * kSize * outs));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{4} * height * width * outs);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto pixel = static_cast<int64_t>(i / outs);
      const double want =
          expected(image, h, w, pixel / (2 * w), pixel % (2 * w), static_cast<uint32_t>(i % outs));
      ASSERT_NEAR(got[i], want, 1e-4) << i;
    }
  }
};

bool is_stage(std::vector<uint8_t> payload) {
  const ReadGraph read(std::move(payload));
  return TransposedStage::is_better(read.graph.nodes()[0], read.graph.values());
}

TEST(TransposedStage, IsForFewOutputChannels) {
  if (!has_own_stages()) GTEST_SKIP() << "there are no vectors";
  EXPECT_TRUE(is_stage(Model(16, 3, 1).p.finish()));
  EXPECT_TRUE(is_stage(Model(16, 9, 1).p.finish())) << "XNNPACK's tiles would be half empty";
  EXPECT_TRUE(is_stage(Model(16, 17, 1).p.finish())) << "almost half empty";
  EXPECT_FALSE(is_stage(Model(16, 24, 1).p.finish()));
  EXPECT_FALSE(is_stage(Model(16, 16, 1).p.finish()));
  EXPECT_TRUE(is_stage(Model(24, 24, 24).p.finish()));
  EXPECT_FALSE(is_stage(Model(24, 48, 24).p.finish()));
  EXPECT_FALSE(is_stage(Model(24, 6, 3).p.finish()));
}

// y = conv(x) with a window of 3 x 5, a dilation, and a padding that lets windows lie beside the
// image.
struct Convolution {
  static constexpr uint32_t kIns = 6, kOuts = 3, kTop = 2, kLeft = 9, kDilation = 2;
  static constexpr uint32_t kOutHeight = kSize + 2 * kTop - 4, kOutWidth = kSize + 2 * kLeft - 8;
  Floats filter = some_numbers(size_t{kOuts} * 15 * kIns, 31, 1), bias = some_numbers(kOuts, 7);
  PayloadBuilder p;

  explicit Convolution(uint32_t step) {
    const uint32_t x = p.input({1, kSize, kSize, kIns});
    const uint32_t y =
        p.output({1, (kOutHeight - 1) / step + 1, (kOutWidth - 1) / step + 1, kOuts});
    PayloadBuilder::Windows windows{kTop, kLeft, kTop, kLeft, step, kDilation, kDilation};
    p.convolved(x, p.constant({kOuts, 3, 5, kIns}, filter), p.constant({kOuts}, bias), y, windows);
  }

  double expected(const Floats& x, int64_t row, int64_t column, uint32_t o) const {
    double sum = static_cast<double>(bias[o]);
    for (int64_t t = 0; t < 15; ++t) {
      const int64_t i = row + t / 5 * kDilation - kTop, j = column + t % 5 * kDilation - kLeft;
      if (i < 0 || j < 0 || i >= kSize || j >= kSize) continue;
      for (uint32_t k = 0; k < kIns; ++k) {
        sum += static_cast<double>(x[static_cast<size_t>(i * kSize + j) * kIns + k]) *
               static_cast<double>(filter[(size_t{o} * 15 + static_cast<size_t>(t)) * kIns + k]);
      }
    }
    return sum;
  }
};

TEST(TransposedStage, ComputesConvolutionsOfStepOne) {
  if (has_own_stages()) {
    EXPECT_TRUE(is_stage(Convolution(1).p.finish()));
    EXPECT_FALSE(is_stage(Convolution(2).p.finish()));
  }
  Convolution model(1);
  Loaded loaded(model.p.finish(), on_threads(2));
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const Floats image = some_numbers(size_t{kSize} * kSize * Convolution::kIns, 13, 1);
  HeldFloats x({1, kSize, kSize, Convolution::kIns}, image);
  HeldFloats y(
      {1, Convolution::kOutHeight, Convolution::kOutWidth, Convolution::kOuts},
      Floats(size_t{Convolution::kOutHeight} * Convolution::kOutWidth * Convolution::kOuts));
  const Status status = loaded.run({&x.value, &y.value});
  ASSERT_TRUE(status.ok()) << status.message();
  const Floats got = y.result();
  for (size_t i = 0; i < got.size(); ++i) {
    const auto pixel = static_cast<int64_t>(i / Convolution::kOuts);
    const double want =
        model.expected(image, pixel / Convolution::kOutWidth, pixel % Convolution::kOutWidth,
                       static_cast<uint32_t>(i % Convolution::kOuts));
    ASSERT_NEAR(got[i], want, 1e-4) << i;
  }
}

TEST(TransposedStage, ComputesImagesOfAnySize) {
  for (const auto& [ins, outs, groups] :
       {std::array{16u, 3u, 1u}, {5u, 1u, 1u}, {12u, 17u, 1u}, {24u, 24u, 24u}}) {
    for (const uint32_t threads : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << ins << " -> " << outs << " on " << threads);
      Model model(ins, outs, groups);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, kSize, kSize);
      model.expect_right(loaded, 3, 17);
      model.expect_right(loaded, 20, 1);
    }
  }
}

}  // namespace
}  // namespace taper::xnnpack
