// Every function of a Sym becomes nodes; test/oracle/guards.py holds their numbers against PyTorch.

#include "exir/decompose/sym_writer.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

// The operators that compute the expression over the integer input n, whose size is s0.
std::string operators_of(const std::string& expression) {
  const auto graph = parse_graph("graph \"g\" {\n  input %n: int(s0)\n  return %n\n}");
  rewrite(
      *graph, [](Node&, Rewriter&) { return false; },
      [&](Rewriter& rewriter) {
        SymWriter writer(rewriter);
        writer.define(Sym::symbol("s0"), graph->inputs[0]);
        EXPECT_TRUE(writer.knows(parse_sym(expression)));
        graph->outputs = {writer.write(parse_sym(expression))};
      });
  std::string text;
  for (const auto& node : graph->nodes) {
    const std::string_view target = node->target();
    text += (text.empty() ? "" : " ") + std::string(target.substr(target.find("::") + 2));
  }
  return text;
}

TEST(SymWriter, WritesArithmetic) {
  EXPECT_EQ(operators_of("s0"), "");
  EXPECT_EQ(operators_of("7"), "");
  EXPECT_EQ(operators_of("3*s0 + 1"), "mul add");
  EXPECT_EQ(operators_of("mod(s0//2, 4)"), "floordiv mod");
  EXPECT_EQ(operators_of("max(3, s0, 5*s0)"), "mul sym_max sym_max");
}

TEST(SymWriter, WritesConditions) {
  EXPECT_EQ(operators_of("ne(s0, 3)"), "ne");
  EXPECT_EQ(operators_of("and(gt(s0, 3), s0)"), "gt ne mul");
  EXPECT_EQ(operators_of("or(gt(s0, 3), lt(s0, 1))"), "gt lt sym_max");
  EXPECT_EQ(operators_of("not(gt(s0, 3))"), "gt sym_not");
}

TEST(SymWriter, MakesWhatIsMissingOfOtherOperators) {
  EXPECT_EQ(operators_of("ceil_div(s0, 4)"), "add floordiv");
  EXPECT_EQ(operators_of("floor(true_div(s0, 4))"), "truediv floordiv trunc");
  EXPECT_EQ(operators_of("sqrt(to_float(s0))"), "sym_float scalar_tensor sqrt _local_scalar_dense");
}

TEST(SymWriter, ComputesEachExpressionOnce) {
  EXPECT_EQ(operators_of("and(gt(s0//2, 3), lt(s0//2, 9))"), "floordiv gt lt mul");
}

// A later pass looks sizes up by what values say of themselves.
TEST(SymWriter, PartialResultsDoNotNameTheWhole) {
  const char* graph_text =
      "graph \"g\" {\n  input %n: int(s0)\n  input %m: int(s1)\n  return %n\n}";
  for (const char* expression : {"s0 + s1 - 3", "2*s0*s1", "max(3, s0, s1)", "min(9, s0, s1)"}) {
    const auto graph = parse_graph(graph_text);
    const Sym whole = parse_sym(expression);
    rewrite(
        *graph, [](Node&, Rewriter&) { return false; },
        [&](Rewriter& rewriter) {
          SymWriter writer(rewriter);
          for (const Argument& input : graph->inputs) writer.define(input.value()->sym, input);
          graph->outputs = {writer.write(whole)};
        });
    ASSERT_EQ(graph->nodes.size(), 2u) << expression;
    EXPECT_NE(graph->nodes[0]->outputs[0]->sym, whole) << expression;
    EXPECT_EQ(graph->nodes[1]->outputs[0]->sym, whole);
  }
}

TEST(SymWriter, KnowsWhatItLacks) {
  const auto graph = parse_graph("graph \"g\" {\n  return 1\n}");
  Rewriter rewriter(*graph);
  SymWriter writer(rewriter);
  EXPECT_FALSE(writer.knows(parse_sym("s0 + 1")));
  EXPECT_THROW(writer.write(Sym::symbol("s0")), Failure);
}

}  // namespace
}  // namespace taper::exir
