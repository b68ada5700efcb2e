// Tests convolutions with small groups as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/grouped_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

constexpr uint32_t kGroups = 6, kSize = 20;

Floats some_numbers(size_t count, size_t step) {
  Floats all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i * step % 97) / 48 - 1;
  return all;
}

// y = max(0, conv(x)) with a window of 3 x 3 and a padding of 1.
struct Model {
  uint32_t ins, outs;  // The channels of a group.
  bool is_depthwise;   // As a depthwise node, whose filter has the output channels last.
  Floats filter, bias;
  PayloadBuilder p;

  Model(uint32_t ins, uint32_t outs, bool is_depthwise)
      : ins(ins),
        outs(outs),
        is_depthwise(is_depthwise),
        filter(some_numbers(size_t{kGroups} * outs * 9 * ins, 31)),
        bias(some_numbers(size_t{kGroups} * outs, 7)) {
    const uint32_t channels = kGroups * outs;
    const Sizes sizes = is_depthwise ? Sizes{1, 3, 3, channels} : Sizes{channels, 3, 3, ins};
    const uint32_t x = p.input({1, kSize, kSize, kGroups * ins});
    const uint32_t y = p.output({1, kSize, kSize, channels});
    const uint32_t weights = p.constant(sizes, filter), biases = p.constant({channels}, bias);
    PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(1);
    windows.groups = kGroups;
    p.convolved(x, weights, biases, y, windows);
    p.nodes.back().range = {0.f, 1e30f};
  }

  double expected(const Floats& x, int64_t width, int64_t row, int64_t column, uint32_t o) const {
    double sum = static_cast<double>(bias[o]);
    for (uint32_t t = 0; t < 9 * ins; ++t) {
      const uint32_t place = t / ins, c = o / outs * ins + t % ins;
      const int64_t y = row + place / 3 - 1, z = column + place % 3 - 1;
      const int64_t height = static_cast<int64_t>(x.size()) / width / (kGroups * ins);
      if (y < 0 || y >= height || z < 0 || z >= width) continue;
      const auto at = static_cast<size_t>(y * width + z) * kGroups * ins + c;
      const size_t factor = is_depthwise ? place * kGroups * outs + o : o * 9 * ins + t;
      sum += static_cast<double>(x[at]) * static_cast<double>(filter[factor]);
    }
    return std::fmax(sum, 0);
  }

  void expect_right(Loaded& loaded, uint32_t height, uint32_t width) const {
    const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(width);
    const auto in = static_cast<int32_t>(kGroups * ins), out = static_cast<int32_t>(kGroups * outs);
    const Floats image = some_numbers(size_t{height} * width * kGroups * ins, 13);
    HeldFloats x({1, h, w, in}, image, size_t{kSize} * kSize * kGroups * ins);
    HeldFloats y({1, kSize, kSize, out}, Floats(size_t{kSize} * kSize * kGroups * outs));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{height} * width * kGroups * outs);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto pixel = static_cast<int64_t>(i / (kGroups * outs));
      const auto o = static_cast<uint32_t>(i % (kGroups * outs));
      ASSERT_NEAR(got[i], expected(image, w, pixel / w, pixel % w, o), 1e-4) << i;
    }
  }
};

TEST(GroupedStage, ComputesGroupsOfAnySize) {
  for (const auto& [ins, outs] : {std::pair(4u, 4u),
                                  {2u, 4u},
                                  {1u, 2u},
                                  {8u, 8u},
                                  {3u, 5u},
                                  {16u, 16u},
                                  {24u, 48u},
                                  {64u, 64u},
                                  {72u, 80u}}) {
    SCOPED_TRACE(testing::Message() << ins << " -> " << outs);
    Model model(ins, outs, false);
    Loaded loaded(model.p.finish());
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    model.expect_right(loaded, kSize, kSize);
    model.expect_right(loaded, 3, 17);
    model.expect_right(loaded, 20, 2);
  }
}

TEST(GroupedStage, ComputesSeveralResultsOfAChannel) {
  for (const uint32_t outs : {2u, 4u, 3u}) {
    SCOPED_TRACE(outs);
    Model model(1, outs, true);
    Loaded loaded(model.p.finish(), on_threads(2));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    model.expect_right(loaded, kSize, kSize);
  }
}

}  // namespace
}  // namespace taper::xnnpack
