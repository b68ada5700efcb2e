// Tests constants of floats that a payload stores as integers, or as bytes that stand for floats.

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

TEST(Steps, BytesMayStandForNumbersOfATable) {
  Floats table(256);
  table[2] = 7;
  table[3] = -0.5;
  table[4] = 100;
  table[254] = 3;
  const Steps steps = {{2, 0.5}, {}, 2, table};
  EXPECT_EQ(result(layer(wire::DataType::QUINT8, steps)), (Floats{14 - 10 + 0.5, 50 + 15 - 1}));
  EXPECT_FALSE(Loaded(layer(wire::DataType::QINT8, steps)).status.ok());
  for (const size_t count : {255, 257, 1}) {
    const Steps bad = {{2, 0.5}, {}, 2, Floats(count)};
    EXPECT_FALSE(Loaded(layer(wire::DataType::QUINT8, bad)).status.ok()) << count;
  }
}

TEST(Steps, ANumberWithoutDimensionsHasThem) {
  for (const bool has_table : {false, true}) {
    PayloadBuilder p;
    const uint32_t x = p.input({2}), y = p.output({2});
    const uint32_t c = p.constant({}, {0});
    p.constants.back().size = 1;
    p.data[p.constants.back().offset] = 254;
    p.tensors[c].type = has_table ? wire::DataType::QUINT8 : wire::DataType::QINT8;
    p.tensors[c].steps = Steps{{0.5}, {}, 1, has_table ? Floats(256, 8) : Floats()};
    p.binary(wire::NodeContent::Add, x, c, y);
    p.identifier = kTaperIdentifier;
    Loaded loaded(p.finish());
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    HeldFloats in({2}, {1, 10}), out({2}, {0, 0});
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    EXPECT_EQ(out.result(), has_table ? (Floats{5, 14}) : (Floats{0, 9}));
  }
}

// A layer of three inputs and two outputs, with weights that are stored as the halves of four bytes,
// the even column in the lower half; a row is whole bytes.
std::vector<uint8_t> layer_of_halves(const Steps& steps) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 3}), y = p.output({1, 2});
  const uint32_t w = p.constant({2, 3}, {0});
  p.tensors[w].type = wire::DataType::QCINT4;
  p.tensors[w].steps = steps;
  const uint8_t bytes[] = {0xf1, 0x0a, 0x80, 0x07};
  std::memcpy(p.data.data() + p.constants.back().offset, bytes, sizeof(bytes));
  p.connected(x, w, p.constant({2}, {0.5, -1}), y);
  p.identifier = kTaperIdentifier;
  return p.finish();
}

Floats result_of_halves(const Steps& steps) {
  Loaded loaded(layer_of_halves(steps));
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 3}, {1, 10, 100}), out({1, 2}, {0, 0});
  EXPECT_TRUE(loaded.run({&in.value, &out.value}).ok());
  return out.result();
}

TEST(Steps, HalvesOfBytesAreIntegersWithASign) {
  // -7, 7, 2 and -8, 0, -1.
  EXPECT_EQ(result_of_halves({{0.5, 2}, {}, 3}), (Floats{-3.5 + 35 + 100 + 0.5, -16 - 200 - 1}));
}

TEST(Steps, HalvesOfBytesMayStandForNumbersOfATable) {
  Floats table(16);
  table[1] = 7;
  table[15] = -0.5;
  table[10] = 4;
  table[0] = 3;
  table[7] = -6;
  EXPECT_EQ(result_of_halves({{0.5, 2}, {}, 3, table}),
            (Floats{3.5 - 2.5 + 200 + 0.5, 6 - 1200 - 1}));
  for (const size_t count : {15, 256}) {
    EXPECT_FALSE(Loaded(layer_of_halves({{0.5, 2}, {}, 3, Floats(count)})).status.ok()) << count;
  }
}

// A layer of bytes with three inputs and two outputs, whose weights are stored as halves of four
// bytes: -7, 7, 2 and -8, 0, -1.
std::vector<uint8_t> layer_of_bytes(const PayloadBuilder::Tensor& weights, bool is_taper = true) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 3}), y = p.output({1, 2});
  const uint32_t q = p.inner({1, 3}), r = p.inner({1, 2});
  for (const uint32_t id : {q, r}) {
    p.tensors[id].type = wire::DataType::QINT8;
    p.tensors[id].scale = id == q ? 1.0f : 0.25f;
    p.tensors[id].zero_point = id == q ? 3 : -20;
  }
  const uint32_t w = p.constant({2, 3}, {0}), constant = p.tensors[w].constant;
  p.tensors[w] = weights;
  p.tensors[w].sizes = {2, 3};
  p.tensors[w].constant = constant;
  const uint8_t bytes[] = {0xf1, 0x0a, 0x80, 0x07};
  std::memcpy(p.data.data() + p.constants.back().offset, bytes, sizeof(bytes));
  p.unary(wire::NodeContent::Convert, x, q);
  p.connected(q, w, UINT32_MAX, r);
  p.unary(wire::NodeContent::Convert, r, y);
  if (is_taper) p.identifier = kTaperIdentifier;
  return p.finish();
}

PayloadBuilder::Tensor half_bytes(const Floats& scales) {
  PayloadBuilder::Tensor weights{{}, kHalfBytesFlag};
  weights.type = wire::DataType::QCINT4;
  if (scales.size() == 1) weights.scale = scales[0];
  if (scales.size() > 1) weights.scales = scales;
  return weights;
}

TEST(HalfBytes, WeightsOfLayersOfBytesBecomeBytes) {
  const auto result = [](const Floats& scales) {
    Loaded loaded(layer_of_bytes(half_bytes(scales)));
    EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
    HeldFloats in({1, 3}, {1, -2, 4}), out({1, 2}, {0, 0});
    EXPECT_TRUE(loaded.run({&in.value, &out.value}).ok());
    return out.result();
  };
  EXPECT_EQ(result({0.5}), (Floats{-6.5, -6}));        // -13 and -12
  EXPECT_EQ(result({0.5, 0.25}), (Floats{-6.5, -3}));  // The same, with other steps.
}

TEST(HalfBytes, ThoseThatLieAreRefused) {
  EXPECT_FALSE(Loaded(layer_of_bytes(half_bytes({0.5}), false)).status.ok());  // As ExecuTorch's.
  PayloadBuilder::Tensor bytes = half_bytes({0.5});
  bytes.type = wire::DataType::QINT8;
  EXPECT_FALSE(Loaded(layer_of_bytes(bytes)).status.ok());
  PayloadBuilder::Tensor steps = half_bytes({});
  steps.steps = Steps{{0.5}, {}, 6};
  EXPECT_FALSE(Loaded(layer_of_bytes(steps)).status.ok());
  PayloadBuilder p;  // An input has no halves.
  const uint32_t x = p.input({1, 2}), y = p.output({1, 2});
  p.tensors[x] = half_bytes({0.5});
  p.tensors[x].sizes = {1, 2};
  p.tensors[x].flags |= 1;
  p.unary(wire::NodeContent::Abs, x, y);
  p.identifier = kTaperIdentifier;
  EXPECT_FALSE(Loaded(p.finish()).status.ok());
}

TEST(HalfBytes, EveryChangedByteIsSurvived) {
  HeldFloats in({1, 3}, {1, -2, 4}), out({1, 2}, {0, 0});
  run_with_each_byte_changed(layer_of_bytes(half_bytes({0.5, 0.25})), in, out);
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
