// Passes that are wrong on purpose: lower() itself detects and names them.

#include "exir/pipeline.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

using Run = int (*)(Graph&, Lowering&);

constexpr char kProgram[] = R"(graph "g" { input %x: float32[2, 3] input %i: int64[2, 3]
    %y: float32[2, 3] = aten::silu(%x)
    %z: float32[3, 2] = aten::permute(%y, [1, 0])
    %s: float32[2, 3] = aten::add.Tensor(%y, %i, 1)
    return %z, %s })";

// Lowers kProgram with one more pass behind the one called `after`, and returns the error text.
std::string complaint(std::string_view after, Run wrong, const LowerOptions& options = {}) {
  std::vector<Pass> passes;
  for (const Pass& pass : all_passes()) {
    passes.push_back(pass);
    if (pass.name == after) passes.push_back({"wrong", Need::kAlways, pass.after, wrong});
  }
  const auto graph = parse_graph(kProgram);
  try {
    lower(*graph, options, passes);
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.diagnostics().empty());
    for (const Diagnostic& each : failure.diagnostics()) EXPECT_EQ(each.stage, "wrong");
    return failure.what();
  }
  return "";
}

// Replaces the operator of the first call of `from`.
bool rename(Graph& graph, std::string_view from, const char* to) {
  for (const auto& node : graph.nodes) {
    if (!node->is(from)) continue;
    node->schema = builtin_operators()->need(to);
    return true;
  }
  return false;
}

int nothing(Graph&, Lowering&) { return 0; }
int name_twice(Graph& graph, Lowering&) {
  graph.nodes[1]->outputs[0]->name = graph.nodes[0]->outputs[0]->name;
  return 1;
}
int write(Graph& graph, Lowering&) { return rename(graph, "aten::sigmoid", "aten::sigmoid_"); }
int compose(Graph& graph, Lowering&) { return rename(graph, "aten::sigmoid", "aten::silu"); }
int invent(Graph& graph, Lowering&) {
  Schema made = *builtin_operators()->need("aten::sigmoid");
  made.name = "other::sigmoid";
  for (const auto& node : graph.nodes) {
    if (node->is("aten::sigmoid")) node->schema = std::make_shared<const Schema>(made);
  }
  return 1;
}
int view(Graph& graph, Lowering&) { return rename(graph, "aten::permute_copy", "aten::permute"); }
int mix(Graph& graph, Lowering&) {
  for (const auto& node : graph.nodes) {
    if (node->is("aten::add.Tensor")) node->args[1] = graph.inputs[1];
  }
  return 1;
}
int call_no_kernel(Graph& graph, Lowering&) {
  return rename(graph, "aten::sigmoid.out", "aten::sigmoid");
}
int refuse(Graph& graph, Lowering&) {
  mark_refused(*graph.nodes[0]);
  return 1;
}

TEST(Pipeline, AGoodPassIsNotFoundOut) {
  for (const Pass& pass : all_passes()) EXPECT_EQ(complaint(pass.name, nothing), "") << pass.name;
}

TEST(Pipeline, AtenGraphsAreWellFormed) {
  EXPECT_EQ(complaint("functionalize", name_twice),
            "after pass wrong: the graph is not legal in the ATen dialect: two values are called "
            "%y");
}

TEST(Pipeline, CoreAtenIsFunctionalAndSimple) {
  const std::string start =
      "after pass wrong: the graph is not legal in the Core ATen dialect: aten::si";
  EXPECT_EQ(complaint("decompose", write), start + "gmoid_ writes an argument");
  EXPECT_EQ(complaint("erase_dead", compose), start + "lu is not in the Core ATen set");
}

TEST(Pipeline, EdgeIsExplicit) {
  const std::string start = "after pass wrong: the graph is not legal in the Edge dialect: ";
  EXPECT_EQ(complaint("to_edge", view), start + "aten::permute is a view");
  EXPECT_EQ(complaint("cse_again", mix),
            start + "aten::add.Tensor has operands of float32 and int64");
  EXPECT_EQ(complaint("keep_old_values", write), start + "aten::sigmoid_ writes an argument");
  EXPECT_EQ(complaint("decompose_rest", invent), start + "other::sigmoid has no out variant");
}

TEST(Pipeline, BackendCallsKernels) {
  EXPECT_EQ(complaint("to_out_variants", call_no_kernel),
            "after pass wrong: the graph is not legal in the Backend dialect: aten::sigmoid is not "
            "a kernel call");
}

TEST(Pipeline, WhatIsMarkedAsRefusedMayStand) { EXPECT_EQ(complaint("decompose", refuse), ""); }

}  // namespace
}  // namespace taper::exir
