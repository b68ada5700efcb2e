// Tests the forms in which old files of ExecuTorch's XNNPACK store constants: as buffers of the graph, and
// scales of groups as floats.

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

PayloadBuilder layer_of_buffers() {
  PayloadBuilder p;
  p.has_old_constants = true;
  const uint32_t x = p.input({1, 2}), y = p.output({1, 2});
  const uint32_t w = p.constant({2, 2}, {1, 2.5, -3, 0.25});
  p.connected(x, w, p.constant({2}, {0.5, -1}), y);
  return p;
}

TEST(OldConstants, LieInBuffersOfTheGraph) {
  Loaded loaded(layer_of_buffers().finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{26.5, -1.5}));  // 1 + 25 + 0.5, -3 + 2.5 - 1.
}

TEST(OldConstants, AreRefusedIfTheyAreMissingOrTooShort) {
  PayloadBuilder missing = layer_of_buffers();
  missing.tensors[2].constant = 3;
  EXPECT_STREQ(Loaded(missing.finish()).status.message(),
               "a constant of the graph is not in its list");
  PayloadBuilder short_ones = layer_of_buffers();
  short_ones.constants[1].size = 12;
  EXPECT_FALSE(Loaded(short_ones.finish()).status.ok());
}

TEST(OldConstants, EveryChangedByteIsSurvived) {
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  run_with_each_byte_changed(layer_of_buffers().finish(), in, out);
}

// A layer of 64 inputs and one result, whose weights are 1 and -2 in turn, of four bits each. Groups of
// 32 have a scale.
PayloadBuilder layer_of_groups(const Floats& scales) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 64}), bytes = p.inner({1, 64}), y = p.output({1, 1});
  p.tensors[bytes].type = wire::DataType::QDINT8;
  p.tensors[bytes].is_dynamic = true;
  Floats nibbles(8);
  std::memset(nibbles.data(), 0x69, 32);  // 9 - 8 and 6 - 8, the lower half first.
  const uint32_t w = p.constant({1, 64}, nibbles);
  p.tensors[w].type = wire::DataType::QBINT4;
  p.tensors[w].group_size = 32;
  p.tensors[w].scales = scales;
  p.unary(wire::NodeContent::Convert, x, bytes);
  p.connected(bytes, w, p.constant({1}, {0.5}), y);
  return p;
}

TEST(OldConstants, ScalesOfGroupsAreFloats) {
  Loaded loaded(layer_of_groups({0.5, 2}).finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  // From 0 to 255, so that the steps of the dynamic quantisation are 1.
  HeldFloats in({1, 64}, Floats(64, 0)), out({1, 1}, {0});
  in.data[0] = 255, in.data[1] = 100;  // Of the first group.
  in.data[32] = 3, in.data[33] = 50;   // Of the second.
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_NEAR(out.result()[0], 0.5 * (255 - 200) + 2 * (3 - 100) + 0.5, 1e-3);
}

TEST(OldConstants, ScalesOfGroupsAreRefusedIfTheyAreMissingOrNoScales) {
  EXPECT_STREQ(Loaded(layer_of_groups({0.5}).finish()).status.message(),
               "there are fewer scales than groups");
  EXPECT_STREQ(Loaded(layer_of_groups({0.5, -2}).finish()).status.message(),
               "a scale is not a positive number");
}

}  // namespace
}  // namespace taper::xnnpack
