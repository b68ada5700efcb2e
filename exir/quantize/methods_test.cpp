// Balance and bias correction on cases computed by hand, and measures of differences.

#include <gtest/gtest.h>

#include <cmath>

#include "exir/ops/builtin.h"
#include "exir/quantize/balance.h"
#include "exir/quantize/bias_correction.h"
#include "exir/quantize/measure.h"

namespace taper::exir {
namespace {

TEST(Balance, FactorsAreSquareRootsOfRatios) {
  // Ratios 4 and 1/4, whose geometric mean is 1.
  const std::vector<double> factors = balance_factors({4, 1}, {1, 4});
  EXPECT_NEAR(factors[0], 2, 1e-12);
  EXPECT_NEAR(factors[1], 0.5, 1e-12);
  // What is never seen, or never used, keeps its scale.
  EXPECT_NEAR(balance_factors({0, 2}, {1, 2})[0], 1, 1e-12);
  EXPECT_NEAR(balance_factors({3, 2}, {0, 2})[0], 1, 1e-12);
}

std::unique_ptr<Graph> two_layers(const std::string& between) {
  return parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %w1: float32[2, 2] "a.weight" = {1, 2, 3, 4}
  constant %b1: float32[2] "a.bias" = {4, 8}
  constant %w2: float32[1, 2] "b.weight" = {1, 4}
  %y: float32[1, 2] = aten::linear(%x, %w1, %b1)
)" + between + R"(
  %z: float32[1, 1] = aten::linear(%r, %w2, None)
  return %z
})");
}

TEST(Balance, MovesScaleAcrossARelu) {
  const auto graph = two_layers("  %r: float32[1, 2] = aten::relu(%y)");
  const Sites sites = find_sites(*graph);
  const std::vector<BalanceSite> found = equalisation_sites(*graph, sites);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tensor, "r");
  Calibration calibration;
  calibration.channels["r"].largest = {4, 1};
  const NewConstants now = balanced(found, calibration);  // Factors 2 and 1/2.
  EXPECT_EQ(now.at("w1"), (std::vector<float>{0.5f, 1, 6, 8}));
  EXPECT_EQ(now.at("b1"), (std::vector<float>{2, 16}));
  EXPECT_EQ(now.at("w2"), (std::vector<float>{2, 2}));
}

TEST(Balance, DoesNotCrossOtherActivations) {
  for (const char* op : {"aten::relu6(%y)", "aten::sigmoid(%y)", "aten::hardtanh(%y)"}) {
    const auto graph = two_layers(std::string("  %r: float32[1, 2] = ") + op);
    EXPECT_TRUE(equalisation_sites(*graph, find_sites(*graph)).empty()) << op;
  }
}

TEST(Balance, NormalisationsTakeOverTheScaleOfLinearLayers) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %g: float32[2] "norm.weight" = {1, 1}
  constant %h: float32[2] "norm.bias" = {0, 2}
  constant %w: float32[1, 2] "q.weight" = {1, 4}
  constant %v: float32[1, 2] "v.weight" = {0.5, 1}
  %n: float32[1, 2] = aten::layer_norm(%x, [2], %g, %h)
  %q: float32[1, 1] = aten::linear(%n, %w, None)
  %k: float32[1, 1] = aten::linear(%n, %v, None)
  return %q, %k
})");
  const Sites sites = find_sites(*graph);
  const std::vector<BalanceSite> found = smoothing_sites(*graph, sites);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].readers.size(), 2u);
  Calibration calibration;
  calibration.channels["n"].largest = {4, 1};
  const NewConstants now = balanced(found, calibration);
  EXPECT_EQ(now.at("g"), (std::vector<float>{0.5f, 2}));
  EXPECT_EQ(now.at("h"), (std::vector<float>{0, 4}));
  EXPECT_EQ(now.at("w"), (std::vector<float>{2, 2}));
  EXPECT_EQ(now.at("v"), (std::vector<float>{1, 0.5f}));
}

TEST(BiasCorrection, TakesTheMeanErrorBack) {
  const auto graph = two_layers("  %r: float32[1, 2] = aten::relu(%y)");
  const Sites sites = find_sites(*graph);
  ChannelStatistics input;
  input.sum = {20, -10};  // Means 2 and -1.
  input.count = 10;
  // Errors 0.5 and 0.25 in the first row: 0.5 * 2 - 0.25 * 1 = 0.75.
  const std::vector<float> bias =
      corrected_bias(sites.layers[0], {1, 2, 3, 4}, {1.5f, 2.25f, 3, 4}, {4, 8}, input);
  EXPECT_EQ(bias, (std::vector<float>{3.25f, 8}));
}

SampleTensor row(const std::vector<float>& values) {
  SampleTensor out{ScalarType::kFloat, {1, static_cast<int64_t>(values.size())}, ""};
  out.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return out;
}

TEST(Measure, CountsNoiseAndFirstChoices) {
  const Outputs before = {{row({3, 4})}, {row({1, 0})}};
  const Outputs after = {{row({3, 4.5f})}, {row({0.25f, 0.5f})}};
  const Difference found = difference(before, after, {1, 1});
  // Signal 26, noise 0.25 + 0.5625 + 0.25.
  EXPECT_NEAR(found.decibels(), 10 * std::log10(26 / 1.0625), 1e-9);
  EXPECT_EQ(found.outputs[0].largest, 0.75);
  EXPECT_EQ(found.agreement, 0.5);
  EXPECT_EQ(found.original_accuracy, 0.5);
  EXPECT_EQ(found.accuracy, 1);
  EXPECT_EQ(found.drop(false), 0.5);
  EXPECT_EQ(found.drop(true), -0.5);
  EXPECT_TRUE(std::isinf(difference(before, before, {}).decibels()));
}

}  // namespace
}  // namespace taper::exir
