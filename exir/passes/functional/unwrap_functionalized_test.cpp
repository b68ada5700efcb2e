#include "exir/passes/functional/unwrap_functionalized.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ops/builtin.h"
#include "exir/ops/declare.h"

namespace taper::exir {
namespace {

constexpr const char* kSecond =
    "operator \"higher_order::auto_functionalized_v2(Any op, Any x, Any _c_base_index, Any "
    "_all_bases) "
    "-> (Tensor, Tensor)\"\n";

std::string run(const std::string& operators, const std::string& body) {
  const Operators known = declare_operators(
      builtin_operators(), "unwrap_test::push_(Tensor(a!) c, Tensor x, int at=3) -> ()", "ops.txt");
  const auto graph = parse_graph(operators + "graph \"g\" {\n" + body + "\n}", known);
  unwrap_functionalized(*graph);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(UnwrapFunctionalized, TheOperatorWritesACopyOfTheBase) {
  EXPECT_EQ(run(kSecond, R"(  input %x: float32[4]
  input %c: float32[4]
  %u: float32[0], %d: float32[4] = higher_order::auto_functionalized_v2("torch.ops.unwrap_test.push_.default", %x, 0, [%c])
  return %d)"),
            R"(  input %x: float32[4]
  input %c: float32[4]
  %clone: float32[4] = aten::clone(%c, None)
  unwrap_test::push_(%clone, %x, 3)
  return %clone
)");
}

TEST(UnwrapFunctionalized, TheFirstGenerationNamesTheTensorsThemselves) {
  EXPECT_EQ(run("operator \"higher_order::auto_functionalized(Any op, Any c, Any x) -> (Tensor, "
                "Tensor)\"\n",
                R"(  input %x: float32[4]
  input %c: float32[4]
  %u: float32[0], %d: float32[4] = higher_order::auto_functionalized("torch.ops.unwrap_test.push_.default", %c, %x)
  return %d)"),
            R"(  input %x: float32[4]
  input %c: float32[4]
  %clone: float32[4] = aten::clone(%c, None)
  unwrap_test::push_(%clone, %x, 3)
  return %clone
)");
}

TEST(UnwrapFunctionalized, RefusesWhatNobodyDeclared) {
  try {
    run(kSecond, R"(  input %x: float32[4]
  %u: float32[0], %d: float32[4] = higher_order::auto_functionalized_v2("torch.ops.nobodys.op.default", %x, 0, [%x])
  return %d)");
    FAIL();
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u);
    EXPECT_EQ(failure.diagnostics()[0].id, "undeclared-op");
    EXPECT_EQ(failure.diagnostics()[0].message.rfind("nobodys::op writes its arguments", 0), 0u);
  }
}

}  // namespace
}  // namespace taper::exir
