// Tests tables of bytes as stages, and that tables that are none are refused.

#include "backends/xnnpack/runtime/stages/table_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

// x -> bytes with a step of 0.5 -> a table -> bytes with a step of 2 -> y.
struct Model {
  PayloadBuilder p;
  uint32_t x, bytes, table, results, y;

  explicit Model(const Sizes& sizes, size_t entries = 256, DataType type = DataType::QINT8) {
    x = p.input(sizes);
    bytes = add(sizes, DataType::QINT8, 0.5f);
    results = add(sizes, DataType::QINT8, 2);
    y = p.output(sizes);
    std::vector<float> words((entries + 3) / 4);
    auto* all = reinterpret_cast<uint8_t*>(words.data());
    for (size_t i = 0; i < entries; ++i) all[i] = static_cast<uint8_t>(7 * i + 1);
    table = p.constant({static_cast<uint32_t>(entries)}, words);
    p.tensors[table].type = type;
    if (type != DataType::FP32) p.tensors[table].scale = 1;
  }

  uint32_t add(const Sizes& sizes, DataType type, float scale) {
    const uint32_t id = p.add({sizes});
    p.tensors[id].type = type;
    p.tensors[id].scale = scale;
    return id;
  }

  std::vector<uint8_t> finish() {
    p.unary(NodeContent::Convert, x, bytes);
    p.taper_node(NodeContent::ByteTable,
                 wire::CreateByteTable(p.fbb, bytes, table, results).Union());
    p.unary(NodeContent::Convert, results, y);
    return p.finish();
  }
};

TEST(TableStage, LooksUpEveryByteOfAnySize) {
  Model model({1, 300});
  Loaded loaded(model.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  for (const int32_t count : {300, 7, 1}) {
    Floats in(static_cast<size_t>(count));
    for (size_t i = 0; i < in.size(); ++i) in[i] = 0.5f * (static_cast<float>(i % 256) - 128);
    HeldFloats x({1, count}, in, 300), y({1, 300}, Floats(300));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), in.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const auto entry = static_cast<int8_t>(static_cast<uint8_t>(7 * (i % 256) + 1));
      ASSERT_EQ(got[i], 2 * static_cast<float>(entry)) << i;
    }
  }
}

TEST(TableStage, WhatIsNoTableIsRefused) {
  EXPECT_TRUE(Loaded(Model({2, 3}).finish()).status.ok());
  EXPECT_FALSE(Loaded(Model({2, 3}, 255).finish()).status.ok());
  EXPECT_FALSE(Loaded(Model({2, 3}, 1024, DataType::FP32).finish()).status.ok());
  Model of_floats({2, 3});
  of_floats.bytes = of_floats.x;
  of_floats.p.taper_node(
      NodeContent::ByteTable,
      wire::CreateByteTable(of_floats.p.fbb, of_floats.x, of_floats.table, of_floats.results)
          .Union());
  of_floats.p.unary(NodeContent::Convert, of_floats.results, of_floats.y);
  EXPECT_FALSE(Loaded(of_floats.p.finish()).status.ok());
  Model computed({2, 3});
  computed.table = computed.add({256}, DataType::QINT8, 1);
  EXPECT_FALSE(Loaded(computed.finish()).status.ok());
}

TEST(TableStage, EveryChangedByteIsSurvived) {
  Model model({2, 3});
  const std::vector<uint8_t> good = model.finish();
  ASSERT_TRUE(Loaded(good).status.ok());
  HeldFloats in({2, 3}, Floats(6, 1)), out({2, 3}, Floats(6));
  run_with_each_byte_changed(good, in, out);
}

}  // namespace
}  // namespace taper::xnnpack
