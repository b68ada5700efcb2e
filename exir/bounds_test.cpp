#include "exir/bounds.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(Bounds, EverySymbolWithoutOneIsNamedWithItsOrigin) {
  const auto graph = parse_graph(R"(graph "g" {
  range u0 = [0, inf]
  input %x: float32[s0, 2]
  input %n: int64[]
  %i: int(u0) = aten::item(%n)
  %z: float32[u0] = aten::zeros([%i])
  return %x, %z
})");
  try {
    check_bounds(*graph);
    FAIL() << "two sizes have no bound";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 2u);
    EXPECT_EQ(failure.diagnostics()[0].message,
              "the size s0 (dimension 0 of the input x) has no upper bound, so no memory can be "
              "planned for it");
    EXPECT_EQ(failure.diagnostics()[0].remedy,
              "export with dynamic_shapes={\"x\": {0: torch.export.Dim(\"s0\", max=N)}}, or use "
              "--bound s0=N");
    EXPECT_EQ(failure.diagnostics()[1].remedy,
              "write torch._check(size <= N) after that line, or use --bound u0=N");
  }
}

TEST(Bounds, TheCallersBoundWinsAndTheSampleIsTheLastResort) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range s1 = [0, inf]
  input %x: float32[s0, s1]
  return %x
})");
  graph->hints = {{"s0", 3}, {"s1", 5}};
  std::vector<std::string> warnings;
  bound_symbols(*graph, {{"s0", 4}}, warnings);
  EXPECT_EQ(graph->ranges.at("s0").max, 4);
  EXPECT_EQ(graph->ranges.at("s1").max, 5);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].rfind("the size s1 (dimension 1 of the input x) has no upper bound", 0),
            0u);
  check_bounds(*graph);
  EXPECT_THROW(bound_symbols(*graph, {{"s0", 1}}, warnings), Failure);
}

TEST(Bounds, ABoundOfWhatIsNoSymbolIsRefused) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  input %x: float32[s0, u0]
  return %x
})");
  const std::set<std::string> symbols = symbols_of(*graph);
  EXPECT_EQ(symbols, (std::set<std::string>{"s0", "u0"}));
  check_symbols({{"s0", 1}, {"u0", 2}}, symbols);
  try {
    check_symbols({{"nonsense", 4}, {"s0", 1}, {"s00", 2}}, symbols);
    FAIL() << "two bounds are of nothing";
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 2u);
    EXPECT_EQ(failure.diagnostics()[0].message,
              "the bound 4 is of 'nonsense', which is no symbolic size of the program; it has s0, "
              "u0");
    EXPECT_EQ(failure.diagnostics()[1].message.rfind("the bound 2 is of 's00'", 0), 0u);
  }
  try {
    check_symbols({{"s0", 1}}, {});
    FAIL() << "there is no symbol";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "the bound 1 is of 's0', which is no symbolic size of the program; it has none");
  }
}

TEST(Bounds, WhatAMaskChoosesIsAtMostAll) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  range u1 = [0, 5]
  range u2 = [0, inf]
  input %x: float32[s0, 3]
  input %m: bool[4, 1, 3]
  %y: float32[u0] = aten::masked_select(%x, %m)
  %p: int64[u1, 1] = aten::nonzero(%y)
  %q: int64[u2, 1] = aten::nonzero(%p)
  return %q
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 4 * 9 * 3);
  EXPECT_EQ(graph->ranges.at("u1").max, 5);
  EXPECT_EQ(graph->ranges.at("u2").max, 5);
  EXPECT_TRUE(warnings.empty());
}

TEST(Bounds, SuppressionKeepsAtMostAllBoxes) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  input %boxes: float32[s0, 4]
  input %scores: float32[s0]
  %y: int64[u0] = torchvision::nms(%boxes, %scores, 0.5)
  return %y
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 9);
  EXPECT_TRUE(warnings.empty());
}

TEST(Bounds, SlicesAreAtMostAsManyAsThereAre) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  range u1 = [0, inf]
  range u2 = [0, inf]
  input %x: float32[s0, 3]
  %y: float32[u0, 3], %i: int64[s0], %n: int64[u0] = aten::unique_dim(%x, 0)
  %z: float32[s0, u1], %j: int64[0], %m: int64[0] = aten::unique_consecutive(%x, False, False, -1)
  %t: float32[u2], %k: int64[0], %o: int64[0] = aten::unique_consecutive(%x)
  return %t
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 9);
  EXPECT_EQ(graph->ranges.at("u1").max, 3);
  EXPECT_EQ(graph->ranges.at("u2").max, 9 * 3);
}

// Mixtures of experts give each expert as many rows as data say.
TEST(Bounds, PartsAreAtMostTheWhole) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  range u1 = [0, inf]
  range u2 = [0, inf]
  range u3 = [0, inf]
  input %x: float32[4, 2*s0]
  input %n: int(u0)
  input %m: int(u1)
  %a: float32[4, u0], %b: float32[4, u1] = aten::split_with_sizes(%x, [%n, %m], 1)
  %c: float32[u2, 2*s0] = aten::narrow(%x, 0, %n, %m)
  %d: float32[u3] = aten::full([%m], 1.0)
  return %a, %b, %c, %d
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 2 * 9);
  EXPECT_EQ(graph->ranges.at("u1").max, 2 * 9);
  EXPECT_EQ(graph->ranges.at("u2").max, 4);
  EXPECT_EQ(graph->ranges.at("u3").max, SymRange::kUnbounded);
}

TEST(Bounds, HowOftenAConstantRepeatsIsKnown) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  range u1 = [0, inf]
  range u2 = [0, inf]
  range u3 = [0, inf]
  input %x: float32[3, s0]
  input %n: int64[3]
  constant %r: int64[3] = {1, 0, 5}
  constant %t: int32[1] = {2}
  %c: int64[3] = aten::lift_fresh_copy(%r)
  %a: float32[u0, s0] = aten::repeat_interleave.self_Tensor(%x, %c, 0)
  %b: float32[3, u1] = aten::repeat_interleave.self_Tensor(%x, %t, -1)
  %d: float32[u2, s0] = aten::repeat_interleave.self_Tensor(%x, %n, 0)
  %e: int32[s0] = aten::expand(%t, [-1])
  %f: int64[u3] = aten::repeat_interleave.Tensor(%e)
  return %a, %b, %d, %f
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 1 + 0 + 5);
  EXPECT_EQ(graph->ranges.at("u1").max, 2 * 9);
  EXPECT_EQ(graph->ranges.at("u2").max, SymRange::kUnbounded);
  EXPECT_EQ(graph->ranges.at("u3").max, 2 * 9);
}

// Indices are less than the size of their dimension, through views and choices; an input can have
// any numbers.
TEST(Bounds, WhatIsCountedIsOftenKnown) {
  const auto graph = parse_graph(R"(graph "g" {
  range s0 = [2, 9]
  range u0 = [0, inf]
  range u1 = [0, inf]
  range u2 = [0, inf]
  range u3 = [0, inf]
  range u4 = [0, inf]
  input %x: float32[s0, 6]
  input %n: int64[4]
  input %b: uint8[4]
  %v: float32[s0, 2], %i: int64[s0, 2] = aten::topk(%x, 2)
  %f: int64[2*s0] = aten::view(%i, [-1])
  %a: int64[u0] = aten::bincount(%f, None, 4)
  %c: int64[u1] = aten::bincount(%f, None, 8)
  %m: int64[] = aten::argmax(%x)
  %w: int64[1] = aten::unsqueeze(%m, 0)
  %d: int64[u2] = aten::bincount(%w)
  %l: int64[4] = aten::to.dtype(%b, int64)
  %e: int64[u3] = aten::bincount(%l)
  %o: int64[u4] = aten::bincount(%n, None, 8)
  return %a, %c, %d, %e, %o
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 6);
  EXPECT_EQ(graph->ranges.at("u1").max, 8);
  EXPECT_EQ(graph->ranges.at("u2").max, 9 * 6);
  EXPECT_EQ(graph->ranges.at("u3").max, 256);
  EXPECT_EQ(graph->ranges.at("u4").max, SymRange::kUnbounded);
}

TEST(Bounds, CombinationsAreAtMostAllTuples) {
  const auto graph = parse_graph(R"(graph "g" {
  range u0 = [0, inf]
  input %x: float32[5]
  %y: float32[u0, 3] = aten::combinations(%x, 3, False)
  return %y
})");
  std::vector<std::string> warnings;
  bound_symbols(*graph, {}, warnings);
  EXPECT_EQ(graph->ranges.at("u0").max, 5 * 5 * 5);
}

}  // namespace
}  // namespace taper::exir
