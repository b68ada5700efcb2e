// Tests which images the rules of windows take.

#include <gtest/gtest.h>

#include <sstream>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

// As many numbers as a tensor of these sizes has.
std::string numbers(const std::string& sizes) {
  int count = 1;
  std::istringstream in(sizes);
  for (std::string size; std::getline(in, size, ',');) count *= std::stoi(size);
  std::string text = "1";
  while (--count > 0) text += ", 1";
  return text;
}

TEST(WindowRules, ImagesToResizeHaveAFixedNumberOfChannels) {
  const auto outside = [](const std::string& sizes) {
    return compile("  range s0 = [1, 8]\n  input %i: float32[" + sizes + ", 4, 4]\n  %x: float32[" +
                   sizes + ", 4, 4] = aten::tanh(%i)\n  %y: float32[" + sizes +
                   ", 8, 8] = aten::upsample_bilinear2d.vec(%x, [8, 8], False, None)\n  return %y")
        .outside;
  };
  EXPECT_EQ(outside("s0, 3"), std::vector<std::string>());
  EXPECT_EQ(outside("1, s0").back(),
            "aten::upsample_bilinear2d.vec: the number of channels is dynamic");
}

TEST(WindowRules, MaxPoolsHaveAFixedNumberOfChannels) {
  const auto outside = [](const std::string& sizes) {
    return compile("  range s0 = [1, 8]\n  input %i: float32[" + sizes + ", 4, 4]\n  %x: float32[" +
                       sizes + ", 4, 4] = aten::tanh(%i)\n  %y: float32[" + sizes +
                       ", 2, 2], %j: int64[" + sizes +
                       ", 2, 2] = aten::max_pool2d_with_indices(%x, [2, 2], [2, 2])\n  return %y",
                   kAll)
        .outside;
  };
  EXPECT_EQ(outside("s0, 3"), std::vector<std::string>());
  EXPECT_EQ(outside("1, s0").back(),
            "aten::max_pool2d_with_indices: the number of channels is dynamic");
}

// A program that convolves a volume of 2 channels, which is followed by a clamp.
Compiled volume(const std::string& x, const std::string& w, const std::string& y,
                const std::string& options) {
  return compile("  range s0 = [1, 8]\n  input %x: float32[" + x + "]\n  constant %w: float32[" +
                 w + "] = {" + numbers(w) + "}\n  %c: float32[" + y +
                 "] = aten::convolution(%x, %w, None, " + options + ")\n  %y: float32[" + y +
                 "] = aten::relu(%c)\n  return %y");
}

// The asterisk is the clamp, which the convolution takes through the reshape after it.
TEST(WindowRules, AVolumeIsSlicesOrColumnsOrGathersSlices) {
  const auto kinds = [](const std::string& w, const std::string& y, const std::string& options) {
    return volume("1, 2, 4, 3, 5", w, y, options).kinds();
  };
  EXPECT_EQ(kinds("3, 2, 1, 3, 3", "1, 3, 4, 3, 5",
                  "[1, 1, 1], [0, 1, 1], [1, 1, 1], False, [0, 0, 0], 1"),
            "Transpose Reshape Conv2d* Reshape Transpose");
  EXPECT_EQ(kinds("3, 2, 3, 1, 1", "1, 3, 4, 3, 5",
                  "[1, 1, 1], [1, 0, 0], [1, 1, 1], False, [0, 0, 0], 1"),
            "Transpose Reshape Conv2d* Reshape Transpose");
  EXPECT_EQ(kinds("3, 2, 2, 1, 2", "1, 3, 3, 3, 4",
                  "[1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1"),
            "Transpose Slice Reshape Slice Reshape Concatenate2 Conv2d* Reshape Transpose");
}

TEST(WindowRules, AVolumeWhoseChannelsAreGroupsIsASumOverSlices) {
  const auto kinds = [](const std::string& w, const std::string& y, const std::string& options) {
    return volume("1, 2, 4, 3, 5", w, y, options).kinds();
  };
  EXPECT_EQ(kinds("2, 1, 1, 3, 3", "1, 2, 4, 3, 5",
                  "[1, 1, 1], [0, 1, 1], [1, 1, 1], False, [0, 0, 0], 2"),
            "Transpose Reshape DepthwiseConv2d* Reshape Transpose");
  EXPECT_EQ(kinds("2, 1, 2, 1, 2", "1, 2, 3, 3, 4",
                  "[1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 2"),
            "Transpose Slice Reshape Slice Reshape DepthwiseConv2d DepthwiseConv2d Add* Reshape "
            "Transpose");
}

// A window of three slices makes two at a time, one of them by two slices, and the other by one.
TEST(WindowRules, ATransposedConvolutionOfAVolumeMakesSeveralSlicesAtATime) {
  EXPECT_EQ(volume("1, 2, 4, 3, 5", "2, 3, 2, 2, 2", "1, 3, 8, 6, 10",
                   "[2, 2, 2], [0, 0, 0], [1, 1, 1], True, [0, 0, 0], 1")
                .kinds(),
            "Transpose Reshape ConvTranspose2d Reshape Transpose Reshape Clamp* Transpose");
  EXPECT_EQ(volume("1, 2, 4, 3, 5", "2, 3, 3, 1, 1", "1, 3, 8, 3, 5",
                   "[2, 1, 1], [1, 0, 0], [1, 1, 1], True, [1, 0, 0], 1")
                .kinds(),
            "Transpose ConstantPad Slice Reshape Slice Reshape Concatenate2 ConvTranspose2d "
            "ConvTranspose2d Concatenate2 Reshape Transpose Reshape Slice Clamp* Transpose");
}

TEST(WindowRules, VolumesThatStayOutside) {
  const auto why = [](const std::string& x, const std::string& w, const std::string& y,
                      const std::string& options) { return volume(x, w, y, options).outside[0]; };
  EXPECT_EQ(why("1, 2, 4, s0, 5", "3, 2, 1, 1, 1", "1, 3, 4, s0, 5",
                "[1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1"),
            "aten::convolution: a size is dynamic");
  EXPECT_EQ(why("1, 2, 1, 1, 1", "2, 1, 1, 1, 1", "1, 2, 1, 1, 1",
                "[1, 1, 1], [0, 0, 0], [1, 1, 1], True, [0, 0, 0], 2"),
            "aten::convolution: it is transposed, of a volume in groups");
  EXPECT_EQ(why("1, 4, 2, 1, 2", "4, 2, 2, 1, 2", "1, 4, 1, 1, 1",
                "[1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 2"),
            "aten::convolution: it is of a volume in groups, which a kernel computes faster");
  EXPECT_EQ(why("1, 2, 2, 1, 1", "2, 3, 2, 1, 1", "1, 3, 4, 1, 1",
                "[1, 1, 1], [0, 0, 0], [2, 1, 1], True, [0, 0, 0], 1"),
            "aten::convolution: it is transposed, of a volume with a dilated window");
  EXPECT_EQ(why("1, 2, 2, 1, 1", "2, 3, 2, 1, 1", "1, 3, 5, 1, 1",
                "[3, 1, 1], [0, 0, 0], [1, 1, 1], True, [0, 0, 0], 1"),
            "aten::convolution: it is transposed, of a volume with gaps between windows");
}

}  // namespace
}  // namespace taper::xnnpack
