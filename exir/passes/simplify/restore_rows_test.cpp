#include "exir/passes/simplify/restore_rows.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string restored(const std::string& body, const std::string& sizes = "2, 4") {
  const auto graph =
      parse_graph("graph \"g\" {\n  input %x: float32[" + sizes + "]\n" + body + "\n}");
  restore_rows(*graph);
  return print(*graph);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

constexpr char kExtremes[] = R"(  constant %zeros: float32[2] = {0, 0}
  %amin: float32[2] = aten::amin(%x, [1], False)
  %amax: float32[2] = aten::amax(%x, [1], False)
  %least: float32[2] = aten::minimum(%amin, %zeros)
  %most: float32[2] = aten::maximum(%amax, %zeros)
)";

// The chain of zero points in the range of int8, with a divisor.
std::string asymmetric(const char* divisor) {
  return std::string(kExtremes) + R"(  %width: float32[2] = aten::sub.Tensor(%most, %least, 1)
  %d: float32[2] = aten::div.Scalar(%width, )" +
         divisor + R"()
  %s: float32[2] = aten::clamp(%d, 1e-07, None)
  %p: float32[2] = aten::div.Tensor(%least, %s)
  %r: float32[2] = aten::round(%p)
  %b: float32[2] = aten::rsub.Scalar(%r, -128, 1)
  %c: float32[2] = aten::clamp(%b, -128, 127)
  %z: int8[2] = dim_order_ops::_to_dim_order_copy(%c, int8, None, None, None, False, [0])
  %s1: float32[2, 1] = aten::view_copy(%s, [2, 1])
  %z1: int8[2, 1] = aten::view_copy(%z, [2, 1])
  %i: float32[2, 1] = aten::reciprocal(%s1)
  %m: float32[2, 1] = aten::mul.Scalar(%i, 1.0)
  %t: float32[2, 4] = aten::mul.Tensor(%x, %m)
  %u: float32[2, 4] = aten::round(%t)
  %f: float32[2, 1] = dim_order_ops::_to_dim_order_copy(%z1, float32, None, None, None, False, [0, 1])
  %v: float32[2, 4] = aten::add.Tensor(%u, %f, 1)
  %w: float32[2, 4] = aten::clamp(%v, -128, 127)
  %q: int8[2, 4] = dim_order_ops::_to_dim_order_copy(%w, int8, None, None, None, False, [0, 1])
  %g: float32[2, 4] = dim_order_ops::_to_dim_order_copy(%q, float32, None, None, None, False, [0, 1])
  %h: float32[2, 4] = aten::sub.Tensor(%g, %f, 1)
  %y: float32[2, 4] = aten::mul.Tensor(%h, %s1)
  return %y)";
}

TEST(RestoreRows, AChainWithZeroPointsIsThreeNodes) {
  const std::string text = restored(asymmetric("255.0"));
  EXPECT_EQ(count(text, "torchao::choose_qparams_affine(%x, \"ASYMMETRIC\", [1, 4]"), 1u) << text;
  EXPECT_EQ(count(text, "torchao::quantize_affine(%x, "), 1u) << text;
  EXPECT_EQ(count(text, "torchao::dequantize_affine("), 1u) << text;
  EXPECT_EQ(count(text, "aten::"), 0u) << text;
}

TEST(RestoreRows, AnotherDivisorIsAnotherScheme) {
  const std::string text = restored(asymmetric("254.0"));
  EXPECT_EQ(count(text, "torchao::"), 0u) << text;
}

std::string symmetric(const char* zero_points) {
  return restored(std::string(kExtremes) + zero_points + R"(  %n: float32[2] = aten::neg(%least)
  %a: float32[2] = aten::maximum(%n, %most)
  %d: float32[2] = aten::div.Scalar(%a, 127.5)
  %s: float32[2] = aten::clamp(%d, 1e-07, None)
  %s1: float32[2, 1] = aten::view_copy(%s, [2, 1])
  %i: float32[2, 1] = aten::reciprocal(%s1)
  %t: float32[2, 4] = aten::mul.Tensor(%x, %i)
  %u: float32[2, 4] = aten::round(%t)
  %v: float32[2, 4] = aten::add.Tensor(%u, %none, 1)
  %w: float32[2, 4] = aten::clamp(%v, -128, 127)
  %q: int8[2, 4] = dim_order_ops::_to_dim_order_copy(%w, int8, None, None, None, False, [0, 1])
  return %q, %s)");
}

TEST(RestoreRows, ScalesOfASymmetricChainAreReplacedForProductsOfIntegers) {
  const std::string text = symmetric("  constant %none: float32[2, 1] = {0, 0}\n");
  EXPECT_EQ(count(text, "\"SYMMETRIC\""), 1u) << text;
  EXPECT_EQ(count(text, "torchao::quantize_affine(%x, "), 1u) << text;
  EXPECT_EQ(count(text, "aten::"), 0u) << text;
}

// Programs with a dynamic number of rows fill zero points with 0 in each run.
TEST(RestoreRows, ZeroPointsMayBeFilledAndCast) {
  const std::string text = symmetric(R"(  %full: float32[2, 1] = aten::full([2, 1], 0)
  %z: int8[2, 1] = dim_order_ops::_to_dim_order_copy(%full, int8, None, None, None, False, [0, 1])
  %none: float32[2, 1] = dim_order_ops::_to_dim_order_copy(%z, float32, None, None, None, False, [0, 1])
)");
  EXPECT_EQ(count(text, "\"SYMMETRIC\""), 1u) << text;
  EXPECT_EQ(count(text, "aten::"), 0u) << text;
}

// The chain of zero points with extremes of some dimensions, which leave one number.
std::string of_all(const std::string& dims, const std::string& rows = "2") {
  std::string body = asymmetric("255.0");
  const auto change = [&](const std::string& from, const std::string& to) {
    for (size_t at = body.find(from); at != body.npos; at = body.find(from, at + to.size())) {
      body.replace(at, from.size(), to);
    }
  };
  change("[1], False", "[" + dims + "], True");
  change("float32[2] = {0, 0}", "float32[1, 1] = {0}");
  change("float32[2] ", "float32[1, 1] ");
  change("int8[2] ", "int8[1, 1] ");
  change("float32[2, 1] ", "float32[1, 1] ");
  change("int8[2, 1] ", "int8[1, 1] ");
  change(", [2, 1])", ", [1, 1])");
  change("False, [0])", "False, [0, 1])");
  change("[2, 4]", "[" + rows + ", 4]");
  return restored(body, rows + ", 4");
}

TEST(RestoreRows, AChainWithOneScaleForAllRowsIsThreeNodes) {
  for (const char* dims : {"0, 1", "-1, 0"}) {
    const std::string text = of_all(dims);
    EXPECT_EQ(count(text, "torchao::choose_qparams_affine(%x, \"ASYMMETRIC\", [2, 4]"), 1u) << text;
    EXPECT_EQ(count(text, "torchao::dequantize_affine("), 1u) << text;
    EXPECT_EQ(count(text, "aten::"), 0u) << text;
  }
}

TEST(RestoreRows, AChainWithOneScaleMayHaveADynamicNumberOfRows) {
  const std::string text = of_all("0, 1", "s0");
  EXPECT_EQ(count(text, "%sym_size: int(s0) = aten::sym_size.int(%x, 0)"), 1u) << text;
  EXPECT_EQ(count(text, "torchao::choose_qparams_affine(%x, \"ASYMMETRIC\", [%sym_size, 4]"), 1u)
      << text;
  EXPECT_EQ(count(text, "torchao::dequantize_affine("), 1u) << text;
  EXPECT_EQ(count(of_all("0", "s0"), "torchao::"), 0u);
}

TEST(RestoreRows, ExtremesOfColumnsAreNoRows) {
  const std::string text = restored(R"(  constant %zeros: float32[4] = {0, 0, 0, 0}
  constant %none: float32[4] = {0, 0, 0, 0}
  %amin: float32[4] = aten::amin(%x, [0], False)
  %amax: float32[4] = aten::amax(%x, [0], False)
  %least: float32[4] = aten::minimum(%amin, %zeros)
  %most: float32[4] = aten::maximum(%amax, %zeros)
  %n: float32[4] = aten::neg(%least)
  %a: float32[4] = aten::maximum(%n, %most)
  %d: float32[4] = aten::div.Scalar(%a, 127.5)
  %s: float32[4] = aten::clamp(%d, 1e-07, None)
  %i: float32[4] = aten::reciprocal(%s)
  %t: float32[2, 4] = aten::mul.Tensor(%x, %i)
  %u: float32[2, 4] = aten::round(%t)
  %v: float32[2, 4] = aten::add.Tensor(%u, %none, 1)
  %w: float32[2, 4] = aten::clamp(%v, -128, 127)
  %q: int8[2, 4] = dim_order_ops::_to_dim_order_copy(%w, int8, None, None, None, False, [0, 1])
  return %q)");
  EXPECT_EQ(count(text, "torchao::"), 0u) << text;
}

}  // namespace
}  // namespace taper::exir
