// Sites and the nodes that are inserted, in IR text.

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"
#include "exir/ops/builtin.h"
#include "exir/quantize/plan.h"

namespace taper::exir {
namespace {

const char* const kResidual = R"(graph "g" {
  input %x: float32[1, 1, 4, 4]
  constant %w: float32[1, 1, 1, 1] "w" = {2}
  constant %v: float32[1, 1, 1, 1] "v" = {3}
  %c: float32[1, 1, 4, 4] = aten::conv2d(%x, %w, None)
  %r: float32[1, 1, 4, 4] = aten::relu(%c)
  %d: float32[1, 1, 4, 4] = aten::conv2d(%r, %v, None)
  %a: float32[1, 1, 4, 4] = aten::add.Tensor(%d, %r)
  %s: float32[1, 1, 4, 4] = aten::relu(%a)
  %p: float32[1, 1, 2, 2] = aten::max_pool2d(%s, [2, 2])
  %e: float32[1, 1, 2, 2] = aten::erf(%p)
  return %e
})";

TEST(Sites, ActivationsBelongToLayersAndPoolsShareScales) {
  const auto graph = parse_graph(kResidual);
  const Sites sites = find_sites(*graph);
  ASSERT_EQ(sites.layers.size(), 3u);
  EXPECT_EQ(sites.layers[0].output->name, "r");
  EXPECT_EQ(sites.layers[2].name, "a");
  EXPECT_EQ(sites.layers[2].output->name, "s");
  EXPECT_EQ(sites.group_of.count("c"), 0u);
  EXPECT_EQ(sites.group_of.count("a"), 0u);
  EXPECT_EQ(sites.group_of.count("e"), 0u);
  EXPECT_EQ(sites.group_of.at("s"), sites.group_of.at("p"));
  EXPECT_NE(sites.group_of.at("d"), sites.group_of.at("r"));
}

TEST(Sites, AnAdditionNeedsBothInputs) {
  const auto graph = parse_graph(kResidual);
  const Sites sites = find_sites(*graph, [](const QuantLayer& layer) { return layer.name != "d"; });
  ASSERT_EQ(sites.layers.size(), 1u);
  EXPECT_EQ(sites.group_of.size(), 2u);  // x and r.
}

TEST(Apply, QuantisesATensorOnceForAllReaders) {
  auto graph = parse_graph(kResidual);
  const Sites sites = find_sites(*graph);
  QuantPlan plan;
  for (const QuantLayer& layer : sites.layers) {
    LayerPlan& each = plan.layers[layer.name];
    if (layer.weight != nullptr) {
      each.weight.integers = {127};
      each.weight.scales = {0.5f};
    }
  }
  plan.layers["d"].bias = {0.25f};
  for (const auto& [name, group] : sites.group_of) plan.tensors[name] = {0.5, -128, -128, 127};
  apply_plan(*graph, sites, plan);
  const std::string text = print(*graph);
  const auto count = [&](const std::string& word) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("quantized_decomposed::quantize_per_tensor"), 5u);  // x, r, d, s, p.
  EXPECT_EQ(count("quantized_decomposed::dequantize_per_channel("), 2u);
  EXPECT_NE(text.find("\"v_int\" = {127}"), std::string::npos) << text;
  EXPECT_NE(text.find("\"v_bias\" = {0.25}"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"w\" ="), std::string::npos) << text;
}

TEST(Apply, TransposedWeightsStayTransposed) {
  auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %w: float32[3, 2] "w" = {1, 2, 3, 4, 5, 6}
  constant %b: float32[3] "b" = {0, 0, 0}
  %t: float32[2, 3] order(1, 0) = aten::permute(%w, [1, 0])
  %y: float32[1, 3] = aten::addmm(%b, %x, %t)
  return %y
})");
  const Sites sites = find_sites(*graph);
  ASSERT_EQ(sites.layers.size(), 1u);
  EXPECT_EQ(sites.layers[0].axis, 0u);
  QuantPlan plan;
  LayerPlan& layer = plan.layers["y"];
  layer.activations = Activations::kFloat;
  layer.weight.integers = {1, 2, 3, 4, 5, 6};
  layer.weight.scales = {1, 1, 1};
  apply_plan(*graph, sites, plan);
  const std::string text = print(*graph);
  EXPECT_NE(text.find("aten::permute(%dequantize_per_channel, [1, 0])"), std::string::npos) << text;
}

// The table, of which few rows are read, stays in halves; other weights are cast once.
TEST(Apply, HalvesAreCastBeforeTheirReaders) {
  auto graph = parse_graph(R"(graph "g" {
  input %i: int64[2]
  constant %w: float32[2, 2] "w" = {1, 2, 3, 4}
  %e: float32[2, 2] = aten::embedding(%w, %i)
  %y: float32[2, 2] = aten::linear(%e, %w, None)
  %z: float32[2, 2] = aten::mul.Tensor(%y, %w)
  return %z
})");
  const Sites sites = find_sites(*graph, {}, Reach::kEveryWeight);
  ASSERT_EQ(sites.layers.size(), 2u);
  QuantPlan plan;
  for (const QuantLayer& layer : sites.layers) {
    plan.layers[layer.name].weight.halves = {0x3c00, 0x4000, 0x4200, 0x4400};
  }
  apply_plan(*graph, sites, plan);
  const std::string text = print(*graph);
  EXPECT_NE(text.find("\"w_half\" = hex \"003c004000420044\""), text.npos) << text;
  EXPECT_NE(text.find(": float16[2, 2] = aten::embedding(%w_half, %i"), text.npos) << text;
  size_t casts = 0;
  for (const auto& node : graph->nodes) casts += node->is("aten::_to_copy");
  EXPECT_EQ(casts, 2u) << text;
  EXPECT_EQ(text.find("%w:"), text.npos) << text;
}

TEST(Sites, EveryWeightIncludesThoseInLists) {
  std::string elements = "0";
  for (int i = 1; i < 400; ++i) elements += ", 0";
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 20]
  constant %w: float32[20, 20] "w" = {)" +
                                 elements + R"(}
  constant %s: float32[1, 2] "s" = {1, 2}
  %y: float32[21, 20] = aten::cat([%x, %w])
  %z: float32[1, 2] = aten::neg(%s)
  return %y, %z
})");
  EXPECT_TRUE(find_sites(*graph).layers.empty());
  const Sites sites = find_sites(*graph, {}, Reach::kEveryWeight);
  ASSERT_EQ(sites.layers.size(), 1u) << "small ones stay";
  EXPECT_EQ(sites.layers[0].name, "w");
}

// The matrices of an LSTM become integers, each with a scale per row; its biases stay.
TEST(Apply, WeightsOfAnLstmAreStoredAsIntegers) {
  std::string ones = "1";
  for (int i = 1; i < 24 * 20; ++i) ones += ", 1";
  auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2, 3, 20]
  input %h: float32[1, 3, 6]
  constant %u: float32[24, 20] "u" = {)" +
                           ones + R"(}
  input %v: float32[24, 6]
  input %b: float32[24]
  %y: float32[2, 3, 6], %n: float32[1, 3, 6], %c: float32[1, 3, 6] = aten::lstm.input(%x, [%h, %h], [%u, %v, %b, %b], True, 1, 0.0, False, False, False)
  return %y
})");
  const Sites sites = find_sites(*graph);
  ASSERT_EQ(sites.layers.size(), 1u) << "small ones stay";
  EXPECT_EQ(sites.layers[0].name, "u");
  EXPECT_EQ(sites.layers[0].kind, LayerKind::kStored);
  EXPECT_EQ(sites.layers[0].axis, 0u);
  QuantPlan plan;
  QuantisedWeight& weight = plan.layers["u"].weight;
  weight.integers.assign(24 * 20, 64);
  weight.scales.assign(24, 1.0f / 64);
  apply_plan(*graph, sites, plan);
  const std::string text = print(*graph);
  EXPECT_NE(text.find("quantized_decomposed::dequantize_per_channel(%u_int, %u_scale, "
                      "%u_zero_point, 0, -127, 127, int8"),
            text.npos)
      << text;
  EXPECT_NE(text.find("[%dequantize_per_channel, %v, %b, %b]"), text.npos) << text;
}

TEST(Prepare, WritesInPlaceBecomeValues) {
  auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 1, 2, 2]
  constant %w: float32[1, 1, 1, 1] "w" = {2}
  %c: float32[1, 1, 2, 2] = aten::conv2d(%x, %w, None)
  %r: float32[1, 1, 2, 2] = aten::relu_(%c)
  %d: float32[1, 1, 2, 2] = aten::conv2d(%c, %w, None)
  return %d
})");
  prepare_for_quantisation(*graph);
  const std::string text = print(*graph);
  EXPECT_NE(text.find("%r: float32[1, 1, 2, 2] = aten::relu(%c)"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::conv2d(%r, %w"), std::string::npos) << text;
}

// A write through a view shows in what it is a view of: both stay in float.
TEST(Prepare, WritesThroughViewsStay) {
  auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2, 4]
  constant %w: float32[4, 4] "w" = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
  %c: float32[2, 4] = aten::linear(%x, %w, None)
  %v: float32[4] = aten::select.int(%c, 0, 0)
  %r: float32[4] = aten::relu_(%v)
  %d: float32[2, 4] = aten::linear(%c, %w, None)
  return %d
})");
  prepare_for_quantisation(*graph);
  EXPECT_NE(print(*graph).find("aten::relu_"), std::string::npos);
  EXPECT_TRUE(find_sites(*graph).layers.empty());
}

// Convolutions of volumes, and transposed ones with groups, compute in float: their weights are stored as
// integers, and the values around them have no scales.
TEST(Sites, ConvolutionsWithoutAnIntegerFormAreStored) {
  const auto graph = parse_body(R"(  input %x: float32[1, 4, 6, 6, 6]
  input %p: float32[1, 16, 6, 6]
  constant %u: float32[8, 4, 3, 3, 3] "u" = zeros
  constant %v: float32[8, 4, 3, 3, 3] "v" = zeros
  constant %w: float32[16, 8, 2, 2] "w" = zeros
  %a: float32[1, 8, 4, 4, 4] = aten::conv3d(%x, %u, None)
  %b: float32[1, 8, 4, 4, 4] = aten::convolution(%x, %v, None, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1)
  %c: float32[1, 32, 7, 7] = aten::conv_transpose2d.input(%p, %w, None, [1, 1], [0, 0], [0, 0], 4, [1, 1])
  return %a, %b, %c)");
  const Sites sites = find_sites(*graph);
  ASSERT_EQ(sites.layers.size(), 3u);
  for (const QuantLayer& layer : sites.layers) EXPECT_EQ(layer.kind, LayerKind::kStored);
  EXPECT_TRUE(sites.groups.empty());
}

// embedding_renorm_ writes the table through a view.
TEST(Sites, AWrittenWeightStays) {
  const auto graph = parse_graph(R"(graph "g" {
  input %i: int64[2]
  constant %w: float32[3, 2] "w" = {1, 2, 3, 4, 5, 6}
  %v: float32[3, 2] = aten::detach(%w)
  %r: float32[3, 2] = aten::embedding_renorm_(%v, %i, 1.0, 2.0)
  %e: float32[2, 2] = aten::embedding(%w, %i)
  return %e
})");
  EXPECT_TRUE(find_sites(*graph).layers.empty());
}

}  // namespace
}  // namespace taper::exir
