// Tests filters of float16 that multiply floats, as ExecuTorch's XNNPACK allows.

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "kernels_portable/engine/half.h"

namespace taper::xnnpack {
namespace {

constexpr float kWeights[] = {1, 2.5, -3, 0.25};

uint32_t half_filter(PayloadBuilder& p) {
  const uint32_t w = p.constant({2, 2}, {0, 0});
  p.tensors[w].type = wire::DataType::FP16;
  for (size_t i = 0; i < 4; ++i) {
    const portable::Half half = portable::float_to_half(kWeights[i]);
    std::memcpy(p.data.data() + p.constants.back().offset + i * sizeof(half.bits), &half.bits,
                sizeof(half.bits));
  }
  return w;
}

std::vector<uint8_t> layer() {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2}), y = p.output({1, 2});
  const uint32_t w = half_filter(p);
  p.connected(x, w, p.constant({2}, {0.5, -1}), y);
  return p.finish();
}

TEST(Halves, AFilterOfThemMultipliesFloats) {
  Loaded loaded(layer());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{26.5, -1.5}));  // 1 + 25 + 0.5, -3 + 2.5 - 1.
}

TEST(Halves, OtherConstantsOfThemDoNotMeetFloats) {
  PayloadBuilder p;
  const uint32_t x = p.input({2, 2}), y = p.output({2, 2});
  p.binary(wire::NodeContent::Add, x, half_filter(p), y);
  EXPECT_FALSE(Loaded(p.finish()).status.ok());
}

TEST(Halves, EveryChangedByteIsSurvived) {
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  run_with_each_byte_changed(layer(), in, out);
}

}  // namespace
}  // namespace taper::xnnpack
