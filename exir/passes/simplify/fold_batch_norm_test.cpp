#include "exir/passes/simplify/fold_batch_norm.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ir/scales.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  fold_batch_norm(*graph);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

// Scales are 2 / sqrt(4) = 1 and 3 / sqrt(9) = 1 with eps 0, then -1 and 0.5.
TEST(FoldBatchNorm, ScalesWeightAndBias) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 2, 4]
  constant %w: float32[2, 2, 1] "conv.weight" = {1, 2, 3, 4}
  constant %b: float32[2] "conv.bias" = {10, 20}
  constant %g: float32[2] = {-2, 1.5}
  constant %h: float32[2] = {1, 2}
  constant %mean: float32[2] = {3, 4}
  constant %var: float32[2] = {4, 9}
  %c: float32[1, 2, 4] = aten::convolution(%x, %w, %b, [1], [0], [1], False, [0], 1)
  %y: float32[1, 2, 4], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%c, %g, %h, %mean, %var, 0.1, 0.0)
  return %y)"),
            R"(  input %x: float32[1, 2, 4]
  constant %w_folded: float32[2, 2, 1] "conv.weight.w_folded" = {-1, -2, 1.5, 2}
  constant %b_folded: float32[2] "conv.bias.b_folded" = {-6, 10}
  %convolution: float32[1, 2, 4] = aten::convolution(%x, %w_folded, %b_folded, [1], [0], [1], False, [0], 1)
  return %convolution
)");
}

// A transposed weight is [in, out / groups, ...]: with two groups, row 1 makes channels 2 and 3.
TEST(FoldBatchNorm, TransposedAndGroupedWithoutBias) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 2, 1]
  constant %w: float32[2, 2, 1] = {1, 1, 1, 1}
  constant %g: float32[4] = {1, 2, 3, 4}
  constant %mean: float32[4] = {1, 1, 1, 1}
  constant %var: float32[4] = {1, 1, 1, 1}
  %c: float32[1, 4, 1] = aten::convolution(%x, %w, None, [1], [0], [1], True, [0], 2)
  %y: float32[1, 4, 1], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%c, %g, None, %mean, %var, 0.1, 0.0)
  return %y)"),
            R"(  input %x: float32[1, 2, 1]
  constant %w_folded: float32[2, 2, 1] = {1, 2, 3, 4}
  constant %mean_folded: float32[4] = {-1, -2, -3, -4}
  %convolution: float32[1, 4, 1] = aten::convolution(%x, %w_folded, %mean_folded, [1], [0], [1], True, [0], 2)
  return %convolution
)");
}

// The folded weight of a convolution whose weight {1, 2, 3, 4} is stored as integers.
const Value* folded_integers(Graph& graph, std::vector<float> items, size_t span) {
  Value* weight = graph.constants.at(0);
  auto scales = std::make_shared<Scales>();
  scales->items = std::move(items);
  scales->span = span;
  scales->zero_points.assign(scales->items.size(), 1);
  scales->integers = own_bytes({2, 3, 4, 5});
  weight->scales = scales;
  weight->data.data = nullptr;
  EXPECT_EQ(fold_batch_norm(graph), 1);
  return graph.nodes.at(0)->arg("weight").value();
}

TEST(FoldBatchNorm, IntegersStayAndScalesAreMultiplied) {
  const auto text = [](bool transposed) {
    return std::string("graph \"g\" {\n  input %x: float32[1, 2, 4]\n") +
           R"(  constant %w: float32[2, 2, 1] = {1, 2, 3, 4}
  constant %g: float32[2] = {-2, 1.5}
  constant %mean: float32[2] = {3, 4}
  constant %var: float32[2] = {4, 9}
  %c: float32[1, 2, 4] = aten::convolution(%x, %w, None, [1], [0], [1], )" +
           (transposed ? "True" : "False") + R"(, [0], 1)
  %y: float32[1, 2, 4], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%c, %g, None, %mean, %var, 0.1, 0.0)
  return %y
})";
  };
  // Factors are -1 and 0.5: for each row of a weight, or each column of a transposed one.
  struct {
    bool transposed;
    std::vector<float> items;
    size_t span;
    std::vector<float> folded;
    size_t folded_span;
  } const cases[] = {{false, {1}, 4, {-1, 0.5}, 2},
                     {false, {3, 4}, 2, {-3, 2}, 2},
                     {false, {3, 4, 6, 8}, 1, {-3, -4, 3, 4}, 1},
                     {true, {1}, 4, {-1, 0.5}, 1},
                     {true, {3, 4}, 1, {-3, 2}, 1}};
  for (const auto& each : cases) {
    const auto graph = parse_graph(text(each.transposed));
    const Value* weight = folded_integers(*graph, each.items, each.span);
    ASSERT_NE(weight->scales, nullptr);
    EXPECT_EQ(weight->scales->items, each.folded);
    EXPECT_EQ(weight->scales->span, each.folded_span);
    EXPECT_EQ(weight->scales->zero_points, std::vector<float>(each.folded.size(), 1));
  }
  // Scales of input channels are not those of a channel: the weight becomes floats.
  const auto graph = parse_graph(text(true));
  const Value* weight = folded_integers(*graph, {3, 4}, 2);
  EXPECT_EQ(weight->scales, nullptr);
  const auto* floats = reinterpret_cast<const float*>(weight->data.data);
  EXPECT_EQ(std::vector<float>(floats, floats + 4), (std::vector<float>{-3, 3, -12, 8}));
}

// Scales are 2 and 3, means 1 and 2.
TEST(FoldBatchNorm, RowsOfALinearLayer) {
  constexpr char kParameters[] = R"(  input %x: float32[2, 3, 1]
  constant %w: float32[2, 1] = {10, 100}
  constant %b: float32[2] = {5, 7}
  constant %g: float32[2] = {2, 3}
  constant %h: float32[2] = {0, 1}
  constant %mean: float32[2] = {1, 2}
  constant %var: float32[2] = {1, 1}
  %c: float32[2, 3, 2] = aten::linear(%x, %w, %b)
)";
  EXPECT_EQ(run(std::string(kParameters) +
                R"(  %r: float32[6, 2] = aten::view_copy(%c, [6, 2])
  %y: float32[6, 2], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%r, %g, %h, %mean, %var, 0.1, 0.0)
  return %y)"),
            R"(  input %x: float32[2, 3, 1]
  constant %w_folded: float32[2, 1] = {20, 300}
  constant %b_folded: float32[2] = {8, 16}
  %linear: float32[2, 3, 2] = aten::linear(%x, %w_folded, %b_folded)
  %view_copy: float32[6, 2] = aten::view_copy(%linear, [6, 2])
  return %view_copy
)");
  // Here tokens are normalised, not features.
  const std::string kept = run(std::string(kParameters) +
                               R"(  %r: float32[3, 2, 2] = aten::view_copy(%c, [3, 2, 2])
  %y: float32[3, 2, 2], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%r, %g, %h, %mean, %var, 0.1, 0.0)
  return %y)");
  EXPECT_NE(kept.find("aten::_native_batch_norm"), std::string::npos);
}

// The first convolution makes channel 0, the second channels 1 and 2.
TEST(FoldBatchNorm, PartsOfAConcatenation) {
  const auto body = [](const std::string& last) {
    return R"(  input %x: float32[1, 1, 4]
  constant %w: float32[1, 1, 1] = {1}
  constant %u: float32[2, 1, 1] = {2, 3}
  constant %b: float32[2] = {1, 1}
  constant %mean: float32[3] = {1, 2, 3}
  constant %var: float32[3] = {1, 4, 1}
  %p: float32[1, 1, 4] = aten::convolution(%x, %w, None, [1], [0], [1], False, [0], 1)
  %q: float32[1, 2, 4] = aten::convolution(%x, %u, %b, [1], [0], [1], False, [0], 1)
  %c: float32[1, 3, 4] = aten::cat([%p, %q], 1)
  %y: float32[1, 3, 4], %m: float32[0], %v: float32[0] = aten::_native_batch_norm_legit_no_training(%c, None, None, %mean, %var, 0.1, 0.0)
  return )" +
           last;
  };
  EXPECT_EQ(run(body("%y")), R"(  input %x: float32[1, 1, 4]
  constant %w_folded: float32[1, 1, 1] = {1}
  constant %mean_folded: float32[1] = {-1}
  constant %u_folded: float32[2, 1, 1] = {1, 3}
  constant %b_folded: float32[2] = {-0.5, -2}
  %convolution: float32[1, 1, 4] = aten::convolution(%x, %w_folded, %mean_folded, [1], [0], [1], False, [0], 1)
  %convolution_1: float32[1, 2, 4] = aten::convolution(%x, %u_folded, %b_folded, [1], [0], [1], False, [0], 1)
  %cat: float32[1, 3, 4] = aten::cat([%convolution, %convolution_1], 1)
  return %cat
)");
  EXPECT_NE(run(body("%y, %q")).find("aten::_native_batch_norm"), std::string::npos);
}

TEST(FoldBatchNorm, KeepsAConvolutionThatOthersUse) {
  const std::string text =
      "  input %x: float32[1, 1, 1]\n"
      "  constant %w: float32[1, 1, 1] = {1}\n"
      "  constant %s: float32[1] = {1}\n"
      "  %c: float32[1, 1, 1] = aten::convolution(%x, %w, None, [1], [0], [1], False, [0], 1)\n"
      "  %y: float32[1, 1, 1], %m: float32[0], %v: float32[0] = "
      "aten::_native_batch_norm_legit_no_training(%c, None, None, %s, %s, 0.1, 1e-05)\n"
      "  return %y, %c\n";
  EXPECT_EQ(run(text), text);
}

}  // namespace
}  // namespace taper::exir
