#include "exir/dialect/verifier.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

// The first problem of a graph, "" if it is legal.
std::string problem(const Graph& graph, Dialect dialect = Dialect::kAten,
                    const LegalCalls& legal = {}) {
  try {
    verify(graph, dialect, legal);
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.diagnostics().empty());
    return failure.diagnostics()[0].message;
  }
  return "";
}

std::string problem(std::string_view body, Dialect dialect = Dialect::kAten) {
  const auto graph = parse_graph("graph \"g\" { input %x: float32[2] input %i: int64[2] " +
                                 std::string(body) + " }");
  return problem(*graph, dialect);
}

TEST(Verifier, AcceptsAnExportedGraph) {
  EXPECT_EQ(problem("%y: float32[2] = aten::add_.Tensor(%x, 1, 2) return %y"), "");
  EXPECT_EQ(problem("%n: int(2) = aten::sym_size.int(%x, 0) "
                    "%y: float32[2] = aten::view(%x, [%n]) return %y, 3"),
            "");
  EXPECT_EQ(problem("%a: float32[1], %b: float32[1] = aten::split.Tensor(%x, 1) return %a"), "");
}

TEST(Verifier, ArgumentsFitTheirSchema) {
  EXPECT_EQ(problem("%y: float32[2] = aten::relu(\"text\") return %y"),
            "argument \"self\" of aten::relu has the wrong type");
  EXPECT_EQ(problem("%y: float32[2] = aten::permute(%x, 0) return %y"),
            "argument \"dims\" of aten::permute has the wrong type");
  EXPECT_EQ(problem("%y: float32[2] = aten::relu(%x, 1) return %y"),
            "aten::relu takes 1 arguments and has 2");
  EXPECT_EQ(problem("%y: float32[2] = aten::index.Tensor(%x, [None, %i]) return %y"), "");
  EXPECT_EQ(problem("%y: float32[2] = aten::cat([%x, None]) return %y"),
            "argument \"tensors\" of aten::cat has the wrong type");
}

TEST(Verifier, ResultsMatchTheirSchema) {
  EXPECT_EQ(problem("%a: float32[2], %b: float32[2] = aten::relu(%x) return %a"),
            "aten::relu returns 1 values and has 2");
  EXPECT_EQ(problem("%n: float32[2] = aten::sym_size.int(%x, 0) return %n"),
            "result 0 of aten::sym_size.int has the wrong kind");
}

TEST(Verifier, TypesAreSound) {
  EXPECT_EQ(problem("%y: float32[2, 2] order(0, 0) = aten::relu(%x) return %y"),
            "the dim order of %y is not a permutation of its dimensions");
  EXPECT_EQ(problem("%y: float32[-1] = aten::relu(%x) return %y"), "%y has a negative size");
  EXPECT_EQ(problem("%y: float32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] = aten::relu(%x) return %y"),
            "%y has 17 dimensions, at most 16 are possible");
}

TEST(Verifier, ConstantsHoldTheirBytes) {
  EXPECT_EQ(problem("constant %c: float32[2] = none return %c"),
            "the constant %c holds 0 bytes where its type needs 8");
  EXPECT_EQ(problem("constant %c: float32[0] = none return %c"), "");
}

TEST(Verifier, ValuesAreDefinedOnceAndBeforeTheirUse) {
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %a: float32[2] = aten::relu(%x) %b: float32[2] = aten::neg(%a) return %b })");
  std::swap(graph->nodes[0], graph->nodes[1]);
  EXPECT_EQ(problem(*graph), "argument \"self\" of aten::neg uses %a, which is not defined before");
  std::swap(graph->nodes[0], graph->nodes[1]);
  graph->nodes[1]->outputs[0] = graph->nodes[0]->outputs[0];
  EXPECT_EQ(problem(*graph), "%a is defined twice");
}

TEST(Verifier, NamesAreUnique) {
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %a: float32[2] = aten::relu(%x) return %a })");
  graph->nodes[0]->outputs[0]->name = "x";
  EXPECT_EQ(problem(*graph), "two values are called %x");
}

TEST(Verifier, MutationsChangeStatesOrInputs) {
  EXPECT_EQ(problem("mutate %x = %i return"), "%x is mutated to %i, which has another type");
  EXPECT_EQ(problem("mutate %x = %x mutate %x = %x return"), "%x is mutated twice");
  EXPECT_EQ(problem("constant %c: float32[2] = zeros mutate %c = %x return"),
            "%c is mutated but is neither a state nor an input");
  EXPECT_EQ(problem("state %c: float32[2] = zeros mutate %c = %x return"), "");
}

TEST(Verifier, BodiesTakeWhatTheyAreGiven) {
  EXPECT_EQ(problem(R"(%y: float32[2] = higher_order::cond(True, graph "t" { input %a: float32[2]
      return %a }, graph "f" { return 1 }, [%x]) return %y)"),
            "the body \"f\" of higher_order::cond takes 0 inputs and gets 1");
  EXPECT_EQ(problem(R"(%y: float32[2] = higher_order::cond(True, graph "t" { input %a: float32[2]
      return %a }, graph "f" { input %a: float32[2] return }, [%x]) return %y)"),
            "the body \"f\" of higher_order::cond returns 0 values where 1 are expected");
  EXPECT_EQ(problem(R"(%y: float32[2] = higher_order::cond(True, graph "t" { input %a: float32[2]
      %b: float32[2] = aten::relu(1, 2) return %b }, graph "f" { input %a: float32[2] return %a },
      [%x]) return %y)"),
            "aten::relu takes 1 arguments and has 2");
}

TEST(Verifier, CoreAtenIsFunctional) {
  EXPECT_EQ(problem("%y: float32[2] = aten::relu_(%x) return %y", Dialect::kCoreAten),
            "aten::relu_ writes an argument");
  EXPECT_EQ(problem("%y: float32[2] = aten::view(%x, [2]) return %y", Dialect::kCoreAten), "");
  EXPECT_EQ(problem("%y: float32[2] = aten::silu(%x) return %y", Dialect::kCoreAten),
            "aten::silu is not in the Core ATen set");
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %y: float32[2] = aten::silu(%x) return %y })");
  EXPECT_EQ(problem(*graph, Dialect::kCoreAten, [](const Node& n) { return n.is("aten::silu"); }),
            "");
}

TEST(Verifier, EdgeIsExplicit) {
  EXPECT_EQ(problem("%y: float32[2] = aten::view(%x, [2]) return %y", Dialect::kEdge),
            "aten::view is a view");
  EXPECT_EQ(problem("%y: float32[2] = aten::view_copy(%x, [2]) return %y", Dialect::kEdge), "");
  EXPECT_EQ(problem("%y: float32[2] = aten::add.Tensor(%x, %i, 1) return %y", Dialect::kEdge),
            "aten::add.Tensor has operands of float32 and int64");
  EXPECT_EQ(problem("%y: float32[2] = aten::add.Tensor(%x, 2, 1) return %y", Dialect::kEdge),
            "argument \"other\" of aten::add.Tensor has the wrong type");
  EXPECT_EQ(problem("%n: int(2) = python::add(1, 1) return %n", Dialect::kEdge), "");
}

TEST(Verifier, BackendCallsKernels) {
  EXPECT_EQ(problem("%y: float32[2] = aten::relu(%x) return %y", Dialect::kBackend),
            "aten::relu is not a kernel call");
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %y: float32[2] = aten::relu.out(%x) return %y })");
  graph->nodes[0]->args.resize(1);
  EXPECT_EQ(problem(*graph, Dialect::kBackend), "");
}

TEST(Verifier, ReportsEveryProblem) {
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %a: float32[2] = aten::relu_(%x) %b: float32[2] = aten::silu(%a) return %b })");
  try {
    verify(*graph, Dialect::kCoreAten);
    FAIL();
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 2u);
    EXPECT_EQ(failure.diagnostics()[1].where, "b");
    EXPECT_EQ(failure.diagnostics()[1].remedy, "decompose it, or let a backend keep it whole");
    EXPECT_STREQ(failure.what(),
                 "the graph is not legal in the Core ATen dialect: aten::relu_ writes an argument "
                 "(and 1 more)");
  }
}

}  // namespace
}  // namespace taper::exir
