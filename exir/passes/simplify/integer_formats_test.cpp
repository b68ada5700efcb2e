#include "exir/passes/simplify/integer_formats.h"

#include <gtest/gtest.h>

#include "exir/ir/scales.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::vector<float> elements(const std::string& body) {
  const auto graph = parse_graph("graph \"g\" {\n" + body + "\n  return %y\n}");
  const Node& node = *graph->nodes.at(0);
  EXPECT_TRUE(has_integer_format(node));
  const auto scales = integers_of_format(node);
  if (scales == nullptr) return {};
  const TensorData data = elements_of(*scales);
  const auto* floats = reinterpret_cast<const float*>(data.data);
  return {floats, floats + data.bytes / sizeof(float)};
}

// Two rows of two groups of two: 1, 2 | 3, 4 and 5, 6 | 7, 15; scales and zero points by group.
TEST(IntegerFormats, AnInt4TensorHasScalesByColumn) {
  EXPECT_EQ(elements(R"(  constant %q: uint8[2, 2] = {33, 67, 101, 247}
  constant %s: float32[2, 2] = {1, 2, 0.5, 4}
  constant %z: float32[2, 2] = {1, 0, 2, 8}
  %y: float32[2, 4] = torchao::dequantize_int4_tensor(%q, %s, %z, 2, float32))"),
            (std::vector<float>{0, 1, 0.5, 1, 10, 12, -4, 28}));
}

TEST(IntegerFormats, GroupsThatDoNotFillRowsAreNotTaken) {
  EXPECT_TRUE(elements(R"(  constant %q: uint8[2, 2] = {33, 67, 101, 247}
  constant %s: float32[2, 2] = {1, 2, 0.5, 4}
  constant %z: float32[2, 2] = {1, 0, 2, 8}
  %y: float32[2, 4] = torchao::dequantize_int4_tensor(%q, %s, %z, 3, float32))")
                  .empty());
}

std::string blob(const std::vector<int>& bytes) {
  std::string text = "  constant %w: uint8[1, " + std::to_string(bytes.size()) + "] = {";
  for (size_t i = 0; i < bytes.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(bytes[i]);
  return text + "}\n";
}

// d = 1, dmin = 0.5 in float16. Group 0 has the scale 2 and the minimum 4, group 4 the scale 33 and
// the minimum 18, whose upper bits lie in those of groups 0: 0x20 = 2 << 4 and 1 << 4.
TEST(IntegerFormats, ABlockOfFourBitsHasScalesAndMinima) {
  std::vector<int> block(144, 0);
  block[1] = 0x3c;
  block[3] = 0x38;
  block[4] = 2 | 2 << 6;   // Scale 0; bits 4 and 5 of scale 4.
  block[8] = 4 | 1 << 6;   // Minimum 0; bits 4 and 5 of minimum 4.
  block[12] = 1 | 2 << 4;  // Lower bits of scale 4 and minimum 4.
  block[16] = 3 | 5 << 4;  // Elements 0 and 32.
  block[16 + 64] = 7;      // Element 128.
  const std::vector<float> y = elements(
      blob(block) + "  %y: float32[1, 256] = torchao::dequantize_gguf(%w, \"q4_k\", float32)");
  ASSERT_EQ(y.size(), 256u);
  EXPECT_EQ(y[0], 2 * 3 - 0.5f * 4);
  EXPECT_EQ(y[1], -0.5f * 4);
  EXPECT_EQ(y[32], 0);
  EXPECT_NEAR(y[128], 33 * 7 - 0.5f * 18, 1e-4);
}

// Element 0 is 5 + 2 * 16 - 32, of scale -3; element 96 is 1 + 3 * 16 - 32, of scale 4.
TEST(IntegerFormats, ABlockOfSixBitsHasScalesWithASign) {
  std::vector<int> block(210, 0);
  block[0] = 5;
  block[128] = 2 | 3 << 6;
  block[32] = 1 << 4;
  block[192] = 256 - 3;
  block[192 + 6] = 4;
  block[209] = 0x3c;
  const std::vector<float> y = elements(
      blob(block) + "  %y: float32[1, 256] = torchao::dequantize_gguf(%w, \"q6_k\", float32)");
  ASSERT_EQ(y.size(), 256u);
  EXPECT_EQ(y[0], -3 * 5);
  EXPECT_EQ(y[96], 4 * 17);
}

}  // namespace
}  // namespace taper::exir
