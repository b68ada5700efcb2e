#include "exir/passes/simplify/keep_assertions.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, std::vector<std::string>* warnings = nullptr) {
  const auto graph = parse_body(body);
  keep_assertions(*graph, warnings);
  return print_body(*graph);
}

void expect_unchanged(const std::string& text) { EXPECT_EQ(run(text), text); }

TEST(KeepAssertions, WritesGuardsBeforeAllNodes) {
  EXPECT_EQ(run(R"g(  range s0 = [2, 40]
  guard "ne(mod(s0, 4), 2)"
  input %x: float32[s0]
  %y: float32[s0] = aten::relu(%x)
  return %y)g"),
            R"g(  range s0 = [2, 40]
  guard "ne(mod(s0, 4), 2)"
  input %x: float32[s0]
  %size: int(s0) = aten::sym_size.int(%x, 0)
  %size_1: int(mod(s0, 4)) = python::mod(%size, 4)
  %size_2: bool(ne(mod(s0, 4), 2)) = python::ne(%size_1, 2)
  taper::assert(%size_2, "exported for ne(mod(s0, 4), 2) only")
  %y: float32[s0] = aten::relu(%x)
  return %y
)g");
}

TEST(KeepAssertions, HoldsDimensionsOfDynamicInputs) {
  EXPECT_EQ(run(R"g(  range s0 = [3, 40]
  input %x: float32[s0, 6]
  input %y: float32[2*s0]
  input %fixed: float32[4]
  return %fixed)g"),
            R"g(  range s0 = [3, 40]
  input %x: float32[s0, 6]
  input %y: float32[2*s0]
  input %fixed: float32[4]
  %size: int(s0) = aten::sym_size.int(%x, 0)
  %size_1: bool(holds) = python::ge(%size, 3)
  taper::assert(%size_1, "exported for x.size()[0] >= 3 only")
  %size_2: int(size) = aten::sym_size.int(%x, 1)
  %size_3: bool(holds) = python::eq(%size_2, 6)
  taper::assert(%size_3, "exported for x.size()[1] == 6 only")
  %size_4: int(2*s0) = aten::sym_size.int(%y, 0)
  %size_5: int(2*s0) = python::mul(2, %size)
  %size_6: bool(holds) = python::eq(%size_4, %size_5)
  taper::assert(%size_6, "exported for y.size()[0] == 2*x.size()[0] only")
  return %fixed
)g");
}

// No input has s0 rows, so it is found from one that has 2*s0 + 1.
TEST(KeepAssertions, SolvesForSymbolsOfExpressions) {
  const std::string text = run(R"g(  range s0 = [3, 40]
  input %x: float32[2*s0 + 1]
  input %y: float32[2*s0]
  input %z: float32[2*s0 + 1]
  return %y)g");
  for (const char* part : {"\"exported for x.size()[0] >= 7 only\"",
                           "\"exported for y.size()[0] == 2*((x.size()[0] - 1)//2) only\"",
                           "\"exported for z.size()[0] == x.size()[0] only\""}) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }
}

TEST(KeepAssertions, WhatRangesImplyAndNobodyChecksVanishes) {
  expect_unchanged(R"g(  range s0 = [2, 40]
  guard "lt(s0, 41)"
  input %x: float32[s0]
  input %y: float32[7]
  return %x
)g");
}

TEST(KeepAssertions, OneGuardIsEnoughForWhatSeveralSay) {
  const std::string text = run(R"g(  range s0 = [2, 40]
  guard "ne(s0, 2*s0)"
  guard "ne(8*s0, 0)"
  input %x: float32[s0]
  return %x)g");
  EXPECT_NE(text.find("exported for ne(s0, 2*s0) only"), text.npos) << text;
  EXPECT_EQ(text.find("exported for ne(8*s0, 0) only"), text.npos) << text;
}

TEST(KeepAssertions, AssertionsOnDataStayWhereTheyStand) {
  EXPECT_EQ(run(R"g(  input %x: float32[4]
  %m: bool[] = aten::all(%x)
  aten::_assert_async.msg(%m, "all of
them")
  %n: int(u0) = aten::item(%x)
  %p: bool(ge(u0, 1)) = python::ge(%n, 1)
  aten::_assert_scalar(%p, "at least one")
  aten::_assert_scalar(True, "never said")
  aten::_assert_tensor_metadata(%x, None, None, float32)
  return %x)g"),
            R"g(  input %x: float32[4]
  %m: bool[] = aten::all(%x)
  %size: bool(holds) = aten::_local_scalar_dense(%m)
  taper::assert(%size, "all of them")
  %n: int(u0) = aten::item(%x)
  %p: bool(ge(u0, 1)) = python::ge(%n, 1)
  taper::assert(%p, "at least one")
  aten::_assert_tensor_metadata(%x, None, None, float32, None, None)
  return %x
)g");
}

TEST(KeepAssertions, OneThatFollowsFromThoseBeforeVanishes) {
  const std::string text = run(R"g(  range u0 = [3, 5]
  input %x: int64[]
  %n: int(u0) = aten::item(%x)
  %a: bool(le(u0, 5)) = python::le(%n, 5)
  aten::_assert_scalar(%a, "first")
  %b: bool(lt(u0, 6)) = python::lt(%n, 6)
  aten::_assert_scalar(%b, "second")
  %c: bool(lt(u0, 5)) = python::lt(%n, 5)
  aten::_assert_scalar(%c, "third")
  return %x)g");
  EXPECT_NE(text.find("\"first\""), text.npos) << text;
  EXPECT_EQ(text.find("\"second\""), text.npos) << text;
  EXPECT_NE(text.find("\"third\""), text.npos) << text;
}

TEST(KeepAssertions, ACountOfChosenElementsIsNotNegative) {
  const std::string text = run(R"g(  input %x: float32[4]
  %k: int64[u0, 1] = aten::nonzero(%x)
  %n: int(u0) = aten::sym_size.int(%k, 0)
  aten::sym_constrain_range_for_size(%n, None, 3)
  return %k)g");
  EXPECT_EQ(text.find("python::ge"), text.npos) << text;
  EXPECT_NE(text.find("taper::assert(%size, \"n <= 3\")"), text.npos) << text;
}

// The exporter knows that the number is 1, since the assertion says so.
TEST(KeepAssertions, ANumberIsMeasuredEvenIfItsValueIsStated) {
  EXPECT_EQ(run(R"g(  input %x: int64[]
  %n: int(1) = aten::item(%x)
  %p: bool(1) = python::eq(%n, 1)
  aten::_assert_scalar(%p, "one")
  return %n)g"),
            R"g(  input %x: int64[]
  %n: int(1) = aten::item(%x)
  %size: int(measured) = aten::item(%x)
  %size_1: bool(measured) = python::eq(%size, 1)
  taper::assert(%size_1, "one")
  return %n
)g");
}

TEST(KeepAssertions, BodiesOfControlFlowKeepTheirs) {
  const std::string text = run(R"g(  input %p: bool[]
  input %x: float32[]
  %y: float32[] = higher_order::cond(%p, graph "yes" {
    input %a: float32[]
    aten::_assert_async.msg(%a, "not zero")
    %r: float32[] = aten::relu(%a)
    return %r
  }, graph "no" {
    input %a: float32[]
    %n: float32[] = aten::neg(%a)
    return %n
  }, [%x])
  return %y)g");
  EXPECT_NE(text.find("    taper::assert(%size, \"not zero\")"), text.npos) << text;
}

TEST(KeepAssertions, AGuardOfUnknownSizesIsToldOf) {
  std::vector<std::string> warnings;
  run("  guard \"ne(s9, 3)\"\n  input %x: float32[2]\n  return %x", &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the guard 'ne(s9, 3)' is not checked: no sizes of inputs determine it");
}

TEST(KeepAssertions, WhereATensorLiesIsUpToTheCompiler) {
  EXPECT_EQ(run(R"(  range u0 = [0, inf]
  input %x: float32[4]
  %o: int(u0) = aten::sym_storage_offset(%x)
  %n: int(2*u0) = python::mul(%o, 2)
  %p: bool(ge(2*u0, 3)) = python::ge(%n, 3)
  aten::_assert_scalar(%p, "an offset")
  return %x)"),
            "  range u0 = [0, inf]\n  input %x: float32[4]\n  return %x\n");
}

TEST(KeepAssertions, AreDroppedForRuntimesWithoutThem) {
  const auto graph =
      parse_graph("graph \"g\" {\n  range s0 = [3, 9]\n  input %x: float32[s0, 2]\n  return %x\n}");
  const std::string before = print(*graph);
  EXPECT_EQ(keep_assertions(*graph), 2);
  EXPECT_EQ(drop_assertions(*graph), 2);
  EXPECT_EQ(print(*graph), before);
}

}  // namespace
}  // namespace taper::exir
