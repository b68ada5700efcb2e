#include "exir/passes/convert/to_out_variants.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

constexpr const char* kGraph = R"(graph "g" {
  input %x: float32[2]
  %n: int(2) = aten::sym_size.int(%x, 0)
  %m: int(3) = python::add(%n, 1)
  %a: float32[2] = aten::add.Tensor(%x, %x, 1)
  %b: float32[2] = aten::sinh(%a)
  %c: float32[2] = aten::sinh(%b)
  %d: float32[2] = aten::cosh(%c)
  return %d
})";

TEST(ToOutVariants, NamesTheKernelOfEveryCall) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2]
  %n: int(2) = aten::sym_size.int(%x, 0)
  %m: int(3) = python::add(%n, 1)
  %a: float32[2] = aten::add.Tensor(%x, %x, 1)
  return %a, %m
})");
  EXPECT_EQ(to_out_variants(*graph, [](std::string_view, const Node&) { return true; }), 2);
  ASSERT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(graph->nodes[0]->target(), "aten::sym_size.int");
  EXPECT_EQ(graph->nodes[1]->target(), "executorch_prim::add.Scalar");
  EXPECT_EQ(graph->nodes[2]->target(), "aten::add.out");
  EXPECT_EQ(graph->nodes[2]->args.size(), 3u);
}

TEST(ToOutVariants, ListsAllThatHaveNoKernelWithTheirCount) {
  const auto graph = parse_graph(kGraph);
  const auto has = [](std::string_view name, const Node&) {
    return name != "aten::sinh.out" && name != "aten::cosh.out";
  };
  try {
    to_out_variants(*graph, has);
    FAIL() << "two operators have no kernel";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(), "2 operators are not supported");
    ASSERT_EQ(failure.diagnostics().size(), 2u);
    EXPECT_EQ(failure.diagnostics()[0].message, "aten::cosh (once)");
    EXPECT_EQ(failure.diagnostics()[1].message, "aten::sinh (2 times)");
  }
}

}  // namespace
}  // namespace taper::exir
