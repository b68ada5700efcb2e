#include "exir/ir/sym.h"

#include <gtest/gtest.h>

#include <random>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

std::string canonical(std::string_view text) { return parse_sym(text).text(); }

TEST(Sym, SumsAndProductsAreCanonical) {
  EXPECT_EQ(canonical("4*(1 + s0)"), "4*s0 + 4");
  EXPECT_EQ(canonical("s0*4 + 4"), "4*s0 + 4");
  EXPECT_EQ(canonical("s1*s0 - s0*s1"), "0");
  EXPECT_EQ(canonical("(s0 + 1)*(s0 - 1)"), "s0*s0 - 1");
  EXPECT_EQ(canonical("3 - s0"), "-s0 + 3");
}

TEST(Sym, DivisionSplitsWhatIsExact) {
  EXPECT_EQ(canonical("(4*s0 + 4)//2"), "2*s0 + 2");
  EXPECT_EQ(canonical("(4*s0 + 3)//4"), "s0");
  EXPECT_EQ(canonical("(5*s0 - 1)//4"), "(s0 + 3)//4 + s0 - 1");
  EXPECT_EQ(canonical("(s0*s1)//s1"), "s0");
  EXPECT_EQ(canonical("ceil_div(s0, 2)"), "(s0 + 1)//2");
  EXPECT_EQ(canonical("mod(4*s0 + 5, 4)"), "1");
  EXPECT_EQ(canonical("mod(s0*s1, s0)"), "0");
}

TEST(Sym, FoldsWhatIsKnown) {
  EXPECT_EQ(canonical("-7//2"), "-4");
  EXPECT_EQ(canonical("mod(-7, 2)"), "1");
  EXPECT_EQ(canonical("max(1, s0, max(3, s1))"), "max(3, s0, s1)");
  EXPECT_EQ(canonical("trunc(float_mul(1.5, to_float(5)))"), "7");
  EXPECT_EQ(canonical("round(2.5)"), "2");
  EXPECT_EQ(canonical("where(eq(s0, s0), 1, 2)"), "1");
  EXPECT_EQ(canonical("and(lt(s0, 4), eq(1, 2))"), "0");
  EXPECT_EQ(canonical("sqrt(9.0)"), "3.0");
}

TEST(Sym, ReadsItsOwnText) {
  for (const char* text :
       {"(s0 + 1)//2", "2*(s0//2)", "max(2, s0)", "-s0*s1 - 3", "1e+300",
        "trunc(float_mul(1.5, to_float(s0)))", "(s0//2)//3", "-inf", "u0",
        "where(lt(s0, 3), s0, 2)", "sqrt(to_float(s0))", "-9223372036854775808"}) {
    EXPECT_EQ(canonical(text), text);
    EXPECT_EQ(parse_sym(text), parse_sym(canonical(text)));
  }
}

TEST(Sym, EvaluatesUnderAnAssignment) {
  EXPECT_EQ(parse_sym("(s0 + 1)//2 * s1").evaluate({{"s0", 6}, {"s1", 5}}), 15);
  EXPECT_EQ(parse_sym("s0 + 1").evaluate({}), std::nullopt);
  EXPECT_EQ(parse_sym("4//s0").evaluate({{"s0", 0}}), std::nullopt);
  EXPECT_EQ(parse_sym("s0*s0").evaluate({{"s0", INT64_MAX}}), std::nullopt);
}

// Whoever computes with a size that has no number yet must not get one.
TEST(Sym, OnlyAKnownSizeIsANumber) {
  EXPECT_EQ((Sym(7) - Sym(2)).as_int(), 5);
  const Sym s = Sym::symbol("s0");
  for (const Sym& size : {s, s + Sym(1), s * Sym(4), floor_div(s, Sym(2))}) {
    EXPECT_THROW(size.as_int(), Failure) << size.text();
  }
}

TEST(Sym, BoundsFollowTheSymbols) {
  const SymRanges ranges = {{"s0", {2, 100}}, {"u0", {0, SymRange::kUnbounded}}};
  const auto bounds = [&](const char* text) {
    const SymRange range = parse_sym(text).range(ranges);
    return std::pair(range.min, range.max);
  };
  EXPECT_EQ(bounds("4*s0 + 4"), std::pair(int64_t{12}, int64_t{404}));
  EXPECT_EQ(bounds("(s0 + 1)//2"), std::pair(int64_t{1}, int64_t{50}));
  EXPECT_EQ(bounds("mod(s0, 7)"), std::pair(int64_t{0}, int64_t{6}));
  EXPECT_EQ(bounds("u0 + 1"), std::pair(int64_t{1}, SymRange::kUnbounded));
  EXPECT_EQ(bounds("min(u0, s0)"), std::pair(int64_t{0}, int64_t{100}));
  EXPECT_EQ(bounds("10 - s0"), std::pair(int64_t{-90}, int64_t{8}));
}

// As doubles 1.7 * 10 is 17, though the double nearest to 1.7 is less.
TEST(Sym, BoundsOfFloatsAreRoundedAsTheirValues) {
  const SymRanges ranges = {{"s0", {1, 10}}};
  const SymValues most = {{"s0", 10}};
  for (const char* text :
       {"trunc(float_mul(1.7, to_float(s0)))", "ceil(float_mul(1.1, to_float(s0)))",
        "floor(float_mul(0.7, to_float(s0)))", "trunc(true_div(s0, 0.1))",
        "trunc(float_add(0.1, float_mul(0.29, to_float(s0))))"}) {
    const Sym size = parse_sym(text);
    EXPECT_EQ(size.range(ranges).max, size.evaluate(most)) << text;
  }
  EXPECT_EQ(parse_sym("trunc(float_mul(1.7, to_float(s0)))").range(ranges).max, 17);
}

TEST(Sym, RefusesWhatIsHostile) {
  EXPECT_THROW(parse_sym("9223372036854775807 + 1"), Failure);
  EXPECT_THROW(parse_sym("9223372036854775808"), Failure);
  EXPECT_THROW(parse_sym(std::string(5000, '(')), Failure);
  EXPECT_THROW(parse_sym("max(s0"), Failure);
  EXPECT_THROW(parse_sym("mod(s0)"), Failure);
  EXPECT_THROW(parse_sym("s0 s1"), Failure);
  EXPECT_THROW(parse_sym(""), Failure);
  EXPECT_THROW(Sym::symbol("a b"), Failure);
  std::string power = "(a + b + c + d)";
  EXPECT_THROW(
      {
        for (int i = 0; i < 8; ++i) power = "(" + power + "*" + power + ")";
        parse_sym(power);
      },
      Failure);
}

// A random expression, its canonical text, and the value of both under random assignments.
struct Random {
  std::mt19937 engine{20240611};

  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  std::string expression(int depth) {
    if (depth == 0 || number(0, 3) == 0) {
      const char* leaves[] = {"s0", "s1", "s2"};
      return number(0, 1) == 0 ? std::to_string(number(0, 9)) : leaves[number(0, 2)];
    }
    const std::string a = expression(depth - 1), b = expression(depth - 1);
    switch (number(0, 6)) {
      case 0:
        return "(" + a + " + " + b + ")";
      case 1:
        return "(" + a + " - " + b + ")";
      case 2:
        return "((" + a + ")*(" + b + "))";
      case 3:
        return "((" + a + ")//" + std::to_string(number(1, 6)) + ")";
      case 4:
        return "mod(" + a + ", " + std::to_string(number(1, 6)) + ")";
      case 5:
        return "max(" + a + ", " + b + ")";
      default:
        return "min(" + a + ", " + b + ")";
    }
  }
};

// Evaluates the text of an expression directly, without any canonical form.
int64_t naive(std::string_view text, size_t& at, const SymValues& values);

int64_t naive_primary(std::string_view text, size_t& at, const SymValues& values) {
  if (text[at] == '(') {
    ++at;
    const int64_t out = naive(text, at, values);
    ++at;
    return out;
  }
  if (text[at] == 's') {
    at += 2;
    return values.find(text.substr(at - 2, 2))->second;
  }
  if (text[at] == 'm') {
    const std::string_view name = text.substr(at, 3);
    at += 4;
    const int64_t a = naive(text, at, values);
    at += 2;
    const int64_t b = naive(text, at, values);
    ++at;
    if (name == "max") return std::max(a, b);
    return name == "min" ? std::min(a, b) : ((a % b) + b) % b;
  }
  int64_t out = 0;
  while (at < text.size() && std::isdigit(text[at])) out = out * 10 + (text[at++] - '0');
  return out;
}

int64_t naive(std::string_view text, size_t& at, const SymValues& values) {
  int64_t out = naive_primary(text, at, values);
  while (at < text.size() && text[at] != ')' && text[at] != ',') {
    if (text.substr(at, 2) == "//") {
      at += 2;
      const int64_t b = naive_primary(text, at, values);
      out = (out - ((out % b) + b) % b) / b;
    } else if (text[at] == '*') {
      ++at;
      out *= naive_primary(text, at, values);
    } else {
      const bool plus = text[at + 1] == '+';
      at += 3;
      const int64_t b = naive_primary(text, at, values);
      out = plus ? out + b : out - b;
    }
  }
  return out;
}

TEST(Sym, RandomExpressionsKeepTheirValueAndTheirBounds) {
  Random random;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string text = "(" + random.expression(4) + ")";
    const Sym sym = parse_sym(text);
    EXPECT_EQ(parse_sym(sym.text()), sym) << text << " became " << sym.text();
    const SymRange range = sym.range({{"s0", {1, 9}}, {"s1", {0, 5}}, {"s2", {3, 30}}});
    for (int i = 0; i < 4; ++i) {
      const SymValues values = {
          {"s0", random.number(1, 9)}, {"s1", random.number(0, 5)}, {"s2", random.number(3, 30)}};
      size_t at = 0;
      const int64_t want = naive(text, at, values);
      ASSERT_EQ(sym.evaluate(values), want) << text << " became " << sym.text();
      EXPECT_LE(range.min, want) << text;
      EXPECT_GE(range.max, want) << text;
    }
  }
}

}  // namespace
}  // namespace taper::exir
