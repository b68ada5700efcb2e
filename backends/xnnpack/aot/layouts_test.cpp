// Tests in which layouts tensors are stored, and where they are transposed.

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

// "1, 1, 1"
std::string ones(size_t count) {
  std::string text = "1";
  while (--count > 0) text += ", 1";
  return text;
}

TEST(Layouts, ARunOfImagesStaysChannelsLast) {
  const Compiled r = compile(std::string(kConv) +
                             "  constant %s: float32[4, 1, 1] = {1, 2, 3, 4}\n"
                             "  %m: float32[1, 4, 8, 8] = aten::mul.Tensor(%c, %s)\n"
                             "  %k: float32[1, 8, 8, 8] = aten::cat([%m, %c], 1)\n"
                             "  %p: float32[1, 8, 1, 1] = aten::mean.dim(%k, [2, 3], True)\n"
                             "  %v: float32[1, 8] = aten::view_copy(%p, [1, 8])\n  return %v");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d Multiply Concatenate2 GlobalAvgPool2d Reshape");
}

TEST(Layouts, BlocksOfPixelsBecomeChannelsWhereTheyLie) {
  const Compiled r = compile(std::string(kConv) +
                             "  %s: float32[1, 1, 16, 16] = aten::pixel_shuffle(%c, 2)\n"
                             "  %t: float32[1, 1, 16, 16] = aten::sigmoid(%s)\n"
                             "  %y: float32[1, 4, 8, 8] = aten::pixel_unshuffle(%t, 2)\n"
                             "  %z: float32[1, 4, 8, 8] = aten::tanh(%y)\n  return %z");
  EXPECT_EQ(r.kinds(),
            "Transpose Conv2d Reshape Transpose Reshape Sigmoid Reshape Transpose Reshape Tanh "
            "Transpose");
}

// Slices and concatenations along the width, then along the height.
TEST(Layouts, PadsOfEdgesAreSlicesOfImages) {
  const Compiled r =
      compile(std::string(kConv) +
              "  %p: float32[1, 4, 10, 11] = aten::reflection_pad2d(%c, [2, 1, 1, 1])\n"
              "  %z: float32[1, 4, 10, 11] = aten::tanh(%p)\n  return %z");
  EXPECT_EQ(r.kinds(),
            "Transpose Conv2d Slice Slice Concatenate2 Slice Concatenate3 Slice Slice Concatenate3 "
            "Tanh Transpose");
}

TEST(Layouts, WidePadsOfEdgesStayOutside) {
  const Compiled r =
      compile(std::string(kConv) +
              "  %p: float32[1, 4, 8, 25] = aten::replication_pad2d(%c, [9, 8, 0, 0])\n"
              "  %z: float32[1, 4, 8, 25] = aten::tanh(%p)\n  return %z");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d Transpose");
}

// Pools of everything that is reduced, of images alone.
TEST(Layouts, TheLargestElementsOfImagesArePools) {
  const Compiled r = compile(std::string(kConv) +
                             "  %t: float32[1, 4, 8, 8] = aten::relu(%c)\n"
                             "  %m: float32[1, 4] = aten::amax(%t, [2, 3])\n"
                             "  %v: float32[1, 4, 8], %i: int64[1, 4, 8] = aten::max.dim(%t, 3)\n"
                             "  %y: float32[1, 4, 8] = aten::tanh(%v)\n  return %m, %y");
  EXPECT_EQ(r.kinds(),
            "Transpose Conv2d* Reshape MaxPool2d Reshape Reshape MaxPool2d Reshape Tanh Transpose");
}

TEST(Layouts, BlocksThatBecomePixelsAgainAreNotMoved) {
  const Compiled r = compile(std::string(kConv) +
                             "  %s: float32[1, 1, 16, 16] = aten::pixel_shuffle(%c, 2)\n"
                             "  %y: float32[1, 4, 8, 8] = aten::pixel_unshuffle(%s, 2)\n"
                             "  %z: float32[1, 4, 8, 8] = aten::tanh(%y)\n  return %z");
  EXPECT_EQ(r.kinds(), "Transpose Conv2d Tanh Transpose");
}

TEST(Layouts, LargePatchesAreRowsOfALinearLayer) {
  const auto kinds = [](const char* stride, const char* sizes) {
    const std::string text =
        "  input %x: float32[1, 3, 32, 48]\n  constant %w: float32[1, 3, 16, 16] = {" +
        ones(3 * 16 * 16) + "}\n  constant %b: float32[1] = {1}\n  %c: float32" + sizes +
        " = aten::convolution(%x, %w, %b, " + stride +
        ", [0, 0], [1, 1], False, [0, 0], 1)\n  %y: float32" + sizes +
        " = aten::relu(%c)\n  return %y";
    return compile(text).kinds();
  };
  EXPECT_EQ(kinds("[16, 16]", "[1, 1, 2, 3]"), "Reshape Transpose Reshape FullyConnected* Reshape");
  EXPECT_EQ(kinds("[16, 8]", "[1, 1, 2, 5]"), "Transpose Conv2d* Reshape");
}

TEST(Layouts, TokensThatAreConvolvedAsPixelsStayWhereTheyAre) {
  const Compiled r = compile(R"(  input %x: float32[1, 64, 4]
  constant %w: float32[4, 4, 1, 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
  constant %b: float32[4] = {1, 2, 3, 4}
  %t: float32[1, 4, 64] = aten::permute_copy(%x, [0, 2, 1])
  %i: float32[1, 4, 8, 8] = aten::view_copy(%t, [1, 4, 8, 8])
  %c: float32[1, 4, 8, 8] = aten::convolution(%i, %w, %b, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %f: float32[1, 4, 64] = aten::view_copy(%c, [1, 4, 64])
  %y: float32[1, 64, 4] = aten::permute_copy(%f, [0, 2, 1])
  %z: float32[1, 64, 4] = aten::tanh(%y)
  return %z)");
  EXPECT_EQ(r.kinds(), "Reshape Conv2d Reshape Tanh");
}

TEST(Layouts, AGroupNormStaysAnImage) {
  const std::string text = std::string(kConv) + R"(  constant %g: float32[4] = {1, 2, 3, 4}
  %y: float32[1, 4, 8, 8], %s: float32[1, 2], %t: float32[1, 2] = aten::native_group_norm(%c, %g, %b, 1, 4, 64, 2, 1e-5)
  %z: float32[1, 4, 8, 8] = aten::relu(%y)
  return %z)";
  EXPECT_EQ(compile(text).kinds(), "Transpose Conv2d ImageGroupNorm* Transpose");
  EXPECT_EQ(compile(text, {exir::Groups::kAll, true}).kinds(),
            "Transpose Conv2d GlobalAvgPool2d Reshape FullyConnected Multiply Reshape "
            "Subtract Square GlobalAvgPool2d Reshape FullyConnected Multiply Reshape "
            "Add ReciprocalSquareRoot Multiply Multiply Add* Transpose");
}

TEST(Layouts, EveryOtherElementIsARowOfATransposeThatIsMadeOnce) {
  const Compiled r = compile(R"(  input %x: float32[64, 128]
  %a: float32[64, 64] = aten::slice_copy.Tensor(%x, 1, 0, 9223372036854775807, 2)
  %b: float32[64, 64] = aten::slice_copy.Tensor(%x, 1, 1, 9223372036854775807, 2)
  %y: float32[64, 64] = aten::mul.Tensor(%a, %b)
  return %y)");
  EXPECT_EQ(r.kinds(), "Reshape Transpose Slice Reshape Slice Reshape Multiply");
}

}  // namespace
}  // namespace taper::xnnpack
