#include "exir/guards.h"

#include <gtest/gtest.h>

#include "exir/bounds.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::unique_ptr<Graph> graph_with(const std::string& guards) {
  return parse_graph("graph \"g\" { range s0 = [2, inf] range s1 = [0, 40] " + guards +
                     " input %x: float32[s0, s1] return %x }");
}

SymRange range_of(const std::string& guards, const std::string& symbol = "s0") {
  const auto graph = graph_with(guards);
  apply_guards(*graph);
  return graph->ranges.at(symbol);
}

void expect_range(const SymRange& range, int64_t min, int64_t max) {
  EXPECT_EQ(range.min, min);
  EXPECT_EQ(range.max, max);
}

TEST(GuardsOfSizes, NarrowTheRanges) {
  expect_range(range_of("guard \"gt(s0, 8)\""), 9, SymRange::kUnbounded);
  expect_range(range_of("guard \"eq(3*s0//4, 1500)\""), 2000, 2001);
  expect_range(range_of("guard \"eq(min(50, s0), s0)\" guard \"le(s0, 50)\""), 2, 50);
  expect_range(range_of("guard \"gt(s0*s0, 30)\""), 6, SymRange::kUnbounded);
  expect_range(range_of("guard \"le(s0, s1)\""), 2, 40);
  expect_range(range_of("guard \"le(s0, s1)\"", "s1"), 0, 40);
  expect_range(range_of("guard \"eq(mod(s1, 16), 0)\"", "s1"), 0, 32);
}

// PyTorch takes sizes of 0 and 1 whatever the range says, unless a guard excludes them.
TEST(GuardsOfSizes, LowerBoundsThatNothingChecksAreNoneToRelyOn) {
  const auto graph = graph_with("guard \"ne(mod(s0, 4), 2)\" guard \"ge(s0, 2)\"");
  apply_guards(*graph);
  expect_range(graph->ranges.at("s0"), 2, SymRange::kUnbounded);
  EXPECT_EQ(graph->guards.size(), 2u);
}

TEST(GuardsOfSizes, WhatRangesImplyGoes) {
  const auto graph = graph_with("guard \"gt(s0, 8)\" guard \"eq(mod(s0, 4), 0)\"");
  apply_guards(*graph);
  ASSERT_EQ(graph->guards.size(), 1u);
  EXPECT_EQ(graph->guards[0].text, "eq(mod(s0, 4), 0)");
}

TEST(GuardsOfSizes, OneThatCannotHoldIsRefused) {
  const auto graph = graph_with("guard \"gt(s1, 40)\"");
  try {
    apply_guards(*graph);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "the program was exported for inputs with gt(s1, 40) only, which none has: s1 is "
                 "0 to 40");
  }
}

TEST(GuardsOfSizes, AreHeldAgainstTheCallersBounds) {
  std::vector<std::string> warnings;
  const std::string guard = "guard \"eq(3*s0//4, 1500)\"";
  for (const int64_t bound : {1999, 2002}) {
    EXPECT_THROW(bound_symbols(*graph_with(guard), {{"s0", bound}}, warnings), Failure) << bound;
  }
  const auto graph = graph_with(guard);
  bound_symbols(*graph, {{"s0", 2000}}, warnings);
  expect_range(graph->ranges.at("s0"), 2000, 2000);
  EXPECT_TRUE(graph->guards.empty());
}

}  // namespace
}  // namespace taper::exir
