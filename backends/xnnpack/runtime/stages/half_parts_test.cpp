// Tests graphs that prefer float16: which nodes are computed in it, and what that changes. A
// product with 1 + 2^-12 shows it, since float16 has no number between 1 and 1 + 2^-10.

#include "backends/xnnpack/runtime/stages/half_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "test/support/scratch_folder.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr float kJustAboveOne = 1 + 0x1p-12f;

Specs prefers_half() { return Specs("prefer_float16", {1}); }

XnnpackOptions with(Numbers numbers) {
  XnnpackOptions options = Loaded::one_thread();
  options.numbers = numbers;
  return options;
}

size_t stage_count_in_half(const std::vector<uint8_t>& payload) {
  Shared shared;
  shared.in_half = true;
  return stage_count(payload, shared);
}

// y = |x * w|, of one number.
std::vector<uint8_t> product() {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), t = p.inner({1, 1}), y = p.output({1, 1});
  p.connected(x, p.constant({1, 1}, {kJustAboveOne}), p.constant({1}, {0}), t);
  p.unary(NodeContent::Abs, t, y);
  p.nodes[0].origin = 5;
  p.nodes[1].origin = 6;
  return p.finish();
}

float run_one(Loaded& loaded, float x) {
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 1}, {x}), out({1, 1}, Floats(1));
  const Status status = loaded.run({&in.value, &out.value});
  EXPECT_TRUE(status.ok()) << status.message();
  return out.result()[0];
}

// The result of a payload that prefers float16, rounded as for comparison.
float run_rounded(const std::vector<uint8_t>& payload, float x) {
  XnnpackBackend backend(with(Numbers::kRounded));
  const Specs specs = prefers_half();
  Loaded loaded(payload, backend, "forward", specs);
  return run_one(loaded, x);
}

float run_product(XnnpackBackend& backend, const Specs& specs) {
  Loaded loaded(product(), backend, "forward", specs);
  return run_one(loaded, -1);
}

class InHalf : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
    if (!computes_in_half(Numbers::kRounded)) GTEST_SKIP() << "no float16 for this processor";
  }
};

TEST_F(InHalf, ProductsAreRoundedWhereTheProcessorOrTheCallerSaysSo) {
  XnnpackBackend own(with(Numbers::kOwn)), exact(with(Numbers::kExact));
  XnnpackBackend rounded(with(Numbers::kRounded));
  EXPECT_EQ(run_product(rounded, prefers_half()), 1);
  EXPECT_EQ(run_product(exact, prefers_half()), kJustAboveOne);
  EXPECT_EQ(run_product(own, prefers_half()), computes_in_half(Numbers::kOwn) ? 1 : kJustAboveOne);
  EXPECT_EQ(run_product(rounded, Specs("prefer_float16", {0})), kJustAboveOne);
}

// A square of 300 has no float16.
TEST_F(InHalf, WhatLeavesTheRangeStaysFloat32) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), a = p.inner({1, 1}), b = p.inner({1, 1});
  const uint32_t c = p.inner({1, 1}), y = p.output({1, 1});
  const uint32_t one = p.constant({1, 1}, {kJustAboveOne}), none = p.constant({1}, {0});
  p.connected(x, one, none, a);
  p.unary(NodeContent::Square, a, b);
  p.unary(NodeContent::SquareRoot, b, c);
  p.connected(c, one, none, y);
  const std::vector<uint8_t> payload = p.finish();
  EXPECT_EQ(stage_count(payload), 1u);
  EXPECT_EQ(stage_count_in_half(payload), 3u);
  EXPECT_EQ(run_rounded(payload, 300), 300);
}

// As does a constant, such as that of a mask.
TEST_F(InHalf, LargeConstantsStayFloat32) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), a = p.inner({1, 1}), y = p.output({1, 1});
  p.connected(x, p.constant({1, 1}, {kJustAboveOne}), p.constant({1}, {0}), a);
  p.binary(NodeContent::Add, a, p.constant({1, 1}, {70000}), y);
  const std::vector<uint8_t> payload = p.finish();
  EXPECT_EQ(stage_count_in_half(payload), 2u);
  EXPECT_EQ(run_rounded(payload, 3), 70003);
}

// What keeps a divisor from zero, here a number and a bound, is itself zero in float16.
TEST_F(InHalf, SmallConstantsStayFloat32) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), y = p.output({1, 1});
  const uint32_t a = p.inner({1, 1}), b = p.inner({1, 1});
  const uint32_t c = p.inner({1, 1}), d = p.inner({1, 1});
  p.binary(NodeContent::Maximum, x, p.constant({1, 1}, {1e-8f}), a);
  p.binary(NodeContent::Divide, x, a, b);
  p.unary(NodeContent::Clamp, b, c);
  p.nodes.back().range = {1e-12f, 1};
  p.binary(NodeContent::Divide, b, c, d);
  p.connected(d, p.constant({1, 1}, {kJustAboveOne}), p.constant({1}, {0}), y);
  EXPECT_EQ(run_rounded(p.finish(), 0), 0);
}

// A node that multiplies a value with itself is a square, and what is added to it is as large.
TEST_F(InHalf, WhatIsMadeOfSquaresStaysFloat32) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), y = p.output({1, 1});
  const uint32_t a = p.inner({1, 1}), b = p.inner({1, 1}), c = p.inner({1, 1});
  p.binary(NodeContent::Multiply, x, x, a);
  p.binary(NodeContent::Add, a, p.constant({1, 1}, {1}), b);
  p.unary(NodeContent::SquareRoot, b, c);
  p.connected(c, p.constant({1, 1}, {1}), p.constant({1}, {0}), y);
  const std::vector<uint8_t> payload = p.finish();
  EXPECT_EQ(stage_count_in_half(payload), 2u);
  EXPECT_EQ(run_rounded(payload, 300), 300);
}

// A sum is a product with ones; in float16, 3000 ones add up to 2048 or the sum is infinite.
TEST_F(InHalf, SumsStayFloat32) {
  constexpr uint32_t kCount = 3000;
  PayloadBuilder p;
  const uint32_t x = p.input({1, kCount}), sum = p.inner({1, 1}), y = p.output({1, 1});
  p.connected(x, p.constant({1, kCount}, Floats(kCount, 1)), p.constant({1}, {0}), sum);
  p.connected(sum, p.constant({1, 1}, {0.125f}), p.constant({1}, {0}), y);
  XnnpackBackend backend(with(Numbers::kRounded));
  const std::vector<uint8_t> payload = p.finish();
  const Specs specs = prefers_half();
  Loaded loaded(payload, backend, "forward", specs);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, kCount}, Floats(kCount, 100)), out({1, 1}, Floats(1));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result()[0], 37500);
}

TEST_F(InHalf, WithoutProductsNothingIs) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1}), y = p.output({1, 1});
  p.unary(NodeContent::Negate, x, y);
  EXPECT_EQ(run_rounded(p.finish(), kJustAboveOne), -kJustAboveOne);
}

// Weights that were packed for float32 are not those of float16.
TEST_F(InHalf, PackedWeightsAreItsOwn) {
  const test::ScratchFolder folder;
  const std::string path = folder / "model.xnncache";
  for (const Numbers numbers : {Numbers::kExact, Numbers::kRounded}) {
    XnnpackOptions options = with(numbers);
    options.cache_path = path.c_str();
    XnnpackBackend backend(options);
    Loaded loaded(product(), backend, "forward", prefers_half());
    EXPECT_EQ(run_one(loaded, -1), numbers == Numbers::kExact ? kJustAboveOne : 1);
    EXPECT_EQ(backend.cache_report().found, 0u);
    EXPECT_TRUE(backend.save_packed().ok());
  }
}

struct Origins final : Profiler {
  void add(const ProfiledStep& step) override {
    nodes.push_back(step.node);
    kernels.emplace_back(step.kernel);
  }
  std::vector<int64_t> nodes;
  std::vector<std::string> kernels;
};

// XNNPACK converts arguments and results by nodes of its own, which count as parts of those that
// read and write them.
TEST_F(InHalf, StepsAreThoseOfTheirNodes) {
  Origins steps;
  XnnpackOptions options = with(Numbers::kRounded);
  options.profiler = &steps;
  XnnpackBackend backend(options);
  const Specs specs = prefers_half();
  Loaded loaded(product(), backend, "forward", specs);
  run_one(loaded, -1);
  EXPECT_EQ(steps.nodes, (std::vector<int64_t>{4, 4, 5, 5}));
  EXPECT_EQ(steps.kernels[1], "Fully Connected (NC, F16) GEMM");
}

TEST(PrefersHalf, IsRefusedForComparisonWithoutKernels) {
  ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
  if (computes_in_half(Numbers::kRounded)) GTEST_SKIP() << "this processor has them";
  XnnpackBackend backend(with(Numbers::kRounded));
  const Specs specs = prefers_half();
  const Loaded loaded(product(), backend, "forward", specs);
  EXPECT_EQ(loaded.status.error(), Error::kNotSupported);
  EXPECT_STREQ(loaded.status.message(), "XNNPACK has no float16 kernels for this processor");
}

}  // namespace
}  // namespace taper::xnnpack
