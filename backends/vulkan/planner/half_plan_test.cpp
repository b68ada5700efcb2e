// Tests of plans in float16: which tensors are stored so, factors that several products share, and
// what is left to matrix units.

#include <gtest/gtest.h>

#include "backends/vulkan/planner/plan_for_test.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

Limits with_units() {
  Limits limits;
  limits.matrix_units = true;
  return limits;
}

std::vector<Shader> shaders_of(const Plan& plan) {
  std::vector<Shader> all;
  for (const Dispatch& each : plan.dispatches()) all.push_back(each.shader);
  return all;
}

// Two large products read the same tensor, which becomes float16 once; a small one then reads it so,
// too. With fewer rows no product is large, and the tensor is read as it is.
TEST(HalfPlan, LargeProductsShareTheirFactor) {
  constexpr uint32_t kRows = 1024, kLength = 1024;
  PayloadBuilder payload;
  const Id x = payload.input({kRows, kLength}), none = payload.none();
  for (const uint32_t columns : {1024U, 1024U, 8U}) {
    const Id w = payload.constant_bytes({columns, kLength}, wire::DataType::Float32,
                                        uint64_t{columns} * kLength * 4);
    const Id y = payload.tensor({kRows, columns});
    payload.call("aten.linear.default", {x, w, none, y});
    payload.output(y);
  }
  Planned planned(payload.finish(), with_units(), false, true);
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  const std::vector<Shader> expected = {
      Shader::pack_halves,  Shader::as_halves,   Shader::matrix_units, Shader::pack_halves,
      Shader::matrix_units, Shader::pack_halves, Shader::matrix_units, Shader::sum_parts};
  EXPECT_EQ(shaders_of(planned.plan), expected);
  const Dispatch& halves = planned.plan.dispatches()[1];
  EXPECT_FALSE(halves.once);
  EXPECT_EQ(halves.bindings[1].value, static_cast<ValueId>(x));
  for (const size_t product : {2, 4, 6}) {
    EXPECT_EQ(planned.plan.dispatches()[product].bindings[1].value, halves.bindings[0].value);
  }
  EXPECT_EQ(overlaps(planned.plan), "");
  for (const int64_t rows : {64, 1024}) {
    planned.graph.values[static_cast<size_t>(x)].dims[0] = rows;
    ASSERT_TRUE(planned.plan.build(planned.graph, with_units()).ok());
    size_t made = 0;
    for (const Shader each : shaders_of(planned.plan)) made += each == Shader::as_halves;
    EXPECT_EQ(made, rows == 1024 ? 1u : 0u);
  }
}

// Matrix units attend where there are enough queries, of heads that are not too wide.
TEST(HalfPlan, AttentionIsLeftToMatrixUnits) {
  const auto shader = [](uint32_t queries, uint32_t depth, bool in_half) {
    PayloadBuilder payload;
    const Id q = payload.input({1, 2, queries, depth}), k = payload.input({1, 2, 40, depth});
    const Id none = payload.none(), off = payload.flag(false), zero = payload.real(0);
    const Id y = payload.tensor({1, 2, queries, depth});
    payload.call("aten.scaled_dot_product_attention.default",
                 {q, k, k, none, zero, off, none, off, y});
    payload.output(y);
    const Planned planned(payload.finish(), with_units(), false, in_half);
    EXPECT_STREQ(planned.status.message(), "");
    EXPECT_EQ(planned.plan.rounding().size(), in_half ? 1u : 0u);
    return planned.plan.dispatches()[0].shader;
  };
  EXPECT_EQ(shader(17, 64, true), Shader::attention_units);
  EXPECT_EQ(shader(40, 128, true), Shader::attention_units);
  EXPECT_EQ(shader(16, 64, true), Shader::attention);
  EXPECT_EQ(shader(40, 129, true), Shader::attention);
  EXPECT_EQ(shader(40, 64, false), Shader::attention);
}

// What one call computes for others takes half the memory; inputs and outputs are as the program
// has them.
TEST(HalfPlan, WhatIsBetweenCallsTakesHalfTheMemory) {
  PayloadBuilder payload;
  const Id x = payload.input({1, 1001}), a = payload.tensor({1, 1001}), b = payload.tensor({1001});
  const Id y = payload.tensor({1001}), sizes = payload.integers({1001});
  payload.call("aten.relu.default", {x, a});
  payload.call("aten.view_copy.default", {a, sizes, b});
  payload.call("aten.tanh.default", {b, y});
  payload.output(y);
  const std::vector<uint8_t> bytes = payload.finish();
  for (const bool in_half : {false, true}) {
    const Planned planned(bytes, {}, false, in_half);
    ASSERT_TRUE(planned.status.ok()) << planned.status.message();
    const std::vector<Dispatch>& all = planned.plan.dispatches();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].halves, in_half ? 1 : 0);  // Of (result, operand) the first.
    EXPECT_EQ(all[1].halves, in_half ? 2 : 0);
    EXPECT_EQ(all[0].groups[0], in_half ? 2u : 4u);  // 501 words, or 1001.
    EXPECT_EQ(all[1].groups[0], 4u);
    const Place& between = planned.plan.places()[static_cast<size_t>(a)];
    EXPECT_EQ(between.is_half, in_half);
    EXPECT_EQ(between.bytes, in_half ? 2048u : 4096u);            // Padded to 256.
    EXPECT_EQ(planned.plan.arena_bytes(), between.bytes + 4096);  // The output is where x was.
    EXPECT_EQ(overlaps(planned.plan), "");
  }
}

// A product of matrix units reads a factor that another call made as float16 in groups of eight.
TEST(HalfPlan, MatrixUnitsReadHalvesAsTheyLie) {
  for (const uint32_t length : {64U, 60U}) {
    PayloadBuilder payload;
    const Id x = payload.input({32, length}), a = payload.tensor({32, length});
    const Id y = payload.tensor({32, 32}), none = payload.none();
    const Id w = payload.constant_bytes({32, length}, wire::DataType::Float32, 32 * length * 4);
    payload.call("aten.relu.default", {x, a});
    payload.call("aten.linear.default", {a, w, none, y});
    payload.output(y);
    const Planned planned(payload.finish(), with_units(), false, true);
    ASSERT_TRUE(planned.status.ok()) << planned.status.message();
    EXPECT_TRUE(planned.plan.is_half(static_cast<ValueId>(a)));
    const Dispatch& product = planned.plan.dispatches().back();
    ASSERT_EQ(product.shader, Shader::matrix_units);
    EXPECT_EQ(product.halves, 2);
    constexpr uint32_t kByRow = 1, kPacked = 6;  // As product.glsl names them.
    EXPECT_EQ(product.constants[2] == kPacked, length == 64);
    EXPECT_NE(product.constants[2], kByRow);
  }
}

// A view that is an output is a copy, as float32.
TEST(HalfPlan, AnOutputIsNoView) {
  PayloadBuilder payload;
  const Id x = payload.input({6}), a = payload.tensor({6}), y = payload.tensor({2, 3});
  payload.call("aten.relu.default", {x, a});
  payload.call("aten.view_copy.default", {a, payload.integers({2, 3}), y});
  payload.output(y);
  const Planned planned(payload.finish(), {}, false, true);
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  EXPECT_EQ(shaders_of(planned.plan), (std::vector<Shader>{Shader::elementwise, Shader::copy}));
  EXPECT_TRUE(planned.plan.is_half(static_cast<ValueId>(a)));
  EXPECT_FALSE(planned.plan.is_half(static_cast<ValueId>(y)));
  EXPECT_EQ(planned.plan.dispatches()[1].halves, 2);
}

// Shaders that read no float16 share a copy of float32, also with other sizes. What is often beyond
// the range stays float32.
TEST(HalfPlan, ShadersWithoutHalvesShareAWideCopy) {
  PayloadBuilder payload;
  const Id x = payload.input({8, 20}), a = payload.tensor({8, 20}), none = payload.none();
  const Id zero = payload.integer(0), e = payload.tensor({8, 20});
  payload.call("aten.relu.default", {x, a});
  for (int i = 0; i < 2; ++i) {
    const Id sum = payload.tensor({8, 20});
    payload.call("aten.cumsum.default", {a, zero, none, sum});
    payload.output(sum);
  }
  payload.call("aten.exp.default", {a, e});
  const Id y = payload.tensor({8, 20});
  payload.call("aten.neg.default", {e, y});
  payload.output(y);
  Planned planned(payload.finish(), {}, false, true);
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  const std::vector<Shader> expected = {Shader::elementwise, Shader::copy,
                                        Shader::scan,        Shader::scan,
                                        Shader::elementwise, Shader::elementwise};
  for (const int64_t rows : {8, 3, 8}) {
    planned.graph.values[static_cast<size_t>(x)].dims[0] = rows;
    ASSERT_TRUE(planned.plan.build(planned.graph, {}).ok());
    EXPECT_EQ(shaders_of(planned.plan), expected);
    const std::vector<Dispatch>& all = planned.plan.dispatches();
    EXPECT_EQ(all[1].bindings[1].value, static_cast<ValueId>(a));
    EXPECT_EQ(all[2].bindings[1].value, all[1].bindings[0].value);
    EXPECT_EQ(all[3].bindings[1].value, all[1].bindings[0].value);
    EXPECT_EQ(all[2].halves, 0);
  }
  EXPECT_FALSE(planned.plan.is_half(static_cast<ValueId>(e)));
  EXPECT_EQ(overlaps(planned.plan), "");
}

// Two elements are a word: a part that begins within one is stored element by element.
TEST(HalfPlan, PartsAreStoredByWordsWhereTheyFillThem) {
  const auto in_words = [](uint32_t first, uint32_t second, uint32_t rows, int64_t dim) {
    PayloadBuilder payload;
    const bool is_last = dim == 1;
    const auto part = [&](uint32_t size) {
      const std::vector<uint32_t> dims =
          is_last ? std::vector<uint32_t>{rows, size} : std::vector<uint32_t>{size, rows};
      return payload.input(dims);
    };
    const Id a = part(first), b = part(second);
    const std::vector<uint32_t> dims = is_last ? std::vector<uint32_t>{rows, first + second}
                                               : std::vector<uint32_t>{first + second, rows};
    const Id c = payload.tensor(dims), y = payload.tensor(dims);
    payload.call("aten.cat.default", {payload.list({a, b}), payload.integer(dim), c});
    payload.call("aten.relu.default", {c, y});
    payload.output(y);
    const Planned planned(payload.finish(), {}, false, true);
    EXPECT_STREQ(planned.status.message(), "");
    const std::vector<Dispatch>& all = planned.plan.dispatches();
    return std::vector<uint32_t>{all[0].constants[1], all[1].constants[1]};
  };
  using Both = std::vector<uint32_t>;
  EXPECT_EQ(in_words(4, 6, 3, 1), (Both{1, 1}));
  EXPECT_EQ(in_words(4, 3, 3, 1), (Both{0, 0}));  // Every other row begins within a word.
  EXPECT_EQ(in_words(3, 3, 2, 1), (Both{0, 0}));
  EXPECT_EQ(in_words(2, 5, 4, 0), (Both{1, 1}));
  EXPECT_EQ(in_words(2, 5, 3, 0), (Both{1, 0}));  // The last word of the second is half full.
  EXPECT_EQ(in_words(3, 1, 3, 0), (Both{0, 0}));
}

}  // namespace
}  // namespace taper::vulkan
