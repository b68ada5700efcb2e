// Tests concatenations as stages against the definition: rows of any number of inputs and of any
// width, whose number changes, floats and bytes, on one thread and several.

#include "backends/xnnpack/runtime/stages/moves/join_stage.h"

#include <gtest/gtest.h>

#include <numeric>

#include <memory>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

void join(PayloadBuilder& p, uint32_t axis, std::vector<uint32_t> inputs, uint32_t y) {
  const NodeContent kind = concatenation_of(inputs.size());
  inputs.resize(kMostConcatenated, UINT32_MAX);
  p.nodes.push_back({kind, wire::CreateConcatenate(p.fbb, axis, inputs[0], inputs[1], inputs[2],
                                                   inputs[3], y, 0, inputs[4])
                               .Union()});
}

// [rows, 3, widths[i]] for each i -> [rows, 3, sum of widths]
std::vector<uint8_t> joined(uint32_t rows, const std::vector<uint32_t>& widths) {
  PayloadBuilder p;
  std::vector<uint32_t> inputs;
  uint32_t sum = 0;
  for (const uint32_t width : widths) {
    inputs.push_back(p.input({rows, 3, width}));
    sum += width;
  }
  join(p, 2, inputs, p.output({rows, 3, sum}));
  return p.finish();
}

void expect_joined(Loaded& loaded, int32_t rows, int32_t most,
                   const std::vector<uint32_t>& widths) {
  std::vector<std::unique_ptr<HeldFloats>> held;
  std::vector<EValue*> args;
  Floats expected;
  int32_t sum = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto width = static_cast<int32_t>(widths[i]);
    Floats numbers = some_numbers(static_cast<size_t>(rows) * 3 * widths[i], 7 + i);
    held.push_back(std::make_unique<HeldFloats>(std::vector<int32_t>{rows, 3, width}, numbers,
                                                static_cast<size_t>(most) * 3 * widths[i]));
    args.push_back(&held.back()->value);
    sum += width;
  }
  for (size_t row = 0; row < static_cast<size_t>(rows) * 3; ++row) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const float* from = held[i]->data.data() + row * widths[i];
      expected.insert(expected.end(), from, from + widths[i]);
    }
  }
  HeldFloats y({most, 3, sum}, Floats(static_cast<size_t>(most * 3 * sum)));
  args.push_back(&y.value);
  const Status status = loaded.run(args);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(y.result(), expected);
}

TEST(JoinStage, RowsOfAnyWidthAndNumber) {
  const std::vector<uint32_t> cases[] = {{1, 16},  {4, 5},    {8, 8, 8},     {1, 1},
                                         {2, 2},   {1, 1, 1}, {3, 1, 40, 2}, {24, 150, 7, 1, 129},
                                         {300, 20}};
  for (const std::vector<uint32_t>& widths : cases) {
    // As many rows as a stage takes at least, and some more.
    const uint32_t most = 1 + 20000 / std::accumulate(widths.begin(), widths.end(), 0u);
    const std::vector<uint8_t> payload = joined(most, widths);
    for (const uint32_t threads : {1u, 3u}) {
      Loaded loaded(payload, on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      for (const uint32_t rows : {most, 1u, most / 2}) {
        expect_joined(loaded, static_cast<int32_t>(rows), most, widths);
      }
    }
  }
}

// Between two segments of XNNPACK: [rows, 8] twice, as bytes with steps of 1 and `step`.
std::vector<uint8_t> joined_bytes(uint32_t rows, float step = 1) {
  PayloadBuilder p;
  const uint32_t x = p.input({rows, 8});
  const uint32_t left = p.bytes({rows, 8}, 1, 0), right = p.bytes({rows, 8}, step, 0);
  const uint32_t both = p.bytes({rows, 16}, 1, 0), y = p.output({rows, 16});
  p.unary(NodeContent::Convert, x, left);
  p.unary(NodeContent::Convert, x, right);
  join(p, 1, {left, right}, both);
  p.unary(NodeContent::Convert, both, y);
  return p.finish();
}

TEST(JoinStage, OnlyLargeOnesAreStages) {
  if (!has_own_stages()) GTEST_SKIP() << "this build has no stages of its own";
  EXPECT_EQ(stage_count(joined_bytes(4096)), 3u);
  EXPECT_EQ(stage_count(joined_bytes(4095)), 1u);
}

TEST(JoinStage, BytesOfDifferentStepsAreRefused) {
  EXPECT_TRUE(Loaded(joined_bytes(4096)).status.ok());
  EXPECT_FALSE(Loaded(joined_bytes(4096, 2)).status.ok());
}

TEST(JoinStage, BytesAreMovedUnchanged) {
  constexpr uint32_t kRows = 5000;
  PayloadBuilder p;
  const uint32_t x = p.input({kRows, 8});
  const uint32_t left = p.bytes({kRows, 8}, 0.5f, 3), both = p.bytes({kRows, 16}, 0.5f, 3);
  const uint32_t y = p.output({kRows, 16});
  p.unary(NodeContent::Convert, x, left);
  join(p, 1, {left, left}, both);
  p.unary(NodeContent::Convert, both, y);
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  Floats numbers(size_t{kRows} * 8);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.5f * static_cast<float>(i % 101);
  HeldFloats in({kRows, 8}, numbers), out({kRows, 16}, Floats(size_t{kRows} * 16));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  for (size_t i = 0; i < size_t{kRows} * 16; ++i) {
    ASSERT_EQ(out.data[i], numbers[i / 16 * 8 + i % 8]) << i;
  }
}

TEST(JoinStage, EveryChangedByteIsSurvived) {
  constexpr uint32_t kRows = 2048;
  PayloadBuilder p;
  const uint32_t x = p.input({kRows, 4});
  join(p, 1, {x, x}, p.output({kRows, 8}));
  HeldFloats in({kRows, 4}, Floats(size_t{kRows} * 4, 1));
  HeldFloats out({kRows, 8}, Floats(size_t{kRows} * 8));
  const std::vector<uint8_t> good = p.finish();
  ASSERT_TRUE(Loaded(good).status.ok());
  run_with_each_byte_changed(good, in, out);
}

}  // namespace
}  // namespace taper::xnnpack
