// Tests of plans whose products are in float16: factors that several products share, and what is
// left to matrix units.

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

}  // namespace
}  // namespace taper::vulkan
