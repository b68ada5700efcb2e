#include "exir/delegate/compute_in_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

// Takes relu, add and layers of float32; fewer nodes than `least` do not pay.
class FloatCompiler final : public BackendCompiler {
 public:
  explicit FloatCompiler(size_t least, bool widens = true)
      : BackendCompiler({"float", "FloatBackend"}), least_(least), widens_(widens) {}
  bool widens_half() const override { return widens_; }
  bool keeps_whole(const Node& node, const Graph&) const override {
    return node.is("aten::hardswish") && node.outputs[0]->type.dtype == ScalarType::kFloat;
  }
  std::string refusal(const Node& node, const Graph&) const override {
    bool fits = node.outputs[0]->type.dtype == ScalarType::kFloat;
    for_each_value(
        node, [&](const Value* value) { fits = fits && value->type.dtype == ScalarType::kFloat; });
    const bool known = node.is("aten::relu") || node.is("aten::add.Tensor") ||
                       node.is("aten::linear") || node.is("aten::sum.dim_IntList");
    return fits && known ? "" : "no";
  }
  bool pays(const Part& part) const override { return part.nodes.size() >= least_; }
  std::shared_ptr<Delegate> compile(const Part&) const override { return nullptr; }

 private:
  size_t least_;
  bool widens_;
};

struct Result {
  std::unique_ptr<Graph> graph;
  int changed = 0;
  // "relu(x float) copy(...)": every node with the dtypes of its operands and of its result.
  std::string text() const {
    std::string all;
    for (const auto& node : graph->nodes) {
      std::string name(node->target());
      if (name == "dim_order_ops::_to_dim_order_copy") name = "::copy";
      all += (all.empty() ? "" : " ") + name.substr(name.rfind(':') + 1) + "(";
      for_each_value(*node, [&](const Value* value) { all += letter(value); });
      all += ")" + letter(node->outputs[0]);
    }
    return all;
  }
  static std::string letter(const Value* value) {
    switch (value->type.dtype) {
      case ScalarType::kHalf:
        return "h";
      case ScalarType::kBFloat16:
        return "b";
      case ScalarType::kFloat:
        return "f";
      default:
        return "?";
    }
  }
};

Result run(const std::string& body, size_t least = 1, Groups groups = Groups::kThatPay) {
  Result result;
  result.graph = parse_body(body);
  result.changed =
      compute_in_float(*result.graph, {std::make_shared<FloatCompiler>(least)}, groups);
  verify(*result.graph, Dialect::kEdge);
  return result;
}

TEST(ComputeInFloat, NodesInARowHaveOneBorder) {
  const Result r = run(R"(  input %x: float16[2]
  %a: float16[2] = aten::relu(%x)
  %b: float16[2] = aten::add.Tensor(%a, %x)
  return %b)");
  EXPECT_EQ(r.changed, 2);
  EXPECT_EQ(r.text(), "copy(h)f relu(f)f add.Tensor(ff)f copy(f)h");
}

TEST(ComputeInFloat, BFloat16Stays) {
  const Result r = run("  input %x: bfloat16[2]\n  %a: bfloat16[2] = aten::relu(%x)\n  return %a");
  EXPECT_EQ(r.changed, 0);
  EXPECT_EQ(r.text(), "relu(b)b");
}

TEST(ComputeInFloat, WhatDoesNotPayStays) {
  const std::string body = "  input %x: float16[2]\n  %a: float16[2] = aten::relu(%x)\n  return %a";
  EXPECT_EQ(run(body, 2).text(), "relu(h)h");
  EXPECT_EQ(run(body, 2).changed, 0);
  EXPECT_EQ(run(body, 2, Groups::kAll).text(), "copy(h)f relu(f)f copy(f)h");
}

TEST(ComputeInFloat, OthersReadWhatTheyDidBefore) {
  const Result r = run(R"(  input %x: float16[2]
  %a: float16[2] = aten::relu(%x)
  %s: float16[2] = aten::sin(%a)
  %t: float16[2] = aten::sin(%a)
  %b: float16[2] = aten::add.Tensor(%a, %s)
  return %a, %b, %t)");
  EXPECT_EQ(r.text(),
            "copy(h)f relu(f)f copy(f)h sin(h)h sin(h)h copy(h)f add.Tensor(ff)f copy(f)h");
}

TEST(ComputeInFloat, CopiesBetweenTheTypesGo) {
  const Result r = run(R"(  input %x: float16[2]
  input %y: float32[2]
  %a: float16[2] = aten::relu(%x)
  %f: float32[2] = dim_order_ops::_to_dim_order_copy(%a, float32, None, None, None, False, [0])
  %s: float32[2] = aten::sin(%f)
  %h: float16[2] = dim_order_ops::_to_dim_order_copy(%y, float16, None, None, None, False, [0])
  %b: float16[2] = aten::add.Tensor(%a, %h)
  return %s, %f, %b)");
  EXPECT_EQ(r.text(), "copy(h)f relu(f)f sin(f)f add.Tensor(ff)f copy(f)h");
}

TEST(ComputeInFloat, ARoundingThatNoNodeOfFloat16FollowsStays) {
  const Result r = run(R"(  input %y: float32[2]
  %h: float16[2] = dim_order_ops::_to_dim_order_copy(%y, float16, None, None, None, False, [0])
  %f: float32[2] = dim_order_ops::_to_dim_order_copy(%h, float32, None, None, None, False, [0])
  return %f)");
  EXPECT_EQ(r.changed, 0);
  EXPECT_EQ(r.text(), "copy(f)h copy(h)f");
}

TEST(ComputeInFloat, WeightsAreWidened) {
  const Result r = run(R"(  input %x: float16[1, 2]
  constant %w: float16[1, 2] = hex "003e00b4"
  %y: float16[1, 1] = aten::linear(%x, %w, None)
  return %y)");
  EXPECT_EQ(r.text(), "copy(h)f linear(ff)f copy(f)h");
  ASSERT_EQ(r.graph->constants.size(), 1u);
  float numbers[2];
  ASSERT_EQ(r.graph->constants[0]->data.bytes, sizeof(numbers));
  std::memcpy(numbers, r.graph->constants[0]->data.data, sizeof(numbers));
  EXPECT_EQ(numbers[0], 1.5f);
  EXPECT_EQ(numbers[1], -0.25f);
}

TEST(ComputeInFloat, ATypeThatTheProgramNamesStays) {
  const Result r = run(R"(  input %x: float16[2]
  %y: float16[] = aten::sum.dim_IntList(%x, [0], False, float16)
  return %y)");
  EXPECT_EQ(r.changed, 0);
}

TEST(ComputeInFloat, AStateIsWrittenIn16Bits) {
  const Result r = run(R"(  input %x: float16[2]
  state %s: float16[2] = zeros
  %y: float16[2] = aten::add.Tensor(%s, %x)
  mutate %s = %y
  return %y)");
  EXPECT_EQ(r.text(), "copy(h)f copy(h)f add.Tensor(ff)f copy(f)h");
  EXPECT_EQ(r.graph->mutations[0].source->type.dtype, ScalarType::kHalf);
}

TEST(ComputeInFloat, AsksTheBackendWhetherItWouldKeepANodeWhole) {
  const auto graph = parse_graph(
      "graph \"g\" {\n  input %x: float16[2]\n  %y: float16[2] = aten::hardswish(%x)\n"
      "  return %y\n}");
  const Node& node = *graph->nodes[0];
  EXPECT_FALSE(FloatCompiler(1).keeps_whole(node, *graph));
  EXPECT_TRUE(keeps_whole_in_float(FloatCompiler(1), node, *graph));
  EXPECT_FALSE(keeps_whole_in_float(FloatCompiler(1, false), node, *graph));
  EXPECT_EQ(node.outputs[0]->type.dtype, ScalarType::kHalf);
}

}  // namespace
}  // namespace taper::exir
