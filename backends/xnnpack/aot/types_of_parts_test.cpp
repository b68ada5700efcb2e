// Tests what --report says of the nodes of a payload: int8, or floats and why.

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

std::vector<std::string> types(const std::string& body) {
  return compile(body, kAll).graph->delegates.at(0)->computed_in;
}

constexpr char kSum[] = R"(  input %x: float32[2, 8]
  %q: int8[2, 8] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 3, -128, 127, int8)
  %d: float32[2, 8] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
)";

TEST(TypesOfParts, ASumBetweenBytesIsOne) {
  const auto texts = types(std::string(kSum) + R"(  %a: float32[2, 8] = aten::add.Tensor(%d, %d, 1)
  %p: int8[2, 8] = quantized_decomposed::quantize_per_tensor(%a, 1.0, 3, -128, 127, int8)
  %y: float32[2, 8] = quantized_decomposed::dequantize_per_tensor(%p, 1.0, 3, -128, 127, int8)
  return %y)");
  ASSERT_GT(texts.size(), 2u);
  EXPECT_EQ(texts[2], "int8");
}

// As behind a convolution of one dimension, which XNNPACK computes in two.
TEST(TypesOfParts, OtherSizesBeforeTheBytesChangeNothing) {
  const auto texts = types(std::string(kSum) + R"(  %a: float32[2, 8] = aten::add.Tensor(%d, %d, 1)
  %v: float32[4, 4] = aten::view_copy(%a, [4, 4])
  %t: float32[4, 4] = aten::permute_copy(%v, [1, 0])
  %r: float32[4, 4] = aten::relu(%t)
  %p: int8[4, 4] = quantized_decomposed::quantize_per_tensor(%r, 1.0, 3, -128, 127, int8)
  %y: float32[4, 4] = quantized_decomposed::dequantize_per_tensor(%p, 1.0, 3, -128, 127, int8)
  return %y)");
  ASSERT_GT(texts.size(), 5u);
  EXPECT_EQ(texts[2], "int8");
  for (const std::string& text : texts) EXPECT_EQ(text.find("float32"), text.npos) << text;
}

// In what a function between bytes is computed.
std::string type_of(const std::string& call) {
  const auto texts = types(std::string(kSum) + "  %a: float32[2, 8] = " + call + R"(
  %p: int8[2, 8] = quantized_decomposed::quantize_per_tensor(%a, 1.0, 3, -128, 127, int8)
  %y: float32[2, 8] = quantized_decomposed::dequantize_per_tensor(%p, 1.0, 3, -128, 127, int8)
  return %y)");
  return texts.size() > 2 ? texts[2] : "";
}

TEST(TypesOfParts, AFunctionBetweenBytesIsOne) {
  for (const char* call :
       {"aten::tanh(%d)", "aten::sigmoid(%d)", "aten::elu(%d, 0.5, 1, 1)", "aten::gelu(%d)",
        "aten::leaky_relu(%d, 0.01)", "aten::hardswish(%d)", "aten::exp(%d)", "aten::abs(%d)",
        "aten::leaky_relu(%d, 0.001)", "aten::sqrt(%d)", "aten::log(%d)"}) {
    EXPECT_EQ(type_of(call), "int8") << call;
  }
}

TEST(TypesOfParts, WhatHasNoInt8FormSaysSo) {
  EXPECT_EQ(type_of("aten::_softmax(%d, -1, False)"), "float32: XNNPACK has no int8 form of it");
  const auto texts = types(std::string(kSum) + R"(  input %u: float32[2, 8]
  %r: int8[2, 8] = quantized_decomposed::quantize_per_tensor(%u, 0.5, 3, -128, 127, int8)
  %e: float32[2, 8] = quantized_decomposed::dequantize_per_tensor(%r, 0.5, 3, -128, 127, int8)
  %a: float32[2, 8] = aten::add.Tensor(%d, %e, 1)
  %p: int8[2, 8] = quantized_decomposed::quantize_per_tensor(%a, 9000.0, 3, -128, 127, int8)
  %y: float32[2, 8] = quantized_decomposed::dequantize_per_tensor(%p, 9000.0, 3, -128, 127, int8)
  return %y)");
  ASSERT_GT(texts.size(), 4u);
  EXPECT_EQ(texts[4],
            "float32: its scales, weights or bias are beyond the bounds of int8 arithmetic");
}

TEST(TypesOfParts, ASumWhoseResultStaysFloatSaysSo) {
  const auto texts =
      types(std::string(kSum) + "  %y: float32[2, 8] = aten::add.Tensor(%d, %d, 1)\n  return %y");
  ASSERT_GT(texts.size(), 2u);
  EXPECT_EQ(texts[2], "float32: its result is not quantised, or not for all readers alike");
}

TEST(TypesOfParts, ASumOfDynamicSizeIsOne) {
  const auto texts = types(R"(  range s0 = [1, 8]
  input %x: float32[s0, 8]
  %q: int8[s0, 8] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 3, -128, 127, int8)
  %d: float32[s0, 8] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %y: float32[s0, 8] = aten::add.Tensor(%d, %x, 1)
  return %y)");
  ASSERT_GT(texts.size(), 2u);
  EXPECT_EQ(texts[2], "float32: an input is not quantised");
}

// A convolution of 4 x 4 pixels in groups of one channel, or in one group.
std::string with_zero_points(int groups) {
  auto scales = std::make_shared<exir::Scales>();
  scales->items = {0.5f, 0.25f};
  scales->zero_points = {-100, 2};
  const size_t count = 4 * 4 / static_cast<size_t>(groups);
  scales->span = count / 2;
  scales->integers = exir::own_bytes(std::vector<uint8_t>(count, 100));
  const std::string in_group = std::to_string(4 / groups);
  const Compiled compiled =
      compile_bytes("  constant %w: float32[4, " + in_group + R"(, 1, 1] = zeros
  input %x: float32[1, 4, 4, 4]
  %q: int8[1, 4, 4, 4] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 3, -128, 127, int8)
  %d: float32[1, 4, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, 4, 4, 4] = aten::convolution(%d, %w, None,
      [1, 1], [0, 0], [1, 1], False, [0, 0], )" +
                        std::to_string(groups) + R"()
  %p: int8[1, 4, 4, 4] = quantized_decomposed::quantize_per_tensor(%c, 1.0, 3, -128, 127, int8)
  %y: float32[1, 4, 4, 4] = quantized_decomposed::dequantize_per_tensor(%p, 1.0, 3, -128, 127, int8)
  return %y)",
                    scales);
  const auto& texts = compiled.graph->delegates.at(0)->computed_in;
  return texts.size() > 2 ? texts[2] : "";
}

TEST(TypesOfParts, WeightsWithZeroPointsSaySo) {
  EXPECT_EQ(with_zero_points(1), "int8, weights with zero points in parts");
  EXPECT_EQ(with_zero_points(4), "float32: its weights have zero points");
}

TEST(TypesOfParts, WithoutQuantisationThereIsNothingToSay) {
  EXPECT_TRUE(types(R"(  input %x: float32[2, 8]
  %y: float32[2, 8] = aten::tanh(%x)
  return %y)")
                  .empty());
}

}  // namespace
}  // namespace taper::xnnpack
