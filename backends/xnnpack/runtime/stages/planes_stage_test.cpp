// Tests first convolutions as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/planes_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kSize = 48, kOuts = 20;

// y = max(0, conv(x)) with a window of 3 x 3, a padding of 1 and a step of 2, of planes that are
// transposed before it, or of one channel; or the hardswish of that.
struct Model {
  uint32_t channels;
  Floats filter, bias;
  PayloadBuilder p;
  bool has_hardswish;

  explicit Model(uint32_t channels, bool is_read_twice = false, bool has_hardswish = false)
      : channels(channels),
        filter(some_numbers(size_t{kOuts} * 9 * channels, 31, 1)),
        bias(some_numbers(kOuts, 7, 1)),
        has_hardswish(has_hardswish) {
    const Sizes pixels = {1, kSize, kSize, channels};
    const bool is_moved = channels > 1;
    uint32_t image = p.input(is_moved ? Sizes{1, channels, kSize, kSize} : pixels);
    const Sizes results = {1, kSize / 2, kSize / 2, kOuts};
    const uint32_t y = p.output(results), made = has_hardswish ? p.inner(results) : y;
    if (is_moved) {
      const uint32_t moved = is_read_twice ? p.output(pixels) : p.inner(pixels);
      const auto perm = p.fbb.CreateVector<uint32_t>({0, 2, 3, 1});
      p.nodes.push_back(
          {NodeContent::Transpose, wire::CreateTranspose(p.fbb, 4, perm, image, moved, 0).Union()});
      image = moved;
    }
    const uint32_t weights = p.constant({kOuts, 3, 3, channels}, filter);
    const uint32_t biases = p.constant({kOuts}, bias);
    PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(1);
    windows.step = 2;
    p.convolved(image, weights, biases, made, windows);
    p.nodes.back().range = {0.f, 1e30f};
    if (has_hardswish) p.unary(NodeContent::Hardswish, made, y);
  }

  // `x` is in planes.
  double expected(const Floats& x, int64_t height, int64_t width, int64_t pixel, size_t o) const {
    const int64_t row = pixel / ((width + 1) / 2), column = pixel % ((width + 1) / 2);
    double sum = static_cast<double>(bias[o]);
    for (uint32_t t = 0; t < 9 * channels; ++t) {
      const int64_t place = t / channels, c = t % channels;
      const int64_t y = 2 * row + place / 3 - 1, z = 2 * column + place % 3 - 1;
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      sum += static_cast<double>(x[static_cast<size_t>((c * height + y) * width + z)]) *
             static_cast<double>(filter[o * 9 * channels + t]);
    }
    sum = std::fmax(sum, 0);
    return has_hardswish ? sum * std::fmin(sum + 3, 6) / 6 : sum;
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(width);
    const auto in = static_cast<int32_t>(channels), out = static_cast<int32_t>(kOuts);
    const Floats image = some_numbers(size_t{height} * width * channels, 13, 1);
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
      const double wanted = expected(image, h, w, static_cast<int64_t>(i / kOuts), i % kOuts);
      ASSERT_NEAR(got[i], wanted, 1e-5) << i;
    }
  }
};

TEST(PlanesStage, ComputesImagesOfAnySizeWithTheTransposeBefore) {
  for (const uint32_t channels : {3u, 4u, 1u}) {
    for (const auto& [threads, has_hardswish] :
         {std::pair{1u, false}, {2u, false}, {1u, true}, {2u, true}}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, " << threads << " threads, "
                                      << (has_hardswish ? "with" : "without") << " a hardswish");
      Model model(channels, false, has_hardswish);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, kSize, kSize);
      model.expect_right(loaded, 3, 17);
      model.expect_right(loaded, 47, 2);
    }
  }
}

// The stage computes both nodes, or the convolution alone is one.
TEST(PlanesStage, ATransposeThatOthersReadStays) {
  if (!has_own_stages()) GTEST_SKIP() << "no vectors";
  const auto is_planes = [](Model& model, size_t first) {
    const ReadGraph read(model.p.finish());
    return PlanesStage::count(read.graph, read.uses(), first);
  };
  Model alone(3), read(3, true), wide(5), one(1);
  EXPECT_EQ(is_planes(alone, 0), 2u);
  EXPECT_EQ(is_planes(read, 0), 0u);
  EXPECT_EQ(is_planes(wide, 0), 0u);
  EXPECT_EQ(is_planes(one, 0), 1u);
}

}  // namespace
}  // namespace taper::xnnpack
