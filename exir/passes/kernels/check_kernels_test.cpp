#include "exir/passes/kernels/check_kernels.h"

#include <gtest/gtest.h>

#include "exir/lower.h"
#include "exir/ops/builtin.h"
#include "exir/ops/declare.h"

namespace taper::exir {
namespace {

std::vector<Diagnostic> problems(const std::string& text) {
  const auto graph = parse_graph("graph \"g\" {" + text + "}");
  try {
    check_kernels(*graph);
    return {};
  } catch (const Failure& failure) {
    EXPECT_TRUE(is_refused(*graph->nodes.back()));
    return failure.diagnostics();
  }
}

TEST(CheckKernels, SaysWhichDtypesAKernelTakes) {
  EXPECT_TRUE(problems("input %x: float32[2] %y: float32[2] = aten::exp(%x) return %y").empty());
  EXPECT_TRUE(problems("input %x: int8[4, 5] input %w: int8[5, 6] %y: int8[4, 6] = "
                       "aten::mm(%x, %w) return %y")
                  .empty());
  const auto found = problems(
      "input %x: bool[4, 5] input %w: bool[5, 6] %y: bool[4, 6] = aten::mm(%x, %w) return %y");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "unsupported-dtype");
  EXPECT_EQ(found[0].actual, "bool");
  EXPECT_NE(found[0].expected.find("float32, float64, float16"), std::string::npos);
  EXPECT_EQ(found[0].expected.find("bool"), std::string::npos);
}

TEST(CheckKernels, NamesEachCallAndLeavesGoodOnesAlone) {
  EXPECT_EQ(problems("input %x: float32[2, 3] %a: float32[2, 3] = aten::bitwise_not(%x) "
                     "%b: float32[2, 3] = aten::relu(%x) %c: float32[2, 3] = aten::bitwise_not(%b) "
                     "return %a, %c")
                .size(),
            2u);
}

TEST(CheckKernels, TakesTensorsOfAnySize) {
  EXPECT_TRUE(problems("range s0 = [1, 100000] input %x: float32[s0, 8192] input %w: float32[8192, "
                       "8192] %y: float32[s0, 8192] = aten::mm(%x, %w) return %y")
                  .empty());
}

TEST(CheckKernels, ComparesADeclarationWithTheProgram) {
  const Operators known = declare_operators(builtin_operators(),
                                            "check_test::f(Tensor x) -> Tensor  like x", "ops.txt");
  const auto check = [&](const std::string& dtype) {
    const auto graph = parse_graph(
        "graph \"g\" { input %x: int32[2] %y: " + dtype + "[2] = check_test::f(%x) return %y }",
        known);
    check_kernels(*graph);
  };
  EXPECT_NO_THROW(check("int32"));
  EXPECT_THROW(check("float32"), Failure);
}

TEST(Findings, KeepGoingAfterANodeIsRefused) {
  const auto graph = parse_graph(
      "graph \"g\" { input %x: float32[2, 2] %a: float32[2, 2] = aten::dropout(%x, 0.5, True) "
      "%b: float32[2] = aten::linalg_eigvals(%a) %c: float32[2, 2] = aten::bitwise_not(%x) "
      "return %b, %c }");
  try {
    lower(*graph, {});
    FAIL();
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 3u);
    EXPECT_STREQ(failure.what(), "3 problems");
    EXPECT_EQ(failure.diagnostics()[0].id, "training-mode");
    EXPECT_EQ(failure.diagnostics()[0].stage, "prepare_for_inference");
    EXPECT_EQ(failure.diagnostics()[1].id, "unsupported-dtype");
    EXPECT_EQ(failure.diagnostics()[2].id, "unsupported-op");
  }
}

}  // namespace
}  // namespace taper::exir
