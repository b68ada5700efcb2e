// Tests constants of floats that a payload stores as integers.

#include <gtest/gtest.h>

#include <limits>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

using Steps = PayloadBuilder::Steps;

// A layer of two inputs and two outputs, with weights that are stored as the bytes 2, 3, 4, 254.
std::vector<uint8_t> layer(wire::DataType type, const Steps& steps, bool is_taper = true) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2}), y = p.output({1, 2});
  const uint32_t w = p.constant({2, 2}, {0});
  p.tensors[w].type = type;
  p.tensors[w].steps = steps;
  const uint8_t bytes[] = {2, 3, 4, 254};
  std::memcpy(p.data.data() + p.constants.back().offset, bytes, sizeof(bytes));
  p.connected(x, w, p.constant({2}, {0.5, -1}), y);
  if (is_taper) p.identifier = kTaperIdentifier;
  return p.finish();
}

Floats result(const std::vector<uint8_t>& payload) {
  Loaded loaded(payload);
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  EXPECT_TRUE(loaded.run({&in.value, &out.value}).ok());
  return out.result();
}

TEST(Steps, EachRunHasTheNextScaleInTurn) {
  using wire::DataType;
  // 2, 3 and 4, -2.
  EXPECT_EQ(result(layer(DataType::QINT8, {{1}, {}, 4})), (Floats{32.5, -17}));
  // 1, 1.5 and 8, -4.
  EXPECT_EQ(result(layer(DataType::QINT8, {{0.5, 2}, {}, 2})), (Floats{16.5, -33}));
  // 1, 6 and 2, -4.
  EXPECT_EQ(result(layer(DataType::QINT8, {{0.5, 2}, {}, 1})), (Floats{61.5, -39}));
  // 0, 0.5 and -2, 248, with the zero points 2 and 6 less a fraction.
  EXPECT_EQ(result(layer(DataType::QUINT8, {{0.5, 1}, {2, 5.75}, 2})), (Floats{5.5, 2479.75}));
}

// Two to a byte, the even column in the lower half, each plus 8; a row is whole bytes.
TEST(Steps, HalvesOfBytesAreIntegersWithASign) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 3}), y = p.output({1, 2});
  const uint32_t w = p.constant({2, 3}, {0});
  p.tensors[w].type = wire::DataType::QCINT4;
  p.tensors[w].steps = Steps{{0.5, 2}, {}, 3};
  const uint8_t bytes[] = {0xf1, 0x0a, 0x80, 0x07};  // -7, 7, 2 and -8, 0, -1.
  std::memcpy(p.data.data() + p.constants.back().offset, bytes, sizeof(bytes));
  p.connected(x, w, p.constant({2}, {0.5, -1}), y);
  p.identifier = kTaperIdentifier;
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 3}, {1, 10, 100}), out({1, 2}, {0, 0});
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{-3.5 + 35 + 100 + 0.5, -16 - 200 - 1}));
}

TEST(Steps, ThoseThatLieAreRefused) {
  using wire::DataType;
  const float infinity = std::numeric_limits<float>::infinity();
  const Steps good = {{1}, {}, 4};
  EXPECT_TRUE(Loaded(layer(DataType::QINT8, good)).status.ok());
  EXPECT_FALSE(Loaded(layer(DataType::QINT8, good, false)).status.ok());  // As ExecuTorch's.
  EXPECT_FALSE(Loaded(layer(DataType::FP32, good)).status.ok());
  EXPECT_FALSE(Loaded(layer(DataType::QCINT8, good)).status.ok());
  const Steps bad[] = {{{}, {}, 4},          {{1}, {}, 0},     {{infinity}, {}, 4},
                       {{1}, {infinity}, 4}, {{1}, {1, 2}, 4}, {{1, 2}, {1}, 2}};
  for (const Steps& steps : bad) {
    EXPECT_FALSE(Loaded(layer(DataType::QINT8, steps)).status.ok());
  }
  PayloadBuilder p;  // An input has no bytes.
  const uint32_t x = p.input({1, 2}), y = p.output({1, 2});
  p.tensors[x].type = DataType::QINT8;
  p.tensors[x].steps = good;
  p.unary(wire::NodeContent::Abs, x, y);
  p.identifier = kTaperIdentifier;
  EXPECT_FALSE(Loaded(p.finish()).status.ok());
}

TEST(Steps, EveryChangedByteIsSurvived) {
  const std::vector<uint8_t> good = layer(wire::DataType::QINT8, {{0.5, 2}, {1, 2}, 2});
  HeldFloats in({1, 2}, {1, 10}), out({1, 2}, {0, 0});
  run_with_each_byte_changed(good, in, out);
}

}  // namespace
}  // namespace taper::xnnpack
