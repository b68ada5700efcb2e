// Tests what a payload does with bytes that enter or leave the call.

#include <gtest/gtest.h>

#include <limits>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

Compiled compile_all(const std::string& body) { return compile(body, kAll); }

// An image is transposed before it leaves: as bytes, if it is some.
TEST(BytesAtBorders, AnImageOfBytesLeavesAsBytes) {
  const Compiled r = compile_all(R"(  input %x: float32[1, 2, 4, 4]
  constant %w: float32[2, 2, 1, 1] = {1, 2, 3, -4}
  %c: float32[1, 2, 4, 4] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %y: int8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%c, 0.25, -1, -128, 127, int8)
  return %y)");
  ASSERT_EQ(r.kinds(), "Transpose Conv2d Convert Transpose");
  const wire::XNNGraph& g = r.payload();
  const auto* y = g.values()->Get(g.output_ids()->Get(0))->content_as_QuantizedTensor();
  ASSERT_NE(y, nullptr);
  EXPECT_EQ(y->tensor()->datatype(), wire::DataType::QINT8);
  EXPECT_EQ(y->quantization_as_PerTensor()->scale(), 0.25f);
  EXPECT_EQ(y->quantization_as_PerTensor()->zero_point(), -1);
}

constexpr char kFromBytes[] = R"(  input %q: int8[1, 2, 4, 4]
  %x: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
)";

TEST(BytesAtBorders, BytesThatEnterHaveTheScaleWithWhichTheyAreRead) {
  const Compiled r = compile_all(std::string(kFromBytes) +
                                 R"(  %a: float32[1, 2, 4, 4] = aten::tanh(%x)
  %y: int8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%a, 1.0, 3, -128, 127, int8)
  return %y)");
  EXPECT_EQ(r.kinds(), "Tanh");
  const wire::XNNGraph& g = r.payload();
  const auto* x = g.values()->Get(g.input_ids()->Get(0))->content_as_QuantizedTensor();
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->quantization_as_PerTensor()->scale(), 0.5f);
  EXPECT_EQ(x->quantization_as_PerTensor()->zero_point(), 3);
}

TEST(BytesAtBorders, BytesThatAreReadWithTwoScalesStayOutside) {
  const Compiled r = compile_all(
      std::string(kFromBytes) +
      R"(  %z: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.25, 3, -128, 127, int8)
  %a: float32[1, 2, 4, 4] = aten::add.Tensor(%x, %z, 1)
  return %a)");
  ASSERT_EQ(r.outside.size(), 2u);
  EXPECT_EQ(r.outside[0],
            "quantized_decomposed::dequantize_per_tensor: its input is dequantised with other "
            "parameters, too");
}

// PyTorch's backend "x86" quantises inputs to 7 bits.
TEST(BytesAtBorders, AnInputBecomesAPartOfTheBytesUnlessTheseLeave) {
  const auto quantised = [](const std::string& rest) {
    return compile_all(R"(  input %x: float32[2, 4]
  %q: uint8[2, 4] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 61, 0, 127, uint8)
  %d: float32[2, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 61, 0, 127, uint8)
)" + rest);
  };
  const Compiled r = quantised("  return %d");
  ASSERT_EQ(r.kinds(), "Convert Clamp* Convert");
  const wire::Range& range = *r.payload().nodes()->Get(1)->range();
  EXPECT_EQ(range.min(), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(range.max(), 0.5f * (127 - 61));
  EXPECT_EQ(
      quantised("  return %d, %q").outside.front(),
      "quantized_decomposed::quantize_per_tensor: its bytes leave, and an input may hold NaN");
}

}  // namespace
}  // namespace taper::xnnpack
