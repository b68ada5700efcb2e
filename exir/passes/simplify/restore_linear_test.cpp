#include "exir/passes/simplify/restore_linear.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"
#include "exir/passes/simplify/fold_constants.h"

namespace taper::exir {
namespace {

std::string restored(const std::string& body) {
  const auto graph = parse_body(body);
  fold_constants(*graph);
  restore_linear(*graph);
  return print(*graph);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

constexpr char kWeights[] = R"(  input %x: float32[1, 2]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %b: float32[3] = {1, 2, 3}
  constant %s: float32[3, 1] = {0.5, 0.25, 1}
  %f: float32[3, 2] = aten::_to_copy(%w, float32)
  %d: float32[3, 2] = aten::mul.Tensor(%f, %s)
  %t: float32[2, 3] = aten::permute_copy(%d, [1, 0])
)";

TEST(RestoreLinear, AProductWithTransposedIntegersIsALayer) {
  const std::string text = restored(std::string(kWeights) + R"(
  %y: float32[1, 3] = aten::addmm(%b, %x, %t)
  return %y)");
  EXPECT_TRUE(has(text, "aten::linear(%x, %mul, %b)") || has(text, "aten::linear(")) << text;
  EXPECT_FALSE(has(text, "addmm")) << text;
  EXPECT_FALSE(has(text, "permute")) << text;
}

TEST(RestoreLinear, FactorsOfAProductStay) {
  const std::string text = restored(std::string(kWeights) + R"(
  %y: float32[1, 3] = aten::addmm(%b, %x, %t, 2, 1)
  return %y)");
  EXPECT_TRUE(has(text, "addmm")) << text;
}

TEST(RestoreLinear, ScalesAfterAProductGoIntoItsWeights) {
  const std::string text = restored(R"(  input %x: float32[1, 3]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %s: float32[2] = {0.5, 0.25}
  %f: float32[3, 2] = aten::_to_copy(%w, float32)
  %p: float32[1, 2] = aten::mm(%x, %f)
  %y: float32[1, 2] = aten::mul.Tensor(%p, %s)
  return %y)");
  EXPECT_TRUE(has(text, "aten::linear(")) << text;
  EXPECT_FALSE(has(text, "aten::mul")) << text;
}

TEST(RestoreLinear, AProductThatIsReadTwiceKeepsItsScales) {
  const std::string text = restored(R"(  input %x: float32[1, 3]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %s: float32[2] = {0.5, 0.25}
  %f: float32[3, 2] = aten::_to_copy(%w, float32)
  %p: float32[1, 2] = aten::mm(%x, %f)
  %y: float32[1, 2] = aten::mul.Tensor(%p, %s)
  return %y, %p)");
  EXPECT_TRUE(has(text, "aten::mul")) << text;
}

TEST(RestoreLinear, ABiasBehindAProductIsThatOfTheLayer) {
  const std::string text = restored(std::string(kWeights) + R"(
  %p: float32[1, 3] = aten::mm(%x, %t)
  %y: float32[1, 3] = aten::add.Tensor(%p, %b, 1)
  return %y)");
  EXPECT_FALSE(has(text, "aten::add")) << text;
  EXPECT_TRUE(has(text, ", %b)")) << text;
}

TEST(RestoreLinear, ABiasTimesANumberStays) {
  const std::string text = restored(std::string(kWeights) + R"(
  %p: float32[1, 3] = aten::mm(%x, %t)
  %y: float32[1, 3] = aten::add.Tensor(%p, %b, 2)
  return %y)");
  EXPECT_TRUE(has(text, "aten::add")) << text;
}

TEST(RestoreLinear, AMatrixThatIsRepeatedIsOneLayer) {
  const std::string text = restored(std::string(kWeights) + R"(  input %z: float32[4, 5, 2]
  %e: float32[4, 2, 3] = aten::expand_copy(%t, [4, 2, 3], False)
  %y: float32[4, 5, 3] = aten::bmm(%z, %e)
  return %y)");
  EXPECT_TRUE(has(text, "float32[4, 5, 3] = aten::linear(%z, ")) << text;
  EXPECT_FALSE(has(text, "bmm")) << text;
}

TEST(RestoreLinear, RowsThatWereAMatrixAreRowsAgain) {
  const std::string text = restored(std::string(kWeights) + R"(  input %z: float32[4, 5, 2]
  %r: float32[20, 2] = aten::view_copy(%z, [20, 2])
  %p: float32[20, 3] = aten::addmm(%b, %r, %t)
  %y: float32[4, 5, 3] = aten::view_copy(%p, [4, 5, 3])
  return %y)");
  EXPECT_TRUE(has(text, "float32[4, 5, 3] = aten::linear(%z, ")) << text;
  EXPECT_FALSE(has(text, "view_copy")) << text;
}

TEST(RestoreLinear, RowsThatAreSplitOtherwiseStayAMatrix) {
  const std::string text = restored(std::string(kWeights) + R"(  input %z: float32[4, 5, 2]
  %r: float32[20, 2] = aten::view_copy(%z, [20, 2])
  %p: float32[20, 3] = aten::addmm(%b, %r, %t)
  %y: float32[5, 4, 3] = aten::view_copy(%p, [5, 4, 3])
  return %y)");
  EXPECT_TRUE(has(text, "float32[20, 3] = aten::linear(%r, ")) << text;
}

TEST(RestoreLinear, FloatsStayAsTheyAre) {
  const std::string text = restored(R"(  input %x: float32[1, 2]
  constant %w: float32[2, 3] = {1, 2, 3, -4, 5, 6}
  %y: float32[1, 3] = aten::mm(%x, %w)
  return %y)");
  EXPECT_TRUE(has(text, "aten::mm")) << text;
}

// A layer whose rows are quantised with zero points, which `taken` takes off its sums; `sums` are
// those of the columns of its weights.
std::string of_bytes(const char* taken, const char* sums, const char* mapping = "ASYMMETRIC") {
  return restored(std::string("  input %x: float32[2, 3]\n  constant %sums: float32[2] = {") +
                  sums +
                  R"(}
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %f: float32[2] = {0.5, 0.25}
  %s: float32[2, 1], %z: int8[2, 1] = torchao::choose_qparams_affine(%x, ")" +
                  mapping + R"(", [1, 3], int8, -128, 127, 1e-07, float32, int8, True)
  %q: int8[2, 3] = torchao::quantize_affine(%x, [1, 3], %s, %z, int8, -128, 127)
  %p: int32[2, 2] = aten::_int_mm(%q, %w)
  %g: float32[2, 2] = aten::_to_copy(%p, float32)
  %m: float32[2, 2] = aten::mul.Tensor(%g, %s)
  %h: float32[2, 1] = aten::_to_copy(%z, float32)
  %t: float32[2, 1] = aten::mul.Tensor(%h, %s)
  %u: float32[2, 2] = aten::mul.Tensor(%t, %sums)
  %d: float32[2, 2] = aten::sub.Tensor(%m, %u, 1)
  %y: float32[2, 2] = aten::mul.Tensor()" +
                  taken + ", %f)\n  return %y");
}

TEST(RestoreLinear, AProductOfBytesTakesOffTheZeroPointsOfItsRows) {
  const std::string text = of_bytes("%d", "9, 4");
  EXPECT_TRUE(has(text, "torchao::dequantize_affine(")) << text;
  EXPECT_TRUE(has(text, "aten::linear(")) << text;
  EXPECT_FALSE(has(text, "_int_mm")) << text;
}

TEST(RestoreLinear, AProductOfBytesMayHaveOneScaleAndOneFactor) {
  const std::string text = restored(R"(  input %x: float32[2, 3]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %f: float32[1] = {0.5}
  %s: float32[1, 1], %z: int8[1, 1] = torchao::choose_qparams_affine(%x, "SYMMETRIC", [2, 3], int8, -128, 127, 1e-07, float32, int8, True)
  %q: int8[2, 3] = torchao::quantize_affine(%x, [2, 3], %s, %z, int8, -128, 127)
  %p: int32[2, 2] = aten::_int_mm(%q, %w)
  %g: float32[2, 2] = aten::_to_copy(%p, float32)
  %m: float32[2, 2] = aten::mul.Tensor(%g, %s)
  %y: float32[2, 2] = aten::mul.Tensor(%m, %f)
  return %y)");
  EXPECT_TRUE(has(text, "torchao::dequantize_affine(%q, [2, 3], %s")) << text;
  EXPECT_TRUE(has(text, "aten::linear(")) << text;
  EXPECT_FALSE(has(text, "_int_mm")) << text;
}

TEST(RestoreLinear, AProductOfBytesMayHaveADynamicNumberOfRows) {
  const std::string text = restored(R"(  range s0 = [2, 8]
  input %x: float32[s0, 5, 3]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %f: float32[2] = {0.5, 0.25}
  %s: float32[s0, 5, 1], %z: int8[s0, 5, 1] = torchao::choose_qparams_affine(%x, "SYMMETRIC", [1, 1, 3], int8, -128, 127, 1e-07, float32, int8, True)
  %q: int8[s0, 5, 3] = torchao::quantize_affine(%x, [1, 1, 3], %s, %z, int8, -128, 127)
  %b: int8[5*s0, 3] = aten::view_copy(%q, [-1, 3])
  %r: float32[5*s0, 1] = aten::view_copy(%s, [-1, 1])
  %p: int32[5*s0, 2] = aten::_int_mm(%b, %w)
  %g: float32[5*s0, 2] = aten::_to_copy(%p, float32)
  %m: float32[5*s0, 2] = aten::mul.Tensor(%g, %r)
  %y: float32[5*s0, 2] = aten::mul.Tensor(%m, %f)
  return %y)");
  EXPECT_TRUE(has(text, "float32[s0, 5, 2] = aten::linear(")) << text;
  EXPECT_TRUE(has(text, "float32[5*s0, 2] = aten::view_copy(")) << text;
  EXPECT_TRUE(has(text, ", [-1, 2])")) << text;
  EXPECT_FALSE(has(text, "_int_mm")) << text;
}

TEST(RestoreLinear, AProductOfBytesMayHaveOneScaleForADynamicNumberOfRows) {
  const std::string text = restored(R"(  input %x: float32[s0, 3]
  constant %w: int8[3, 2] = {1, 2, 3, -4, 5, 6}
  constant %f: float32[1] = {0.5}
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %s: float32[1, 1], %z: int8[1, 1] = torchao::choose_qparams_affine(%x, "SYMMETRIC", [%n, 3], int8, -128, 127, 1e-07, float32, int8, True)
  %q: int8[s0, 3] = torchao::quantize_affine(%x, [%n, 3], %s, %z, int8, -128, 127)
  %p: int32[s0, 2] = aten::_int_mm(%q, %w)
  %g: float32[s0, 2] = aten::_to_copy(%p, float32)
  %m: float32[s0, 2] = aten::mul.Tensor(%g, %s)
  %y: float32[s0, 2] = aten::mul.Tensor(%m, %f)
  return %y)");
  EXPECT_TRUE(has(text, "torchao::dequantize_affine(%q, [%n, 3], %s")) << text;
  EXPECT_TRUE(has(text, "float32[s0, 2] = aten::linear(")) << text;
  EXPECT_FALSE(has(text, "_int_mm")) << text;
}

TEST(RestoreLinear, AProductOfBytesThatTakesOffOtherNumbersStays) {
  EXPECT_TRUE(has(of_bytes("%d", "9, 5"), "_int_mm"));
}

TEST(RestoreLinear, AProductOfBytesThatIgnoresZeroPointsStays) {
  EXPECT_TRUE(has(of_bytes("%m", "9, 4"), "_int_mm"));
  EXPECT_FALSE(has(of_bytes("%m", "9, 4", "SYMMETRIC"), "_int_mm"));
}

}  // namespace
}  // namespace taper::exir
