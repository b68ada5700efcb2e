// Tests layers over the channels of planes as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/fused/plane_layer_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

// Planes to channels last, a layer that is clamped to [-2, 3], and back.
struct Heads {
  static constexpr uint32_t kImages = 2, kHeight = 23, kWidth = 60;
  uint32_t ins, outs;
  Floats filter, bias;
  PayloadBuilder p;

  Heads(uint32_t ins, uint32_t outs, bool is_read_twice = false)
      : ins(ins),
        outs(outs),
        filter(some_numbers(size_t{ins} * outs, 31, 1)),
        bias(some_numbers(outs, 7, 1)) {
    const uint32_t x = p.input({kImages, ins, kHeight, kWidth});
    const uint32_t moved = p.inner({kImages, kHeight, kWidth, ins});
    const Sizes last = {kImages, kHeight, kWidth, outs};
    const uint32_t made = is_read_twice ? p.output(last) : p.inner(last);
    const uint32_t y = p.output({kImages, outs, kHeight, kWidth});
    p.transposed(x, {0, 2, 3, 1}, moved);
    p.connected(moved, p.constant({outs, ins}, filter), p.constant({outs}, bias), made);
    p.nodes.back().range = {-2.f, 3.f};
    p.transposed(made, {0, 3, 1, 2}, y);
  }

  void expect_right(Loaded& loaded, uint32_t images, uint32_t height) const {
    const size_t area = size_t{height} * kWidth, most = size_t{kHeight} * kWidth * kImages;
    const Floats data = some_numbers(images * ins * area, 13, 2);
    const auto number = [](size_t n) { return static_cast<int32_t>(n); };
    HeldFloats x({number(images), number(ins), number(height), number(kWidth)}, data, most * ins);
    HeldFloats y({number(kImages), number(outs), number(kHeight), number(kWidth)},
                 Floats(most * outs));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), images * outs * area);
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t place = i % area, o = i / area % outs, image = i / area / outs;
      double sum = static_cast<double>(bias[o]);
      for (size_t k = 0; k < ins; ++k) {
        sum += static_cast<double>(filter[o * ins + k]) *
               static_cast<double>(data[(image * ins + k) * area + place]);
      }
      ASSERT_NEAR(got[i], std::fmin(std::fmax(sum, -2), 3), 1e-5) << i;
    }
  }
};

TEST(PlaneLayerStage, ComputesTheLayerWithoutTransposes) {
  for (const uint32_t threads : {1u, 3u}) {
    for (const auto& [ins, outs] : {std::pair{4u, 4u}, {3u, 7u}, {16u, 1u}}) {
      Heads heads(ins, outs);
      Loaded loaded(heads.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      heads.expect_right(loaded, 2, Heads::kHeight);
      heads.expect_right(loaded, 1, 5);
    }
  }
}

// How many nodes from the first on the stage computes.
size_t taken(Heads&& heads) {
  const ReadGraph read(heads.p.finish());
  return PlaneLayerStage::count(read.graph, read.uses(), 0);
}

TEST(PlaneLayerStage, OtherLayersStay) {
  EXPECT_EQ(taken(Heads(4, 4)), 3u);
  EXPECT_EQ(taken(Heads(4, 4, true)), 0u) << "others read what the layer computes";
  EXPECT_EQ(taken(Heads(17, 4)), 0u) << "many channels";
  EXPECT_EQ(taken(Heads(4, 17)), 0u) << "many channels";
}

}  // namespace
}  // namespace taper::xnnpack
