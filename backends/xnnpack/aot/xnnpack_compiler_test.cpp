// Tests which nodes of a payload graphs given as text become.

#include "backends/xnnpack/aot/xnnpack_compiler.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {

extern const exir::CompilerDescriptor kCompiler;

namespace {

TEST(XnnpackCompiler, AConvolutionTakesItsClamp) {
  const Compiled r = compile(std::string(kConv) +
                             "  %y: float32[1, 4, 8, 8] = aten::hardtanh(%c, 0, 6)\n  return %y");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d* Transpose");
  EXPECT_EQ(r.payload().nodes()->Get(1)->range()->max(), 6);
  EXPECT_EQ(r.graph->delegates[0]->data.size(), 2u);  // Weights and bias, by name.
}

TEST(XnnpackCompiler, AClampOfAResultThatOthersReadIsANode) {
  const Compiled r = compile(std::string(kConv) +
                             "  %y: float32[1, 4, 8, 8] = aten::relu(%c)\n"
                             "  %z: float32[1, 4, 8, 8] = aten::add.Tensor(%y, %c)\n  return %z");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d Clamp* Add Transpose");
}

TEST(XnnpackCompiler, ADepthwiseFilterIsTransposed) {
  const Compiled r = compile(R"(  input %x: float32[1, 2, 4, 4]
  constant %w: float32[2, 1, 1, 2] = {1, 2, 3, 4}
  %y: float32[1, 2, 4, 3] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 2)
  return %y)");
  EXPECT_EQ(r.kinds(), "Transpose DepthwiseConv2d Transpose");
  const float* w = reinterpret_cast<const float*>(r.graph->delegates[0]->data[0].bytes.data);
  EXPECT_EQ(std::vector<float>(w, w + 4), (std::vector<float>{1, 3, 2, 4}));
}

TEST(XnnpackCompiler, ForExecutorchALargeDepthwiseFilterIsASumOfSmallerOnes) {
  const char* text = R"(  input %x: float32[1, 2, 40, 40]
  constant %w: float32[2, 1, 7, 7] = zeros
  %y: float32[1, 2, 40, 40] = aten::convolution(%x, %w, None, [1, 1], [3, 3], [1, 1], False, [0, 0], 2)
  %z: float32[1, 2, 40, 40] = aten::relu(%y)
  return %z)";
  EXPECT_EQ(compile(text).kinds(), "Transpose DepthwiseConv2d* Transpose");
  exir::PartitionOptions options;
  options.for_executorch = true;
  const Compiled r = compile(text, options);
  EXPECT_EQ(r.kinds(),
            "Transpose DepthwiseConv2d DepthwiseConv2d Add DepthwiseConv2d Add* Transpose");
  const wire::Convolution& second = *r.payload().nodes()->Get(2)->content_as_DepthwiseConv2d();
  EXPECT_EQ(second.kernel_height(), 2u);  // Rows 1 and 4.
  EXPECT_EQ(second.dilation_height(), 3u);
  EXPECT_EQ(second.padding_top(), 2u);
  EXPECT_EQ(second.padding_bottom(), 1u);
}

// The compiler leaves whole what the device computes in a stage (depthwise_windows.h).
TEST(XnnpackCompiler, ALargeDepthwiseFilterStaysWholeWhereItIsAStage) {
  const auto kinds = [](const std::string& window, const std::string& how) {
    return compile("  input %x: float32[1, 2, 40, 40]\n  constant %w: float32[2, 1, " + window +
                   "] = zeros\n  %y: float32[1, 2, 40, 40] = aten::convolution(%x, %w, None, " +
                   how + ", False, [0, 0], 2)\n  return %y")
        .kinds();
  };
  const std::string whole = "Transpose DepthwiseConv2d Transpose";
  EXPECT_EQ(kinds("9, 9", "[1, 1], [4, 4], [1, 1]"), whole);
  EXPECT_EQ(kinds("3, 11", "[1, 1], [1, 5], [1, 1]"), whole);
  EXPECT_EQ(kinds("5, 5", "[1, 1], [4, 4], [2, 2]"), whole);  // XNNPACK has a kernel.
  EXPECT_EQ(kinds("7, 7", "[1, 1], [6, 6], [2, 2]"), whole);
  const Compiled few = compile(R"(  input %x: float32[1, 2, 9, 9]
  constant %w: float32[2, 1, 7, 7] = zeros
  %y: float32[1, 2, 9, 9] = aten::convolution(%x, %w, None, [1, 1], [3, 3], [1, 1], False, [0, 0], 2)
  return %y)");
  EXPECT_EQ(few.kinds(),
            "Transpose DepthwiseConv2d DepthwiseConv2d Add DepthwiseConv2d Add Transpose");
}

TEST(XnnpackCompiler, AnAttentionIsOneCall) {
  const Compiled r = compile(R"(  input %q: float32[2, 5, 8]
  input %k: float32[2, 5, 8]
  %t: float32[2, 8, 5] = aten::permute_copy(%k, [0, 2, 1])
  %s: float32[2, 5, 5] = aten::bmm(%q, %t)
  %p: float32[2, 5, 5] = aten::_softmax(%s, -1, False)
  %y: float32[2, 5, 8] = aten::bmm(%p, %k)
  return %y)");
  EXPECT_EQ(r.kinds(), "BatchMatrixMultiply Softmax BatchMatrixMultiply");
  EXPECT_EQ(r.payload().nodes()->Get(0)->content_as_BatchMatrixMultiply()->flags(), 1u);
}

TEST(XnnpackCompiler, AttentionIsKeptWholeAndAnOpenMaskIsGuarded) {
  const std::string inputs = R"(  input %q: float32[1, 2, 4, 8]
  input %k: float32[1, 2, 4, 8]
)";
  const std::string call =
      "  %y: float32[1, 2, 4, 8] = aten::scaled_dot_product_attention(%q, %k, %k, ";
  EXPECT_EQ(compile(inputs + call + "None, 0.0, True)\n  return %y").kinds(),
            "Multiply BatchMatrixMultiply Add Softmax BatchMatrixMultiply");
  const std::string mask = "  constant %m: float32[1, 4] = {0, -inf, 0, 0}\n";
  EXPECT_EQ(compile(inputs + mask + call + "%m)\n  return %y").kinds(),
            "Multiply BatchMatrixMultiply Add Softmax BatchMatrixMultiply");
  // A mask that is an input may have rows that are -inf throughout.
  EXPECT_EQ(compile(inputs + "  input %m: float32[4, 4]\n" + call + "%m)\n  return %y").kinds(),
            "Add Add Clamp* FullyConnected Multiply Clamp* Subtract Log Maximum "
            "Multiply BatchMatrixMultiply Add Softmax BatchMatrixMultiply Multiply");
}

TEST(XnnpackCompiler, WhatIsOnlyRepeatedBroadcasts) {
  const std::string body = R"(  input %x: float32[64, 1]
  input %z: float32[64, 64]
  %e: float32[64, 64] = aten::expand_copy(%x, [64, 64])
)";
  EXPECT_EQ(compile(body + "  %y: float32[64, 64] = aten::add.Tensor(%z, %e)\n  return %y").kinds(),
            "Add");
  EXPECT_EQ(compile(body + "  %y: float32[64, 64] = aten::tanh(%e)\n  return %y").kinds(),
            "Multiply Tanh");
}

constexpr char kHeads[] = R"(  range s0 = [1, 8]
  range s1 = [2, 32]
  input %x: float32[s0, s1, 64]
  constant %w: float32[64, 64] = zeros
  %q: float32[s0, s1, 64] = aten::linear(%x, %w)
  %v: float32[s0, s1, 4, 16] = aten::view_copy(%q, [-1, -1, 4, 16])
  %y: float32[s0, 4, s1, 16] = aten::permute_copy(%v, [0, 2, 1, 3])
  return %y)";

TEST(XnnpackCompiler, SeveralOpenSizesOfAReshapeSayWhereTheyComeFrom) {
  const Compiled r = compile(kHeads);
  EXPECT_EQ(r.kinds(), "FullyConnected Reshape Transpose");
  const auto& sources = *r.payload().nodes()->Get(1)->content_as_Reshape()->sources();
  ASSERT_EQ(sources.size(), 4u);
  EXPECT_EQ(sources.Get(0)->value(), 0u);  // The argument of the call.
  EXPECT_EQ(sources.Get(1)->value(), 0u);
  EXPECT_EQ(sources.Get(1)->dim(), 1u);
  EXPECT_EQ(sources.Get(2)->value(), UINT32_MAX);
}

TEST(XnnpackCompiler, ForExecutorchAReshapeLeavesOneSizeOpen) {
  exir::PartitionOptions options;
  options.for_executorch = true;
  const Compiled r = compile(kHeads, options);
  EXPECT_EQ(r.kinds(), "FullyConnected");
  ASSERT_EQ(r.outside.size(), 2u);
  EXPECT_EQ(r.outside[0], "aten::view_copy: a reshape in ExecuTorch has at most one dynamic size");
}

TEST(XnnpackCompiler, WhatIsRepeatedOpenlyIsTakenIfItsReaderBroadcasts) {
  const std::string body = R"(  range s0 = [1, 8]
  range s1 = [2, 32]
  input %x: float32[s0, 1, 64]
  input %z: float32[s0, s1, 64]
  %e: float32[s0, s1, 64] = aten::expand_copy(%x, [-1, -1, 64])
)";
  const Compiled sum =
      compile(body + "  %y: float32[s0, s1, 64] = aten::add.Tensor(%z, %e)\n  return %y");
  EXPECT_EQ(sum.kinds(), "Add");
  EXPECT_TRUE(sum.outside.empty());
  const Compiled cat = compile(body + R"(  %t: float32[s0, s1, 64] = aten::tanh(%z)
  %y: float32[s0, 2*s1, 64] = aten::cat([%e, %t], 1)
  return %y)");
  EXPECT_EQ(cat.kinds(), "Tanh Concatenate2");
  EXPECT_EQ(cat.outside, (std::vector<std::string>{"aten::expand_copy: a size is dynamic"}));
}

TEST(XnnpackCompiler, SumsAndMeansAreOverAnyDimensions) {
  const std::string input =
      "  input %i: float32[4, 40, 40, 3]\n  %x: float32[4, 40, 40, 3] = aten::tanh(%i)\n";
  const auto kinds = [&](const std::string& call) {
    return compile(input + "  %y: float32" + call + "\n  return %y").kinds();
  };
  EXPECT_EQ(kinds("[4, 40, 3] = aten::mean.dim(%x, [1])"), "Tanh Reshape GlobalAvgPool2d Reshape");
  EXPECT_EQ(kinds("[40, 40] = aten::mean.dim(%x, [0, 3])"),
            "Tanh FullyConnected Reshape GlobalAvgPool2d Reshape");
  EXPECT_EQ(kinds("[4, 40, 40] = aten::sum.dim_IntList(%x, [3])"),
            "Tanh Reshape FullyConnected Reshape");
  EXPECT_EQ(kinds("[4, 1, 40, 3] = aten::sum.dim_IntList(%x, [1], True)"),
            "Tanh Reshape BatchMatrixMultiply Reshape");
  EXPECT_EQ(kinds("[] = aten::var.correction(%x, None, 1)"),
            "Tanh Reshape FullyConnected Reshape FullyConnected Reshape Subtract Square "
            "Reshape FullyConnected Reshape FullyConnected Reshape Multiply Reshape");
}

TEST(XnnpackCompiler, SumsOverAnOpenSizeArePoolsThatAdd) {
  const char* text = R"(  range s0 = [1, 8]
  range s1 = [2, 32]
  input %i: float32[s0, s1, 64]
  %x: float32[s0, s1, 64] = aten::tanh(%i)
  %y: float32[s0, 64] = aten::sum.dim_IntList(%x, [1])
  return %y)";
  const Compiled r = compile(text);
  EXPECT_EQ(r.kinds(), "Tanh Reshape GlobalAvgPool2d Reshape");
  EXPECT_EQ(r.payload().nodes()->Get(2)->content_as_GlobalAvgPool2d()->flags(), 64u + 65536u);
  exir::PartitionOptions options;
  options.for_executorch = true;
  EXPECT_EQ(compile(text, options).outside,
            (std::vector<std::string>{
                "aten::sum.dim_IntList: the number of elements to add is dynamic"}));
}

TEST(XnnpackCompiler, SlopesAreByChannel) {
  const Compiled r =
      compile(std::string(kConv) + "  %y: float32[1, 4, 8, 8] = aten::prelu(%c, %b)\n  return %y");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d PRelu Transpose");
  const Compiled rows = compile(R"(  input %x: float32[64, 4, 32]
  constant %b: float32[1, 4, 1] = {1, 2, 3, 4}
  %y: float32[64, 4, 32] = aten::_prelu_kernel(%x, %b)
  return %y)");
  EXPECT_EQ(rows.kinds(), "PRelu");
}

TEST(XnnpackCompiler, MishIsAQuotient) {
  const Compiled r =
      compile("  input %x: float32[64, 64]\n  %y: float32[64, 64] = aten::mish(%x)\n  return %y");
  EXPECT_EQ(r.kinds(), "Clamp* Exp Add Multiply Add Divide Multiply");
}

TEST(XnnpackCompiler, StepsThatLeaveARestArePaddedToWholeGroups) {
  const Compiled r = compile(R"(  input %x: float32[11, 128]
  %a: float32[4, 128] = aten::slice_copy.Tensor(%x, 0, 1, 9223372036854775807, 3)
  %y: float32[4, 128] = aten::tanh(%a)
  return %y)",
                             {exir::Groups::kAll});
  EXPECT_EQ(r.kinds(), "Slice ConstantPad Reshape Slice Tanh");
}

TEST(XnnpackCompiler, ABatchNormAloneIsAProductAndASum) {
  const Compiled r = compile(R"(  input %x: float32[1, 2, 50, 50]
  constant %w: float32[2] = {1, 2}
  constant %b: float32[2] = {3, 4}
  constant %m: float32[2] = {1, 1}
  constant %v: float32[2] = {4, 4}
  %y: float32[1, 2, 50, 50], %s: float32[0], %t: float32[0] = aten::_native_batch_norm_legit_no_training(%x, %w, %b, %m, %v, 0.1, 0)
  %z: float32[1, 2, 50, 50] = aten::relu(%y)
  return %z)");
  EXPECT_EQ(r.kinds(), "Multiply Add*");
  const auto numbers = [&](size_t i) {
    const float* data = reinterpret_cast<const float*>(r.graph->delegates[0]->data[i].bytes.data);
    return std::vector<float>(data, data + 2);
  };
  EXPECT_EQ(numbers(0), (std::vector<float>{0.5f, 1}));
  EXPECT_EQ(numbers(1), (std::vector<float>{2.5f, 3}));
}

// Found by fuzzing: the relu of a row was read as the image that the program states.
TEST(XnnpackCompiler, AStatedRankThatACallDoesNotHaveIsRefused) {
  const char* text = R"(  range s0 = [1, 6]
  input %x: float32[s0]
  %r: float32[s0, 4, 6, 6] = aten::relu(%x)
  %y: float32[s0, 4, 3, 3], %i: int64[s0, 4, 3, 3] = aten::max_pool2d_with_indices(%r, [2, 2], [2, 2], [0, 0], [1, 1], False)
  return %y)";
  const Compiled r = compile(text, kAll);
  ASSERT_FALSE(r.outside.empty());
  EXPECT_EQ(r.outside[0], "aten::relu: %r is stated with 4 dimensions and has 1");
}

TEST(XnnpackCompiler, WhatIsRepeatedIsMultipliedWithOnes) {
  EXPECT_EQ(compile(R"(  input %x: float32[1, 4, 20, 20]
  %y: float32[1, 4, 40, 60] = aten::upsample_nearest2d.vec(%x, [40, 60], None)
  return %y)")
                .kinds(),
            "Transpose Reshape Multiply Reshape Multiply Reshape Transpose");
  const Compiled r = compile(R"(  input %x: float32[64, 64]
  %y: float32[128, 192] = aten::repeat(%x, [2, 3])
  %z: float32[128, 192] = aten::tanh(%y)
  return %z)");
  EXPECT_EQ(r.kinds(), "Reshape Multiply Reshape Multiply Reshape Tanh");
}

// XNNPACK has no scalars: the sum has one dimension in the payload.
TEST(XnnpackCompiler, AScalarIsRepeatedToTheRankOfTheResult) {
  const Compiled r = compile(R"(  input %x: float32[2, 3]
  %s: float32[] = aten::sum.dim_IntList(%x, [0, 1])
  %y: float32[1, 2, 1, 4] = aten::expand_copy(%s, [1, 2, 1, 4])
  return %y)",
                             {exir::Groups::kAll});
  ASSERT_TRUE(r.outside.empty()) << r.outside[0];
  const wire::XNNGraph& payload = r.payload();
  const wire::Tensor& out =
      *payload.values()->Get(payload.output_ids()->Get(0))->content_as_Tensor();
  EXPECT_EQ(out.rank(), 4u);
  EXPECT_EQ(out.dims()->Get(1), 2u);
}

TEST(XnnpackCompiler, WeightsMayBeComputed) {
  const Compiled r = compile(R"(  input %x: float32[2, 8, 16]
  input %w: float32[4, 16]
  input %b: float32[4]
  %y: float32[2, 8, 4] = aten::linear(%x, %w, %b)
  return %y)");
  EXPECT_EQ(r.kinds(), "Reshape BatchMatrixMultiply Reshape Add");
}

constexpr char kBytes[] = R"(  input %x: float32[1, 2, 4, 4]
  constant %w: float32[2, 2, 1, 1] = {0.5, 1, 0.75, -1}
  constant %b: float32[2] = {1, -1}
  %q: int8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 3, -128, 127, int8)
  %d: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, 2, 4, 4] = aten::convolution(%d, %w, %b, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
)";

TEST(XnnpackCompiler, WeightsThatFitIntoFourBitsAreWrittenSo) {
  const Compiled r = compile_bytes(R"(  input %x: float32[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -1}
  %s: float32[3], %z: int8[3] = torchao::choose_qparams_affine(%x, "ASYMMETRIC", [1, 2], int8, -128, 127, None, None, int8)
  %q: int8[3, 2] = torchao::quantize_affine(%x, [1, 2], %s, %z, int8, -128, 127)
  %d: float32[3, 2] = torchao::dequantize_affine(%q, [1, 2], %s, %z, int8, -128, 127)
  %y: float32[3, 2] = aten::linear(%d, %w)
  return %y)");
  const wire::FullyConnected& layer = *r.payload().nodes()->Get(1)->content_as_FullyConnected();
  const auto& weights = *r.payload().values()->Get(layer.filter())->content_as_QuantizedTensor();
  EXPECT_EQ(weights.tensor()->datatype(), wire::DataType::QCINT4);
  // 1 and 2 times 0.5; 3 and -4 times 0.25. Each number is stored plus 8, the even column in the
  // lower half of the byte.
  const exir::TensorData& bytes = r.graph->delegates[0]->data[0].bytes;
  ASSERT_EQ(bytes.bytes, 2u);
  EXPECT_EQ(bytes.data[0], 0xA9);
  EXPECT_EQ(bytes.data[1], 0x4B);
}

TEST(XnnpackCompiler, BetweenBytesAConvolutionComputesWithBytes) {
  const Compiled r =
      compile_bytes(std::string(kBytes) + R"(  %r: float32[1, 2, 4, 4] = aten::relu(%c)
  %p: int8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%r, 0.25, -1, -128, 127, int8)
  %y: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%p, 0.25, -1, -128, 127, int8)
  return %y)");
  EXPECT_EQ(r.kinds(), "Convert Transpose Conv2d* Transpose Convert");
  const wire::XNNGraph& g = r.payload();
  const wire::Convolution& conv = *g.nodes()->Get(2)->content_as_Conv2d();
  const auto value = [&](uint32_t id) { return g.values()->Get(id)->content_as_QuantizedTensor(); };
  EXPECT_EQ(value(conv.input())->quantization_as_PerTensor()->zero_point(), 3);
  EXPECT_EQ(value(conv.output())->quantization_as_PerTensor()->scale(), 0.25f);
  EXPECT_EQ(value(conv.filter())->tensor()->datatype(), wire::DataType::QCINT8);
  EXPECT_EQ(value(conv.filter())->quantization_as_PerChannel()->scale()->Get(1), 0.25f);
  EXPECT_EQ(value(conv.bias())->tensor()->datatype(), wire::DataType::QCINT32);
  // 1 in steps of 0.5 * 0.5, -1 in steps of 0.5 * 0.25.
  for (const exir::Delegate::Data& data : r.graph->delegates[0]->data) {
    if (data.bytes.bytes == 8) {
      const auto* numbers = reinterpret_cast<const int32_t*>(data.bytes.data);
      EXPECT_EQ(numbers[0], 4);
      EXPECT_EQ(numbers[1], -8);
    } else {
      const auto* bytes = reinterpret_cast<const int8_t*>(data.bytes.data);
      EXPECT_EQ(std::vector<int8_t>(bytes, bytes + 4), (std::vector<int8_t>{1, 2, 3, -4}));
    }
  }
}

TEST(XnnpackCompiler, BytesWithoutASignGetOne) {
  const std::string body = R"(  input %x: float32[1, 2, 4, 4]
  constant %w: float32[2, 2, 1, 1] = {0.5, 1, 0.75, -1}
  %q: uint8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 131, 0, 255, uint8)
  %d: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 131, 0, 255, uint8)
  %c: float32[1, 2, 4, 4] = aten::convolution(%d, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %p: uint8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%c, 0.25, 0, 0, 255, uint8)
  %y: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%p, 0.25, 0, 0, 255, uint8)
)";
  const Compiled r = compile_bytes(body + "  return %y");
  EXPECT_EQ(r.kinds(), "Convert Transpose Conv2d Transpose Convert");
  const wire::XNNGraph& g = r.payload();
  const wire::Convolution& conv = *g.nodes()->Get(2)->content_as_Conv2d();
  const auto value = [&](uint32_t id) { return g.values()->Get(id)->content_as_QuantizedTensor(); };
  EXPECT_EQ(value(conv.input())->quantization_as_PerTensor()->zero_point(), 3);
  EXPECT_EQ(value(conv.output())->quantization_as_PerTensor()->zero_point(), -128);
  // A result of the program keeps its dtype.
  EXPECT_EQ(compile_bytes(body + "  return %p")
                .kinds()
                .find("Convert Transpose Conv2d Transpose Convert"),
            std::string::npos);
}

// QAT and processors whose products overflow leave out some integers: that is a clamp of the bytes.
TEST(XnnpackCompiler, NarrowRangesOfBytesAreRangesOfLayers) {
  const auto compiled = [](const char* range) {
    const std::string how = ", 0.25, -1, " + std::string(range) + ", int8)\n";
    return compile_bytes(
        kBytes + ("  %p: int8[1, 2, 4, 4] = quantized_decomposed::quantize_per_tensor(%c" + how) +
        "  %y: float32[1, 2, 4, 4] = quantized_decomposed::dequantize_per_tensor(%p" + how +
        "  return %y");
  };
  const Compiled r = compiled("-64, 63");
  ASSERT_EQ(r.kinds(), "Convert Transpose Conv2d* Transpose Convert");
  const wire::XNode& conv = *r.payload().nodes()->Get(2);
  EXPECT_EQ(conv.range()->min(), -63 * 0.25f);
  EXPECT_EQ(conv.range()->max(), 64 * 0.25f);
  const Compiled without_least = compiled("-127, 127");
  EXPECT_EQ(without_least.payload().nodes()->Get(2)->range()->min(), -126 * 0.25f);
  EXPECT_EQ(compiled("-128, 127").kinds(), "Convert Transpose Conv2d Transpose Convert");
  EXPECT_NE(compiled("5, 5").kinds(), r.kinds());
}

TEST(XnnpackCompiler, ALayerOfFloatsHasWeightsOfBytes) {
  const Compiled r = compile_bytes(R"(  input %x: float32[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -16}
  constant %b: float32[2] = {1, -1}
  %y: float32[3, 2] = aten::linear(%x, %w, %b)
  return %y)");
  EXPECT_EQ(r.kinds(), "FullyConnected");
  const wire::FullyConnected& layer = *r.payload().nodes()->Get(0)->content_as_FullyConnected();
  const auto& weights = *r.payload().values()->Get(layer.filter())->content_as_QuantizedTensor();
  EXPECT_EQ(weights.tensor()->datatype(), wire::DataType::QCINT8);
  // XNNPACK multiplies the bias by the scales, too: 1 / 0.5 and -1 / 0.25.
  bool has_bias = false;
  for (const exir::Delegate::Data& data : r.graph->delegates[0]->data) {
    if (data.bytes.bytes != 8) continue;
    const auto* numbers = reinterpret_cast<const float*>(data.bytes.data);
    has_bias = numbers[0] == 2 && numbers[1] == -4;
  }
  EXPECT_TRUE(has_bias);
}

std::string through_bytes(const std::string& y, const std::string& x, const std::string& scale) {
  const std::string type = "[1, 2, 4, 4] = quantized_decomposed::";
  const std::string how = ", " + scale + ", -1, -128, 127, int8)\n";
  return "  %q" + y + ": int8" + type + "quantize_per_tensor(%" + x + how + "  %" + y +
         ": float32" + type + "dequantize_per_tensor(%q" + y + how;
}

TEST(XnnpackCompiler, AClampOfBytesIsARangeAndOneOfAnotherScaleIsConverted) {
  const auto kinds = [](const char* from, const char* to) {
    const char clamp[] = "  %h: float32[1, 2, 4, 4] = aten::hardtanh(%f, 0, 6)\n";
    return compile_bytes(kBytes + through_bytes("f", "c", from) + clamp +
                         through_bytes("y", "h", to) + "  return %y")
        .kinds();
  };
  EXPECT_EQ(kinds("0.25", "0.25"), "Convert Transpose Conv2d* Transpose Convert");
  EXPECT_EQ(kinds("0.5", "0.25"), "Convert Transpose Conv2d* Convert Transpose Convert");
  // XNNPACK would round halves up.
  EXPECT_EQ(kinds("0.25", "0.5"), "Convert Transpose Conv2d* ByteTable Transpose Convert");
  // 6 is no multiple of 0.35.
  EXPECT_EQ(kinds("0.35", "0.5"), "Convert Transpose Conv2d ByteTable Transpose Convert");
}

TEST(XnnpackCompiler, ALayerOfBytesQuantisesItsInputWhileItRuns) {
  const std::string body = R"(  input %x: float32[3, 2]
  constant %w: float32[2, 2] = {0.5, 1, 0.75, -4}
  %s: float64[1], %z: int64[1] = quantized_decomposed::choose_qparams.tensor(%x, -128, 127, 0.0001, int8)
  %q: int8[3, 2] = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, -128, 127, int8)
  %d: float32[3, 2] = quantized_decomposed::dequantize_per_tensor.tensor(%q, %s, %z, -128, 127, int8)
  %y: float32[3, 2] = aten::linear(%d, %w)
)";
  const Compiled r = compile_bytes(body + "  return %y");
  EXPECT_EQ(r.kinds(), "Convert FullyConnected");
  const auto* bytes = reinterpret_cast<const int8_t*>(r.graph->delegates[0]->data[0].bytes.data);
  EXPECT_EQ(std::vector<int8_t>(bytes, bytes + 4), (std::vector<int8_t>{1, 2, 3, -16}));
  // Other readers need the numbers that the program rounds to.
  const Compiled other =
      compile_bytes(body + "  %t: float32[3, 2] = aten::tanh(%d)\n  return %y, %t");
  EXPECT_EQ(other.kinds(), "FullyConnected Tanh");
}

TEST(XnnpackCompiler, WhatIsNotQuantisedAfterwardsComputesWithFloats) {
  EXPECT_EQ(compile_bytes(std::string(kBytes) + "  return %c").kinds(),
            "Convert Transpose Convert Conv2d Transpose");
}

TEST(XnnpackCompiler, ShortFloatsStayOutside) {
  const Compiled r = compile(R"(  input %x: bfloat16[64, 64]
  %y: bfloat16[64, 64] = aten::relu(%x)
  return %y)");
  ASSERT_EQ(r.outside.size(), 1u);
  EXPECT_EQ(
      r.outside[0],
      "aten::relu: it computes with bfloat16, not float32; if the model is exported in float32, "
      "XNNPACK runs it");
}

TEST(XnnpackCompiler, OptionsSayWhatPaysAndWhetherFloat16IsWidened) {
  const auto made = [](const char* text) {
    static constexpr const exir::CompilerDescriptor* kTable[] = {&kCompiler};
    return exir::make_compilers(text, kTable);
  };
  const auto calls = [&](const char* text) {
    const auto graph = exir::parse_graph(
        "graph \"g\" {\n  input %x: float32[4]\n  %y: float32[4] = aten::tanh(%x)\n  return %y\n}");
    return exir::partition(*graph, made(text), {});
  };
  EXPECT_EQ(calls("xnnpack"), 0);
  EXPECT_EQ(calls("xnnpack:min_elements=5"), 0);
  EXPECT_EQ(calls("xnnpack:min_elements=4"), 1);
  EXPECT_TRUE(made("xnnpack")[0]->widens_half());
  EXPECT_FALSE(made("xnnpack:widen_float16=0")[0]->widens_half());
  EXPECT_TRUE(made("xnnpack:min_elements=1")[0]->specs().empty());
  ASSERT_EQ(made("xnnpack:share_workspace=1")[0]->specs().size(), 1u);
  EXPECT_EQ(made("xnnpack:share_workspace=1")[0]->specs()[0].value, std::vector<uint8_t>{1});
}

TEST(XnnpackCompiler, APayloadSaysWhatIsInIt) {
  const Compiled r = compile(std::string(kConv) + "  return %c");
  const std::vector<uint8_t>& payload = r.graph->delegates[0]->payload;
  EXPECT_EQ(kCompiler.inspect(payload, CompileSpecs()), "3 nodes: 1 Conv2d, 2 Transpose");
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_NO_THROW(kCompiler.inspect({payload.data(), size}, CompileSpecs()));
  }
  EXPECT_EQ(kCompiler.inspect({payload.data(), 50}, CompileSpecs()), "damaged");
}

TEST(XnnpackCompiler, WhatItDoesNotTakeIsSaidWhy) {
  const Compiled r = compile(R"(  input %x: float64[64, 64]
  input %y: float32[64, 64]
  input %w: float32[64, 64]
  %a: float64[64, 64] = aten::relu(%x)
  %b: float32[64, 64] = aten::hardtanh(%y, 1, 1)
  %c: float32[64, 64] = aten::erf(%y)
  %d: float32[64, 64] = aten::pow.Tensor_Scalar(%y, 5)
  %e: float32[1, 1] = aten::slice_copy.Tensor(%y, 0, 0, 1, 1)
  return %a, %b, %c, %d, %e)");
  ASSERT_EQ(r.outside.size(), 5u);
  EXPECT_EQ(r.outside[0], "aten::relu: it computes with float64, not float32");
  EXPECT_EQ(r.outside[1], "aten::hardtanh: the lower bound is not below the upper bound");
  EXPECT_EQ(r.outside[2], "aten::erf: XNNPACK does not support it");
  EXPECT_EQ(r.outside[3],
            "aten::pow.Tensor_Scalar: the exponent is not one of 2, 3, -1, -2, 0.5 and -0.5");
  EXPECT_TRUE(r.graph->delegates.empty());
}

TEST(XnnpackCompiler, SizesThatHangOnValuesMayBeZeroOrDiffer) {
  const Compiled empty = compile(R"(  range u0 = [0, 64]
  input %x: float32[u0, 64]
  %y: float32[u0, 64] = aten::tanh(%x)
  return %y)");
  EXPECT_EQ(empty.outside,
            (std::vector<std::string>{"aten::tanh: the size u0 is data-dependent and may be 0"}));
  const Compiled sum = compile(R"(  range u0 = [1, 64]
  range u1 = [1, 64]
  input %x: float32[u0 + u1, 64]
  input %z: float32[48, 1]
  %y: float32[48, 64] = aten::mul.Tensor(%x, %z)
  return %y)");
  EXPECT_EQ(sum.outside,
            (std::vector<std::string>{
                "aten::mul.Tensor: whether its sizes are equal is known only at run time"}));
}

// Adding values to a payload may reallocate them while the sizes of an operand are in use.
TEST(XnnpackCompiler, OperandsThatAreMadeForASumDoNotDisturbIt) {
  std::string body = "  input %x0: float32[8, 64]\n";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "  constant %c" + n + ": float32[1, 64] = zeros\n";
    body += "  %e" + n + ": float32[8, 64] = aten::expand_copy(%c" + n + ", [8, 64])\n";
    body += "  %x" + next + ": float32[8, 64] = aten::add.Tensor(%x" + n + ", %e" + n + ")\n";
  }
  const Compiled r = compile(body + "  return %x40");
  EXPECT_TRUE(r.outside.empty());
  EXPECT_EQ(r.payload().nodes()->size(), 40u);
}

}  // namespace
}  // namespace taper::xnnpack
