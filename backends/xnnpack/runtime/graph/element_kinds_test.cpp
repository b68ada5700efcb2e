// Sums of int8 are clamped to the bounds of their node, in a node of XNNPACK's own only where a
// byte lies outside; floats that are negated have the other sign, 0 too.

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// x + x in steps of 0.5 of a result whose zero point is `zero`, within `bounds`.
Floats doubled(const Floats& x, int32_t zero, std::pair<float, float> bounds) {
  PayloadBuilder p;
  const Sizes sizes = {static_cast<uint32_t>(x.size())};
  const uint32_t in = p.input(sizes), bytes = p.bytes(sizes, 0.25f, 0);
  const uint32_t sum = p.bytes(sizes, 0.5f, zero), out = p.output(sizes);
  p.unary(NodeContent::Convert, in, bytes);
  p.binary(NodeContent::Add, bytes, bytes, sum);
  p.nodes.back().range = bounds;
  p.unary(NodeContent::Convert, sum, out);
  Loaded loaded(p.finish());
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  const auto count = static_cast<int32_t>(x.size());
  HeldFloats given({count}, x), got({count}, Floats(x.size()));
  EXPECT_TRUE(loaded.run({&given.value, &got.value}).ok());
  return got.result();
}

TEST(ElementKinds, SumsOfBytesStayWithinBounds) {
  constexpr float kMost = 1e30f;
  const Floats x = {-3, -0.25f, 0, 1, 2.5f, 31};
  EXPECT_EQ(doubled(x, -128, {0, kMost}), (Floats{0, 0, 0, 2, 5, 62}));  // No byte is below 0.
  EXPECT_EQ(doubled(x, -128, {0, 6}), (Floats{0, 0, 0, 2, 5, 6}));
  EXPECT_EQ(doubled(x, -128, {1.5f, kMost}), (Floats{1.5f, 1.5f, 1.5f, 2, 5, 62}));
  EXPECT_EQ(doubled(x, 0, {0, kMost}), (Floats{0, 0, 0, 2, 5, 62}));
  EXPECT_EQ(doubled(x, 0, {-kMost, kMost}), (Floats{-6, -0.5f, 0, 2, 5, 62}));
}

TEST(ElementKinds, NegatedFloatsHaveTheOtherSign) {
  const Floats x = {0, -0.0f, 1.5f, -3, 1e-30f, -INFINITY, 7, 0, -0.0f, 2, 0, 0, 0, 0, 0, 0, 0};
  PayloadBuilder p;
  const Sizes sizes = {static_cast<uint32_t>(x.size())};
  const uint32_t in = p.input(sizes);
  p.unary(NodeContent::Negate, in, p.output(sizes));
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const auto count = static_cast<int32_t>(x.size());
  HeldFloats given({count}, x), got({count}, Floats(x.size()));
  ASSERT_TRUE(loaded.run({&given.value, &got.value}).ok());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(got.result()[i], -x[i]);
    EXPECT_NE(std::signbit(got.result()[i]), std::signbit(x[i])) << x[i];
  }
}

}  // namespace
}  // namespace taper::xnnpack
