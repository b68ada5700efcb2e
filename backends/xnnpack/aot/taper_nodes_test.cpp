// Tests that norms, swish and similar functions become single nodes of Taper's own kinds, and
// numbers of float16 are stored as such, except for ExecuTorch.

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

constexpr char kEntries[] = R"(  input %x: float32[2, 3, 4]
  constant %w: float32[4] = {1, 2, 3, 4}
  constant %b: float32[4] = {1, 2, 3, 4}
)";

// Also compiles groups that would not pay by themselves.
TEST(TaperNodes, ALayerNormIsOneNodeButForExecutorch) {
  const std::string text = std::string(kEntries) +
                           "  %n: float32[2, 3, 4], %s: float32[2, 3, 1], %t: float32[2, 3, 1] = "
                           "aten::native_layer_norm(%x, [4], %w, %b, 0.5)\n  return %n";
  const Compiled r = compile(text);
  EXPECT_EQ(r.kinds(), "LayerNorm");
  EXPECT_EQ(r.identifier(), "XT01");
  const auto& norm = *static_cast<const wire::RowNorm*>(r.payload().nodes()->Get(0)->content());
  EXPECT_EQ(norm.row_dims(), 1u);
  EXPECT_EQ(norm.eps(), 0.5f);
  exir::PartitionOptions options;
  options.for_executorch = true;
  const Compiled other = compile(text, options);
  EXPECT_EQ(other.kinds(),
            "FullyConnected Subtract Square FullyConnected Add ReciprocalSquareRoot Multiply "
            "Multiply Add");
  EXPECT_EQ(other.identifier(), "XN01");
}

TEST(TaperNodes, WeightsThatAreComputedStayNodesOfXnnpack) {
  const Compiled r = compile(R"(  input %x: float32[2, 3, 4]
  input %w: float32[4]
  %n: float32[2, 3, 4], %s: float32[2, 3, 1], %t: float32[2, 3, 1] = aten::native_layer_norm(%x, [4], %w, None, 0.5)
  return %n)");
  EXPECT_EQ(r.kinds(), "LayerNorm Multiply");
}

// 2049 is the smallest whole number that float16 does not have.
TEST(TaperNodes, WeightsOfFloat16AreStoredAsSuch) {
  const auto compiled = [](int last, bool for_executorch) {
    std::string elements;
    for (int i = 0; i < 399; ++i) elements += std::to_string(i) + ", ";
    exir::PartitionOptions options;
    options.for_executorch = for_executorch;
    return compile("  input %x: float32[1, 20]\n  constant %w: float32[20, 20] = {" + elements +
                       std::to_string(last) +
                       "}\n  %y: float32[1, 20] = aten::linear(%x, %w, None)\n  return %y",
                   options);
  };
  const auto type_of_weight = [](const Compiled& r) {
    return r.payload().values()->Get(1)->content_as_Tensor()->datatype();
  };
  const Compiled halves = compiled(2048, false);
  EXPECT_EQ(type_of_weight(halves), wire::DataType::FP16);
  EXPECT_EQ(halves.identifier(), "XT01");
  const Compiled floats = compiled(2049, false);
  EXPECT_EQ(type_of_weight(floats), wire::DataType::FP32);
  EXPECT_EQ(floats.identifier(), "XN01");
  const Compiled other = compiled(2048, true);  // ExecuTorch's XNNPACK takes such filters, too.
  EXPECT_EQ(type_of_weight(other), wire::DataType::FP16);
  EXPECT_EQ(other.identifier(), "XN01");
}

TEST(TaperNodes, AGroupNormOfAPlainImageIsOneNode) {
  const Compiled r = compile(R"(  input %x: float32[2, 4, 3, 3]
  constant %w: float32[4] = {1, 2, 3, 4}
  %y: float32[2, 4, 3, 3], %s: float32[2, 2], %t: float32[2, 2] = aten::native_group_norm(%x, %w, None, 2, 4, 9, 2, 1e-5)
  return %y)");
  EXPECT_EQ(r.kinds(), "GroupNorm");
}

TEST(TaperNodes, ABatchNormOfAnImageTakesItsClamp) {
  const Compiled r = compile(std::string(kConv) + R"(  constant %m: float32[4] = zeros
  constant %v: float32[4] = {1, 2, 3, 4}
  %h: float32[1, 4, 8, 8] = aten::hardtanh(%c, -1, 1)
  %n: float32[1, 4, 8, 8], %s: float32[0], %t: float32[0] = aten::_native_batch_norm_legit_no_training(%h, %b, %b, %m, %v, 0.1, 1e-5)
  %y: float32[1, 4, 8, 8] = aten::relu(%n)
  return %y)");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d* BatchNorm* Transpose");
}

TEST(TaperNodes, ASoftmaxAlongAnotherDimensionIsOneNode) {
  const Compiled r = compile(R"(  input %x: float32[2, 3, 4]
  %y: float32[2, 3, 4] = aten::_softmax(%x, 1, False)
  return %y)");
  EXPECT_EQ(r.kinds(), "DimSoftmax");
}

TEST(TaperNodes, AGeluByTanhIsOneNode) {
  const std::string text =
      std::string(kEntries) + "  %y: float32[2, 3, 4] = aten::gelu(%x, \"tanh\")\n  return %y";
  EXPECT_EQ(compile(text, kAll).kinds(), "GeluTanh");
  EXPECT_EQ(compile(text, {exir::Groups::kAll, true}).kinds(),
            "Square Multiply Add Multiply Sigmoid Multiply");
}

TEST(TaperNodes, ATensorTimesItsSigmoidIsASwish) {
  const std::string text = std::string(kEntries) +
                           "  %g: float32[2, 3, 4] = aten::sigmoid(%x)\n"
                           "  %y: float32[2, 3, 4] = aten::mul.Tensor(%x, %g)\n  return %y";
  EXPECT_EQ(compile(text, kAll).kinds(), "Swish");
  EXPECT_EQ(compile(text + ", %g", kAll).kinds(), "Sigmoid Multiply");
}

TEST(TaperNodes, AnRmsNormInPrimitiveOperatorsIsOneNode) {
  const std::string text =
      std::string(kEntries) + R"(  %q: float32[2, 3, 4] = aten::pow.Tensor_Scalar(%x, 2)
  %a: float32[2, 3, 1] = aten::mean.dim(%q, [-1], True)
  %e: float32[2, 3, 1] = aten::add.Scalar(%a, 0.25)
  %r: float32[2, 3, 1] = aten::rsqrt(%e)
  %n: float32[2, 3, 4] = aten::mul.Tensor(%x, %r)
  %y: float32[2, 3, 4] = aten::mul.Tensor(%n, %w)
)";
  const Compiled r = compile(text + "  return %y", kAll);
  EXPECT_EQ(r.kinds(), "RmsNorm");
  EXPECT_EQ(compile(text + "  return %y, %n", kAll).kinds(), "RmsNorm Multiply");
  EXPECT_EQ(compile(text + "  return %y, %r", kAll).kinds(),
            "Square FullyConnected Add ReciprocalSquareRoot Multiply Multiply");
}

TEST(TaperNodes, ALayerNormInPrimitiveOperatorsIsOneNode) {
  const std::string text =
      std::string(kEntries) + R"(  %m: float32[2, 3, 1] = aten::mean.dim(%x, [-1], True)
  %c: float32[2, 3, 4] = aten::sub.Tensor(%x, %m)
  %q: float32[2, 3, 4] = aten::pow.Tensor_Scalar(%c, 2)
  %a: float32[2, 3, 1] = aten::mean.dim(%q, [-1], True)
  %e: float32[2, 3, 1] = aten::add.Scalar(%a, 0.25)
  %r: float32[2, 3, 1] = aten::rsqrt(%e)
  %n: float32[2, 3, 4] = aten::mul.Tensor(%c, %r)
  %p: float32[2, 3, 4] = aten::mul.Tensor(%n, %w)
  %y: float32[2, 3, 4] = aten::add.Tensor(%p, %b)
)";
  EXPECT_EQ(compile(text + "  return %y", kAll).kinds(), "LayerNorm");
  EXPECT_EQ(compile(text + "  return %y, %c", kAll).kinds(), "FullyConnected Subtract RmsNorm");
}

TEST(TaperNodes, ForExecutorchNoResultIsWithoutDimensions) {
  const std::string text = R"(  input %x: float32[4, 64]
  input %w: float32[64, 64]
  %m: float32[4, 64] = aten::mm(%x, %w)
  %s: float32[] = aten::mean.dim(%m, [0, 1], False)
  %y: float32[] = aten::tanh(%s)
  return %m, %y
)";
  exir::PartitionOptions options;
  EXPECT_TRUE(compile(text, options).outside.empty());
  options.for_executorch = true;
  const Compiled r = compile(text, options);
  ASSERT_EQ(r.outside.size(), 2u);
  for (const std::string& why : r.outside) {
    EXPECT_NE(why.find("ExecuTorch takes no result without dimensions"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace taper::xnnpack
