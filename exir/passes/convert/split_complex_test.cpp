#include "exir/passes/convert/split_complex.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

// float32[3] -> polar -> its real part.
std::unique_ptr<Graph> polar_graph(const std::string& last) {
  auto graph = parse_graph(R"(graph "g" {
  input %r: float32[3]
  input %t: float32[3]
  %z: float32[3, 2] = aten::polar(%r, %t)
  %y: float32[3] = )" + last +
                           R"(
  return %y
})");
  graph->nodes[0]->outputs[0]->type.pairs = true;
  return graph;
}

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> out;
  for (const auto& node : graph.nodes) out.emplace_back(node->target());
  return out;
}

TEST(SplitComplex, APolarNumberIsAPairOfProducts) {
  const auto graph = polar_graph("aten::imag(%z)");
  EXPECT_EQ(split_complex(*graph), 2);
  EXPECT_EQ(targets(*graph),
            (std::vector<std::string>{"aten::cos", "aten::mul.Tensor", "aten::unsqueeze",
                                      "aten::sin", "aten::mul.Tensor", "aten::unsqueeze",
                                      "aten::cat", "aten::select.int", "aten::select.int"}));
  for (const auto& node : graph->nodes) {
    for (const Value* value : node->outputs) EXPECT_FALSE(value->type.pairs);
  }
}

TEST(SplitComplex, WhatHasNoRuleIsNamed) {
  const auto graph = polar_graph("aten::acosh(%z)");
  try {
    split_complex(*graph);
    FAIL() << "compiled";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u);
    EXPECT_EQ(failure.diagnostics()[0].message, "aten::acosh is not supported on complex numbers");
  }
}

// PyTorch's operator takes and gives complex tensors, which are pairs before and after it.
TEST(SplitComplex, WhatHasNoRuleIsLeftToPyTorch) {
  const auto graph = polar_graph("aten::acosh(%z)");
  Value& result = *graph->nodes[1]->outputs[0];
  result.type.pairs = true;
  result.type.sizes.emplace_back(2);
  result.type.dim_order = {0, 1};
  EXPECT_EQ(split_complex(*graph, Aten::kYes), 2);
  std::vector<std::string> found = targets(*graph);
  found.erase(found.begin(), found.end() - 4);
  EXPECT_EQ(found,
            (std::vector<std::string>{"aten::view_as_complex_copy", "by_aten::aten::acosh",
                                      "aten::view_as_real_copy", "aten::view_as_complex_copy"}));
  const auto call = graph->nodes.end() - 3;
  EXPECT_EQ((*call)->arg(0).value()->type.dtype, ScalarType::kComplexFloat);
  EXPECT_EQ((*call)->outputs[0]->type.dtype, ScalarType::kComplexFloat);
  EXPECT_EQ((*call)->outputs[0]->type.rank(), 1u);
}

// What run_decompositions() makes of a write: real numbers into complex ones, and the other way.
TEST(SplitComplex, ACopyTakesTypeAndSizesOfItsDestination) {
  const auto into_complex = polar_graph("aten::copy(%z, %r)");
  into_complex->nodes[1]->outputs[0]->type.pairs = true;
  into_complex->nodes[1]->outputs[0]->type.sizes.emplace_back(2);
  EXPECT_EQ(split_complex(*into_complex), 2);
  const std::vector<std::string> pairs = targets(*into_complex);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), "aten::full"), 1);  // Imaginary parts of zero.
  const auto into_real = polar_graph("aten::copy(%r, %z)");
  EXPECT_EQ(split_complex(*into_real), 2);
  EXPECT_EQ(targets(*into_real).back(), "aten::select.int");
}

// zeros_like(z, dtype=bool) and the like.
TEST(SplitComplex, WhatIsFilledLikeAComplexTensorMayBeReal) {
  for (const char* last : {"aten::ones_like(%z, float32)", "aten::new_full(%z, [3], 2, float32)"}) {
    const auto graph = polar_graph(last);
    const std::vector<Sym> sizes = graph->nodes[1]->outputs[0]->type.sizes;
    EXPECT_EQ(split_complex(*graph), 2) << last;
    EXPECT_EQ(targets(*graph).back(), "aten::full");
    EXPECT_EQ(graph->outputs[0].value()->type.sizes, sizes);
  }
}

// run_decompositions() makes masked_fill(z, m, 0) such a tensor. The imaginary part of -inf is 0.
TEST(SplitComplex, ATensorOfANumberIsComplexIfTheNumberIs) {
  const auto graph = parse_graph(R"(graph "g" {
  constant %c: float64[2] = {3, -4}
  %s: float32[2] = aten::scalar_tensor(%c, float32)
  %t: float32[2] = aten::scalar_tensor(-inf, float32)
  return %s, %t
})");
  graph->constants[0]->type.pairs = true;
  for (const auto& node : graph->nodes) node->outputs[0]->type.pairs = true;
  EXPECT_EQ(split_complex(*graph), 2);
  const std::vector<std::string> calls = targets(*graph);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::scalar_tensor"), 1);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::full"), 1);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::mul.Tensor"), 0);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "aten::mul.Scalar"), 0);
}

TEST(SplitComplex, RealNumbersHaveNoImaginaryPart) {
  for (const char* last : {"aten::imag(%r)", "aten::conj(%r)", "aten::angle(%r)"}) {
    const auto graph = polar_graph(last);
    graph->nodes[1]->outputs[0]->type.pairs = true;
    EXPECT_THROW(split_complex(*graph), Failure) << last;
  }
}

TEST(SplitComplex, InputsAndOutputsStayComplex) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[3, 2]
  input %t: float32[3]
  %z: float32[3, 2] = aten::mul.Tensor(%x, %t)
  return %z, %x, %z
})",
                                 builtin_operators());
  graph->inputs[0].value()->type.pairs = true;
  graph->nodes[0]->outputs[0]->type.pairs = true;
  EXPECT_EQ(split_complex(*graph), 1);
  const Value* x = graph->inputs[0].value();
  EXPECT_EQ(x->name, "x");
  EXPECT_EQ(x->role, ValueRole::kInput);
  EXPECT_EQ(x->type, TensorType(ScalarType::kComplexFloat, {Sym(3)}));
  EXPECT_EQ(graph->nodes.front()->target(), "aten::view_as_real_copy");
  EXPECT_EQ(graph->nodes.front()->args[0].value(), x);
  EXPECT_EQ(graph->outputs[0].value(), graph->outputs[2].value());
  for (const Argument& output : graph->outputs) {
    EXPECT_EQ(output.value()->type, TensorType(ScalarType::kComplexFloat, {Sym(3)}));
    EXPECT_EQ(output.value()->producer->target(), "aten::view_as_complex_copy");
  }
}

TEST(SplitComplex, RealGraphsStayAsTheyAre) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[3]
  %y: float32[3] = aten::neg(%x)
  return %y
})");
  EXPECT_EQ(split_complex(*graph), 0);
}

}  // namespace
}  // namespace taper::exir
