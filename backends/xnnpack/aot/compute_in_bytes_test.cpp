// Tests which nodes between bytes become int8 nodes of another kind.

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

Compiled compile_all(const std::string& body) { return compile(body, kAll); }

// An average pool is a depthwise convolution with ones in steps of 1/16.
TEST(ComputeInBytes, BetweenBytesAnAveragePoolIsAConvolution) {
  const auto pooled = [](const char* window) {
    return compile_all(R"(  input %q: int8[1, 2, 6, 6]
  %d: float32[1, 2, 6, 6] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, 2, 1, 1] = aten::avg_pool2d(%d, )" +
                       std::string(window) + R"()
  %p: int8[1, 2, 1, 1] = quantized_decomposed::quantize_per_tensor(%c, 0.25, 0, -128, 127, int8)
  return %p)");
  };
  const Compiled r = pooled("[4, 4], [4, 4]");
  ASSERT_EQ(r.kinds(), "Transpose DepthwiseConv2d Reshape");
  const auto& pool = *static_cast<const wire::Convolution*>(r.payload().nodes()->Get(1)->content());
  EXPECT_EQ(pool.groups(), 2u);
  EXPECT_EQ(pool.kernel_height(), 4u);
  EXPECT_EQ(pool.stride_width(), 4u);
  const auto* ones = r.payload().values()->Get(pool.filter())->content_as_QuantizedTensor();
  EXPECT_EQ(ones->quantization_as_PerTensor()->scale(), 1.0f / 16);
  ASSERT_EQ(r.graph->delegates[0]->data.size(), 1u);
  const exir::TensorData& bytes = r.graph->delegates[0]->data[0].bytes;
  EXPECT_EQ(std::vector<uint8_t>(bytes.data, bytes.data + bytes.bytes),
            std::vector<uint8_t>(32, 1));
  // XNNPACK has no int8 kernel for so many taps.
  EXPECT_EQ(pooled("[6, 6]").kinds(), "Transpose Convert AvgPool2d Convert Reshape");
}

// Pixels are repeated by concatenation.
TEST(ComputeInBytes, RepeatedPixelsStayBytes) {
  const Compiled r = compile_all(R"(  input %q: int8[1, 2, 3, 3]
  %d: float32[1, 2, 3, 3] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, 2, 6, 6] = aten::upsample_nearest2d.vec(%d, None, [2.0, 2.0])
  %p: int8[1, 2, 6, 6] = quantized_decomposed::quantize_per_tensor(%c, 0.5, 3, -128, 127, int8)
  return %p)");
  EXPECT_EQ(r.kinds(), "Transpose Reshape Concatenate2 Reshape Concatenate2 Reshape Transpose");
}

// Each tensor gets the scale of the result, if it has another one; sums of floats are bytes, too.
TEST(ComputeInBytes, ConcatenatedTensorsOfSeveralScalesAreBytes) {
  exir::PartitionOptions options = kAll;
  const auto joined = [&](const std::string& b, const std::string& result) {
    return compile(R"(  input %p: int8[1, 2, 3, 3]
  input %q: int8[1, 2, 3, 3]
  %a: float32[1, 2, 3, 3] = quantized_decomposed::dequantize_per_tensor(%p, 0.5, 3, -128, 127, int8)
  %c: float32[1, 2, 3, 3] = quantized_decomposed::dequantize_per_tensor(%q, 0.3, 0, -128, 127, int8)
  %s: float32[1, 2, 3, 3] = aten::add.Tensor(%a, %c)
  %j: float32[1, 4, 3, 3] = aten::cat([%a, %)" +
                       b + R"(], 1)
  %y: int8[1, 4, 3, 3] = quantized_decomposed::quantize_per_tensor(%j, 0.5, 3, -128, 127, int8)
  return %)" + result,
                   options)
        .kinds();
  };
  EXPECT_EQ(joined("c", "y"), "ByteTable Concatenate2");
  EXPECT_EQ(joined("s", "y"), "Add Concatenate2");
  EXPECT_EQ(joined("c", "y, %j"), "Convert Convert Concatenate2 Convert");
  // Its runtime has no tables.
  options.for_executorch = true;
  EXPECT_EQ(joined("c", "y"), "Convert Convert Concatenate2 Convert");
}

TEST(ComputeInBytes, RowsThatTorchaoQuantisesMeetBytes) {
  const std::string text = R"(  input %x: float32[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -1}
  %s: float32[3], %z: int8[3] = torchao::choose_qparams_affine(%x, "ASYMMETRIC", [1, 2], int8, -128, 127, None, None, int8)
  %q: int8[3, 2] = torchao::quantize_affine(%x, [1, 2], %s, %z, int8, -128, 127)
  %d: float32[3, 2] = torchao::dequantize_affine(%q, [1, 2], %s, %z, int8, -128, 127)
  %y: float32[3, 2] = aten::linear(%d, %w)
)";
  const Compiled r = compile_bytes(text + "  return %y");
  EXPECT_EQ(r.kinds(), "Convert FullyConnected");
  EXPECT_EQ(compile_bytes(text + "  return %y, %d").kinds(), "FullyConnected");
}

TEST(ComputeInBytes, RowsThatAreTokensMeetBytes) {
  const std::string text = R"(  input %x: float32[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -1}
  %s: float64[3, 1], %z: int64[3, 1] = quantized_decomposed::choose_qparams_per_token_asymmetric(%x, int8)
  %q: int8[3, 2] = quantized_decomposed::quantize_per_token(%x, %s, %z, -128, 127, int8)
  %d: float32[3, 2] = quantized_decomposed::dequantize_per_token(%q, %s, %z, -128, 127, int8, float32)
  %y: float32[3, 2] = aten::linear(%d, %w)
)";
  EXPECT_EQ(compile_bytes(text + "  return %y").kinds(), "Convert FullyConnected");
  EXPECT_EQ(compile_bytes(text + "  return %y, %d").kinds(), "FullyConnected");
}

// XNNPACK chooses a scale for each row, however many there are.
TEST(ComputeInBytes, RowsThatHaveOneScaleMeetBytes) {
  EXPECT_EQ(compile_bytes(R"(  range s0 = [1, 8]
  range s1 = [1, 8]
  input %x: float32[s0, s1, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -1}
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %m: int(s1) = aten::sym_size.int(%x, 1)
  %s: float32[1, 1, 1], %z: int8[1, 1, 1] = torchao::choose_qparams_affine(%x, "SYMMETRIC", [%n, %m, 2], int8, -128, 127, None, None, int8, True)
  %q: int8[s0, s1, 2] = torchao::quantize_affine(%x, [%n, %m, 2], %s, %z, int8, -128, 127)
  %d: float32[s0, s1, 2] = torchao::dequantize_affine(%q, [%n, %m, 2], %s, %z, int8, -128, 127)
  %y: float32[s0, s1, 2] = aten::linear(%d, %w)
  return %y)")
                .kinds(),
            "Convert FullyConnected");
}

// A transposed convolution between bytes in two groups, each of one channel in and some out; runs
// of `span` weights share a scale.
Compiled in_groups(size_t channels, std::vector<float> scales, size_t span) {
  exir::Scales ones;
  ones.items = std::move(scales);
  ones.span = span;
  ones.integers = exir::own_bytes(std::vector<uint8_t>(2 * channels, 1));
  const std::string n = std::to_string(channels),
                    image = std::to_string(2 * channels) + ", 4, 4] = ";
  return compile_bytes(
      "  constant %w: float32[2, " + n + R"(, 1, 1] = zeros
  input %q: int8[1, 2, 4, 4]
  %d: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, )" +
          image + R"(aten::convolution(%d, %w, None, [1, 1], [0, 0], [1, 1], True, [0, 0], 2)
  %p: int8[1, )" +
          image + R"(quantized_decomposed::quantize_per_tensor(%c, 0.25, 0, -128, 127, int8)
  return %p)",
      std::make_shared<exir::Scales>(ones));
}

TEST(ComputeInBytes, TransposedConvolutionsInGroupsHaveAScaleForEachChannelThatTheyWrite) {
  const auto scales_of = [](std::vector<float> scales, size_t span) {
    const Compiled r = in_groups(16, std::move(scales), span);
    EXPECT_EQ(r.kinds(), "Transpose ConvTranspose2d Transpose");
    const auto& node =
        *static_cast<const wire::Convolution*>(r.payload().nodes()->Get(1)->content());
    const auto* filter = r.payload().values()->Get(node.filter())->content_as_QuantizedTensor();
    const auto* written = filter->quantization_as_PerChannel()->scale();
    return std::vector<float>(written->begin(), written->end());
  };
  std::vector<float> each(16, 0.5f), of_groups(32, 0.25f);
  each[1] = 0.25f;
  std::vector<float> twice = each;
  twice.insert(twice.end(), each.begin(), each.end());
  std::fill_n(of_groups.begin(), 16, 0.5f);
  EXPECT_EQ(scales_of(each, 1), twice);
  EXPECT_EQ(scales_of({0.5f, 0.25f}, 16), of_groups);
}

TEST(ComputeInBytes, GroupsOfFewChannelsAreFloats) {
  const Compiled r = in_groups(8, {0.5f}, 16);
  EXPECT_EQ(r.kinds(), "Transpose Convert ConvTranspose2d Convert Transpose");
  EXPECT_EQ(r.graph->delegates[0]->computed_in.at(1),
            "float32: floats are faster for the few channels of its groups");
}

// Sums in steps of 0.5 times 0.5 and 0.25. XNNPACK adds a bias to the sums, in their steps; results
// have smaller ones.
TEST(ComputeInBytes, ABiasThatWouldBeRoundedToSeveralStepsOfTheResultStaysAFloat) {
  const auto kinds = [](const std::string& bias) {
    return compile_bytes("  constant %b: float32[2] = " + bias + R"(
  input %q: int8[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -1}
  %d: float32[3, 2] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %y: float32[3, 2] = aten::linear(%d, %w, %b)
  %p: int8[3, 2] = quantized_decomposed::quantize_per_tensor(%y, 0.01, 0, -128, 127, int8)
  return %p)")
        .kinds();
  };
  EXPECT_EQ(kinds("{0.5, 0.25}"), "FullyConnected");
  EXPECT_EQ(kinds("{0.6, 0.25}"), "Convert FullyConnected Convert");
}

}  // namespace
}  // namespace taper::xnnpack
