#include "exir/frontend/sym_srepr.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

// An expression as PyTorch writes it, and its value at s0 = 7, s77 = 10, u0 = 4.
struct Case {
  const char* text;
  int64_t want;
};

class Srepr : public testing::TestWithParam<Case> {};

TEST_P(Srepr, HasTheValueThatPythonGives) {
  const Sym sym = parse_srepr(GetParam().text);
  EXPECT_EQ(sym.evaluate({{"s0", 7}, {"s77", 10}, {"u0", 4}}), GetParam().want) << sym.text();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Srepr,
    testing::Values(
        Case{"Integer(-3)", -3}, Case{"5", 5}, Case{"true", 1}, Case{"false", 0},
        Case{"Symbol('s77', positive=True, integer=True)", 10},
        Case{"Symbol('u0', integer=True)", 4},
        Case{"Add(Mul(Integer(2), FloorDiv(Add(Symbol('s77', positive=True, integer=True), "
             "Integer(-1)), Integer(2))), Integer(2))",
             10},
        Case{"Max(Integer(1), TruncToInt(Mul(Float('1.5', precision=53), ToFloat(Symbol('s0', "
             "positive=True, integer=True)))))",
             10},
        Case{"Mul(Rational(1, 2), Symbol('s77'))", 5},
        Case{"Mul(Rational(1, 2), Symbol('s0'), Add(Symbol('s0'), Integer(1)))", 28},
        Case{"Add(Mul(Rational(1, 2), Symbol('s0')), Rational(1, 2))", 4},
        Case{"Mul(Symbol('s77'), Pow(Symbol('u0'), Integer(-1)), Integer(2))", 5},
        Case{"Pow(Symbol('s0'), Integer(2))", 49},
        Case{"PowByNatural(Integer(2), Symbol('u0'))", 16},
        Case{"Mod(Symbol('s77'), Symbol('u0'))", 2},
        Case{"PythonMod(Symbol('s0'), Integer(-4))", -1},
        Case{"CeilDiv(Symbol('s0'), Integer(2))", 4},
        Case{"CleanDiv(Symbol('s77'), Integer(5))", 2},
        Case{"FloorDiv(Mul(Integer(-1), Symbol('s0')), Integer(2))", -4},
        Case{"ModularIndexing(Symbol('s77'), Integer(2), Integer(3))", 2},
        Case{"Min(Symbol('s77'), Symbol('s0'), Integer(8))", 7},
        Case{"Where(StrictLessThan(Symbol('s0'), Integer(8)), Integer(1), Integer(2))", 1},
        Case{"TruncToInt(IntTrueDiv(Symbol('s0'), Integer(2)))", 3},
        Case{"CeilToInt(IntTrueDiv(Symbol('s0'), Integer(2)))", 4},
        Case{"RoundToInt(IntTrueDiv(Symbol('s0'), Integer(2)))", 4},
        Case{"FloorToInt(OpaqueUnaryFn_sqrt(Symbol('s0')))", 2},
        Case{"LShift(Symbol('u0'), Integer(2))", 16}, Case{"RShift(Symbol('s77'), Integer(1))", 5},
        Case{"BitwiseFn_bitwise_xor(Symbol('s77'), Symbol('s0'))", 13},
        Case{"Piecewise(ExprCondPair(Integer(1), StrictLessThan(Symbol('s0'), Integer(7))), "
             "ExprCondPair(Integer(2), Equality(Symbol('u0'), Integer(4))), "
             "ExprCondPair(Symbol('s77'), true))",
             2},
        Case{"Equality(Symbol('s0'), Integer(7))", 1},
        Case{"Unequality(Symbol('s0'), Integer(7))", 0},
        Case{"LessThan(Symbol('s0'), Integer(7))", 1},
        Case{"LessThan(Symbol('s0'), Integer(36893488147419103224))", 1},
        Case{"StrictLessThan(Integer(-36893488147419103224), Symbol('s0'))", 1},
        Case{"GreaterThan(Symbol('s0'), Integer(36893488147419103224))", 0},
        Case{"GreaterThan(Symbol('s0'), Integer(8))", 0},
        Case{"StrictGreaterThan(Symbol('s0'), Integer(7))", 0},
        Case{"And(Equality(Symbol('s0'), Integer(7)), Not(Equality(Symbol('u0'), Integer(7))))", 1},
        Case{"Identity(Symbol('s0'))", 7},
        Case{"TruncToInt(TruncToFloat(Float('-2.7', precision=53)))", -2}));

TEST(SreprEquality, CanonicalFormsAgree) {
  const Sym a = parse_srepr("Add(Mul(Integer(4), Symbol('s0')), Integer(4))");
  const Sym b = parse_srepr("Mul(Add(Integer(1), Symbol('s0')), Integer(4))");
  EXPECT_EQ(a, b);
}

class BadSrepr : public testing::TestWithParam<const char*> {};

TEST_P(BadSrepr, IsRefused) { EXPECT_THROW(parse_srepr(GetParam()), Failure) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSrepr,
    testing::Values("", "(", "Add(", "Add()", "Add(Integer(1),", "Integer(x)", "Integer(1) + 1",
                    "Integer(99999999999999999999)", "Symbol(s0)", "Symbol('s0", "Symbol('s 0')",
                    "Symbol('s0', positive)", "Rational(1, 0)", "Rational(1, -2)", "Float('x')",
                    "__import__('os')", "Foo(Integer(1))", "Not(Integer(1), Integer(2))",
                    "Piecewise(Integer(1))", "Piecewise(ExprCondPair(Integer(1)))",
                    "Pow(Integer(2))", "Pow(Integer(2), Integer(-9999))", "1.2.3", "-",
                    "OpaqueUnaryFn_system(Integer(1), Integer(2))", "lambda: 0",
                    "LessThan(Symbol('s0'), Mul(Integer(99999999999999999999), Symbol('s0')))",
                    "Mul(Integer(9223372036854775807), Integer(2))"));

TEST(BadSreprDepth, IsLimited) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "Add(";
  EXPECT_THROW(parse_srepr(text), Failure);
}

TEST(BadSreprSize, SumsDoNotMultiplyWithoutEnd) {
  std::string text = "Mul(Integer(1)";
  for (int i = 0; i < 40; ++i) {
    text += ", Add(Symbol('a" + std::to_string(i) + "'), Symbol('b" + std::to_string(i) + "'))";
  }
  EXPECT_THROW(parse_srepr(text + ")"), Failure);
}

}  // namespace
}  // namespace taper::exir
