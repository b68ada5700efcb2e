// Tests what a payload does with bytes that enter or leave the call.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace taper::xnnpack
