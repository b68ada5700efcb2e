#include "exir/ir/rewrite.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(Rewrite, ReplacesANodeAndItsUses) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: float32[2]
    %y: float32[2] = aten::relu(%x)
    %z: float32[2], %i: int64[2] = aten::sort(%y, -1, False)
    mutate %x = %y
    return %z, [%y]
  })");
  const int changed = rewrite(*graph, [&](Node& node, Rewriter& r) {
    if (!node.is("aten::relu")) return false;
    r.replace(node.outputs[0], r.emit("aten::clamp", {node.arg(0), 0}, {node.outputs[0]->type})[0]);
    return true;
  });
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(print(*graph), R"(graph "g" {
  input %x: float32[2]
  %clamp: float32[2] = aten::clamp(%x, 0, None)
  %z: float32[2], %i: int64[2] = aten::sort(%clamp, -1, False)
  mutate %x = %clamp
  return %z, [%clamp]
}
)");
  EXPECT_EQ(graph->nodes[0]->name, "y");
}

// x * x + relu(x), emitted from the right operand to the left one and the other way round, with a
// node that nothing reads yet.
TEST(Rewrite, OrdersWhatIsEmittedByItsUses) {
  const auto rewritten = [](bool from_the_left) {
    const auto graph = parse_graph(R"(graph "g" {
      input %x: float32[2]
      %y: float32[2] = aten::silu(%x)
      return %y
    })");
    rewrite(*graph, [&](Node& node, Rewriter& r) {
      const Value* x = node.arg(0).value();
      const auto call = [&](const char* target, const std::vector<Argument>& args) {
        return r.emit(target, args, {x->type})[0];
      };
      call("aten::neg", {node.arg(0)});
      Value* left = nullptr;
      Value* right = nullptr;
      if (from_the_left) left = call("aten::mul.Tensor", {node.arg(0), node.arg(0)});
      right = call("aten::relu", {node.arg(0)});
      if (!from_the_left) left = call("aten::mul.Tensor", {node.arg(0), node.arg(0)});
      r.replace(node.outputs[0], call("aten::add.Tensor", {left, right}));
      r.order_by_use({node.outputs[0]});
      return true;
    });
    return print(*graph);
  };
  EXPECT_EQ(rewritten(true), R"(graph "g" {
  input %x: float32[2]
  %mul: float32[2] = aten::mul.Tensor(%x, %x)
  %relu: float32[2] = aten::relu(%x)
  %add: float32[2] = aten::add.Tensor(%mul, %relu, 1)
  %neg: float32[2] = aten::neg(%x)
  return %add
}
)");
  EXPECT_EQ(rewritten(false), rewritten(true));
}

TEST(Rewrite, FollowsChainsOfReplacements) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: float32[2]
    %a: float32[2] = aten::detach(%x)
    %b: float32[2] = aten::detach(%a)
    return %b
  })");
  rewrite(*graph, [](Node& node, Rewriter& r) {
    r.replace(node.outputs[0], node.arg(0).value());
    return true;
  });
  EXPECT_EQ(graph->outputs[0].value(), graph->inputs[0].value());
}

TEST(Rewrite, RefusesTooFewArguments) {
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %a: float32[2] = aten::relu(%x) return %a })");
  EXPECT_THROW(
      rewrite(*graph, [](Node&, Rewriter& r) { return !r.emit("aten::mm", {}, {}).empty(); }),
      Failure);
}

TEST(Rewrite, NamesTheNodeThatContradictsItself) {
  const auto graph = parse_graph(R"(graph "g" { input %x: float32[2]
    %a: float32[2] = aten::relu(%x) return %a })");
  try {
    rewrite(*graph, [](Node& node, Rewriter&) { return node.outputs[0]->type.sizes.at(1) == 2; });
    FAIL();
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 1u);
    EXPECT_EQ(failure.diagnostics()[0].id, "bad-node");
    EXPECT_EQ(failure.diagnostics()[0].where, "a");
  }
}

TEST(EraseDead, KeepsWhatIsUsedOrWrites) {
  const auto graph = parse_graph(R"(graph "g" {
    input %x: float32[2]
    constant %used: float32[2] = zeros
    constant %unused: float32[2] = zeros
    state %s: float32[2] = zeros
    %a: float32[2] = aten::relu(%x)
    %b: float32[2] = aten::exp(%a)
    %c: float32[2] = aten::add_.Tensor(%x, %used)
    %d: float32[2] = aten::neg(%x)
    mutate %s = %d
    return %x
  })");
  EXPECT_EQ(erase_dead(*graph), 2);
  EXPECT_EQ(print(*graph), R"(graph "g" {
  input %x: float32[2]
  constant %used: float32[2] = zeros
  state %s: float32[2] = zeros
  %c: float32[2] = aten::add_.Tensor(%x, %used, 1)
  %d: float32[2] = aten::neg(%x)
  mutate %s = %d
  return %x
}
)");
}

TEST(AllGraphs, ListsInnermostFirst) {
  const auto graph = parse_graph(R"(graph "outer" { input %p: bool[]
    %r: bool[] = higher_order::cond(%p, graph "a" { input %q: bool[] return %q },
      graph "b" { input %q: bool[]
        %r: bool[] = higher_order::map_impl(graph "c" { return }, [], []) return %r }, [%p])
    return %r })");
  std::string names;
  for (const Graph* each : all_graphs(*graph)) names += each->name + " ";
  EXPECT_EQ(names, "a c b outer ");
}

TEST(Source, NewestFrameIsTheUsersLine) {
  Source source;
  source.stack_trace =
      "  File \"/home/a/nn/module.py\", line 5, in __call__\n    return f(x)\n"
      "  File \"/home/a/model.py\", line 12, in forward\n    y = torch.foo(x)\n";
  EXPECT_EQ(source.newest_frame(), "model.py:12 in forward: y = torch.foo(x)");
  source.stack_trace = "  File \"m.py\", line 3, in g";
  EXPECT_EQ(source.newest_frame(), "m.py:3 in g");
  source.stack_trace = "nothing";
  EXPECT_EQ(source.newest_frame(), "");
}

}  // namespace
}  // namespace taper::exir
