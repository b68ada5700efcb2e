#include "exir/passes/kernels/pack_weights.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"
#include "exir/passes/simplify/fold_constants.h"

namespace taper::exir {
namespace {

// A convolution with filters of integers of so many bits, packed.
std::string packed(int bits, bool has_kernel) {
  std::string integers;
  for (int i = 0; i < 8 * 144; ++i) {
    if (i != 0) integers += ", ";
    integers += std::to_string(i * 7 % (1 << bits) - (1 << (bits - 1)));
  }
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 16, 5, 5]
  constant %q: int8[8, 16, 3, 3] = {)" +
                                 integers + R"(}
  constant %s: float32[8] = {1, 2, 3, 4, 5, 6, 7, 8}
  constant %z: int64[8] = {0, 1, 0, -1, 0, 0, 0, 0}
  %w: float32[8, 16, 3, 3] = quantized_decomposed::dequantize_per_channel(%q, %s, %z, 0, -128, 127, int8)
  %y: float32[1, 8, 3, 3] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  return %y
})");
  fold_constants(*graph);
  pack_weights(*graph, [&](std::string_view, const Node&) { return has_kernel; });
  return print(*graph);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(PackWeights, FiltersOfFewBitsAreRowsOfATable) {
  const std::string four = packed(4, true);
  EXPECT_TRUE(has(four, "uint8[8, 72]")) << four;
  EXPECT_TRUE(has(four, "quantized_decomposed::embedding_4bit(")) << four;
  EXPECT_TRUE(has(four, "float32[8, 16, 3, 3] = aten::view_copy(")) << four;
  const std::string two = packed(2, true);
  EXPECT_TRUE(has(two, "uint8[8, 36]")) << two;
  EXPECT_TRUE(has(two, "quantized_decomposed::embedding_2bit(")) << two;
}

TEST(PackWeights, FiltersOfBytesAndThoseWithoutAKernelStayBytes) {
  for (const std::string& text : {packed(8, true), packed(4, false)}) {
    EXPECT_TRUE(has(text, "int8[8, 144]")) << text;
    EXPECT_TRUE(has(text, "quantized_decomposed::dequantize_per_channel(")) << text;
  }
}

}  // namespace
}  // namespace taper::exir
