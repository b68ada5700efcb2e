// Tests which images the rules of windows take.

#include <gtest/gtest.h>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

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

}  // namespace
}  // namespace taper::xnnpack
