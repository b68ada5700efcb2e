#include "exir/passes/convert/true_types.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

// The layer of PyTorch 2.11, then `body`.
std::string after_layer(const std::string& body) {
  return R"(graph "g" {
  input %x: float32[s0,5,3]
  input %w: float32[16,3]
  input %u: float32[16,4]
  input %h0: float32[1,s0,4]
  %y: float32[s0,5,4], %h: float32[1,1,s0,4], %c: float32[1,1,s0,4] = aten::lstm.input(%x, [%h0, %h0], [%w, %u], False, 1, 0.0, False, False, True)
)" + body +
         "\n}";
}

const Value* find(const Graph& graph, std::string_view name) {
  for (const auto& node : graph.nodes) {
    for (const Value* output : node->outputs) {
      if (output->name == name) return output;
    }
  }
  return nullptr;
}

std::string sizes(const Graph& graph, std::string_view name) {
  std::string text;
  for (const Sym& size : find(graph, name)->type.sizes) text += size.text() + " ";
  return text;
}

TEST(TrueTypes, FinalStatesAndWhatFollows) {
  const auto graph =
      parse_graph(after_layer(R"(  %last: float32[1,s0,4] = aten::select.int(%h, 0, -1)
  %swapped: float32[1,1,s0,4] = aten::transpose.int(%h, 0, 1)
  %one: float32[1,s0,4] = aten::squeeze.dim(%h, 0)
  %flat: float32[1,4*s0] = aten::flatten.using_ints(%swapped, 1, -1)
  return %y, %last, %flat, %one, %c)"));
  EXPECT_EQ(true_types(*graph), 6);
  EXPECT_EQ(sizes(*graph, "y"), "s0 5 4 ");
  EXPECT_EQ(sizes(*graph, "c"), "1 s0 4 ");
  EXPECT_EQ(sizes(*graph, "last"), "s0 4 ");
  EXPECT_EQ(sizes(*graph, "swapped"), "s0 1 4 ");
  EXPECT_EQ(sizes(*graph, "one"), "s0 4 ");
  EXPECT_EQ(sizes(*graph, "flat"), "s0 4 ");
  EXPECT_EQ(true_types(*graph), 0);
}

TEST(TrueTypes, CountsAreIntegers) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: bool[6]
  %v: bool[u0], %i: bool[0], %n: bool[u0] = aten::unique_consecutive(%x, False, True, None)
  %m: bool[] = aten::max(%n)
  return %v, %m
})");
  EXPECT_EQ(true_types(*graph), 3);
  EXPECT_EQ(find(*graph, "v")->type.dtype, ScalarType::kBool);
  EXPECT_EQ(find(*graph, "m")->type.dtype, ScalarType::kLong);
}

TEST(TrueTypes, WhatHasNoRuleIsRefused) {
  const auto graph = parse_graph(
      after_layer(R"(  %n: float32[1,1,s0,4] = aten::layer_norm(%h, [4], None, None, 1e-5, False)
  return %n)"));
  try {
    true_types(*graph);
    FAIL() << "nothing is thrown";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u);
    EXPECT_NE(failure.diagnostics()[0].message.find("no type rule for aten::layer_norm"),
              std::string::npos)
        << failure.diagnostics()[0].message;
  }
}

}  // namespace
}  // namespace taper::exir
