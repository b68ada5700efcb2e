#include "exir/passes/simplify/trim_windows.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ir/scales.h"

namespace taper::exir {
namespace {

std::unique_ptr<Graph> trimmed(const std::string& body, int count) {
  auto graph = parse_body(body);
  EXPECT_EQ(trim_windows(*graph), count);
  verify(*graph, Dialect::kAten);
  return graph;
}

std::string run(const std::string& body, int count) { return print_body(*trimmed(body, count)); }

// Of a window of 3 x 3 with dilation 2 over an image of 2 x 4, no result sees the rows above and
// below. The first and last columns are seen.
TEST(TrimWindows, CutsRowsThatLieInThePadding) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 1, 2, 4]
  constant %w: float32[1, 1, 3, 3] "conv.weight" = {1, 2, 3, 4, 5, 6, 7, 8, 9}
  %y: float32[1, 1, 2, 4] = aten::convolution(%x, %w, None, [1], [2], [2], False, [0], 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 1, 2, 4]
  constant %w_trimmed: float32[1, 1, 1, 3] "conv.weight.w_trimmed" = {4, 5, 6}
  %convolution: float32[1, 1, 2, 4] = aten::convolution(%x, %w_trimmed, None, [1, 1], [0, 2], [1, 2], False, [0], 1)
  return %convolution
)");
}

// With stride 2 over a depth of 2 only the first of three taps is cut: 2 + 2 * 0 - 1 = 1 is
// the place of the only result.
TEST(TrimWindows, CutsOneEndIfTheResultsStayWhereTheyAre) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 1, 2, 1]
  constant %w: float32[2, 1, 3, 1] = {1, 2, 3, 4, 5, 6}
  %y: float32[1, 2, 1, 1] = aten::convolution(%x, %w, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 1, 2, 1]
  constant %w_trimmed: float32[2, 1, 2, 1] = {2, 3, 5, 6}
  %convolution: float32[1, 2, 1, 1] = aten::convolution(%x, %w_trimmed, None, [2, 1], [0, 0], [1, 1], False, [0, 0], 1)
  return %convolution
)");
}

// Of four taps, with one pixel between paddings of 2, the two results read taps 2 and 1.
TEST(TrimWindows, CutsBothEndsOfAnEvenWindow) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 1, 1]
  constant %w: float32[1, 1, 4] = {1, 2, 3, 4}
  %y: float32[1, 1, 2] = aten::convolution(%x, %w, None, [1], [2], [1], False, [0], 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 1, 1]
  constant %w_trimmed: float32[1, 1, 2] = {2, 3}
  %convolution: float32[1, 1, 2] = aten::convolution(%x, %w_trimmed, None, [1], [1], [1], False, [0], 1)
  return %convolution
)");
}

TEST(TrimWindows, IntegersStayIntegers) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 1, 1]
  constant %w: float32[2, 1, 3] = {1, 2, 3, 8, 10, 12}
  %y: float32[1, 2, 1] = aten::convolution(%x, %w, None, [1], [1], [1], False, [0], 1)
  return %y
})");
  auto scales = std::make_shared<Scales>();
  scales->integers = own_bytes({1, 2, 3, 4, 5, 6});
  scales->dtype = ScalarType::kChar;
  scales->items = {1, 2};
  scales->span = 3;
  graph->constants[0]->scales = scales;
  EXPECT_EQ(trim_windows(*graph), 1);
  ASSERT_EQ(graph->constants.size(), 1u);
  const Value& weight = *graph->constants[0];
  ASSERT_NE(weight.scales, nullptr);
  EXPECT_EQ(weight.scales->items, (std::vector<float>{1, 2}));
  const TensorData elements = elements_of(weight);
  ASSERT_EQ(elements.bytes, 2 * sizeof(float));
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  EXPECT_EQ(floats[0], 2);
  EXPECT_EQ(floats[1], 10);
}

// Taps that single results read, results that are all padding, dynamic sizes, transposed windows.
TEST(TrimWindows, KeepsTheRest) {
  const auto kept = [](const std::string& x, const std::string& y, const std::string& options) {
    trimmed("  input %x: float32[1, 1, " + x +
                "]\n  constant %w: float32[1, 1, 3] = {1, 2, 3}\n  %y: float32[1, 1, " + y +
                "] = aten::convolution(%x, %w, None, " + options + ", [0], 1)\n  return %y",
            0);
  };
  kept("2", "2", "[1], [1], [1], False");
  kept("1", "1", "[9], [4], [3], False");
  kept("s0", "s0", "[1], [1], [1], False");
  kept("1", "3", "[1], [0], [1], True");
}

}  // namespace
}  // namespace taper::exir
