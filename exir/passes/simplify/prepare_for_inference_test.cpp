#include "exir/passes/simplify/prepare_for_inference.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  prepare_for_inference(*graph);
  return print_body(*graph);
}

TEST(PrepareForInference, DropsAssertsAndWhatOnlyTheyUse) {
  EXPECT_EQ(run(R"(  input %x: float32[u0]
  %n: int(u0) = aten::sym_size.int(%x, 0)
  %p: bool(ge(u0, 0)) = python::ge(%n, 0)
  aten::_assert_scalar(%p, "positive")
  aten::_assert_tensor_metadata(%x, None, None, float32)
  return %x)"),
            "  input %x: float32[u0]\n  return %x\n");
}

TEST(PrepareForInference, ConstraintsBecomeBounds) {
  EXPECT_EQ(run(R"(  range u0 = [-5, 100]
  input %n: int(u0)
  input %m: int(u1)
  aten::sym_constrain_range(%n, None, 7)
  aten::sym_constrain_range_for_size(%m)
  return %n)"),
            R"(  range u0 = [-5, 7]
  range u1 = [0, inf]
  input %n: int(u0)
  input %m: int(u1)
  return %n
)");
}

TEST(PrepareForInference, PassiveOperatorsBecomeTheirArgument) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %r: float32[2] = aten::relu(%x)
  %a: float32[2] = aten::detach(%r)
  %b: float32[2] = aten::dropout(%a, 0.5, False)
  %c: float32[2] = aten::to.dtype(%b, float32, False, True)
  %d: float32[2] = aten::clone(%c)
  %e: float64[2] = aten::to.dtype(%d, float64)
  %f: float64[2], %mask: bool[2] = aten::native_dropout(%e, 0.5, False)
  return %f, %mask)"),
            R"(  input %x: float32[2]
  %r: float32[2] = aten::relu(%x)
  %e: float64[2] = aten::to.dtype(%r, float64, False, False, None)
  %full_like: bool[2] = aten::full_like(%e, True, bool, None, None, None, None)
  return %e, %full_like
)");
}

TEST(PrepareForInference, KeepsCopiesThatChangeTheLayout) {
  const std::string text =
      "  input %x: float32[1, 2, 2, 2] order(0, 2, 3, 1)\n"
      "  %c: float32[1, 2, 2, 2] = aten::contiguous(%x, contiguous_format)\n"
      "  return %c\n";
  EXPECT_EQ(run(text), text);
}

TEST(PrepareForInference, KeepsCopiesOfWhatIsMutated) {
  const std::string text =
      "  state %s: float32[2] = zeros\n"
      "  %v: float32[1, 2] = aten::view(%s, [1, 2])\n"
      "  %old: float32[1, 2] = aten::clone(%v, None)\n"
      "  %new: float32[2] = aten::add.Scalar(%s, 1, 1)\n"
      "  mutate %s = %new\n"
      "  return %old\n";
  EXPECT_EQ(run(text), text);
}

TEST(PrepareForInference, AResultIsNeverAnInputItself) {
  const std::string text =
      "  input %x: float32[2]\n"
      "  %y: float32[2] = aten::clone(%x, None)\n"
      "  return %y\n";
  EXPECT_EQ(run(text), text);
}

TEST(PrepareForInference, DropoutBetweenInputAndResultIsACopy) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %a: float32[2] = aten::alpha_dropout(%x, 0.5, False)
  return %a)"),
            R"(  input %x: float32[2]
  %clone: float32[2] = aten::clone(%x, None)
  return %clone
)");
}

TEST(PrepareForInference, DropoutOfNothingIsNoTraining) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  %a: float32[2] = aten::neg(%x)
  %b: float32[2] = aten::dropout(%a, 0.0, True)
  return %b)"),
            R"(  input %x: float32[2]
  %a: float32[2] = aten::neg(%x)
  return %a
)");
}

TEST(PrepareForInference, RefusesTrainingMode) {
  try {
    run(R"(  input %x: float32[1, 2]
  constant %m: float32[2] = zeros
  %a: float32[1, 2] = aten::batch_norm(%x, None, None, %m, %m, True, 0.1, 1e-05, True)
  %b: float32[1, 2] = aten::dropout(%a, 0.5, True)
  return %b)");
    FAIL();
  } catch (const Failure& failure) {
    ASSERT_EQ(failure.diagnostics().size(), 2u);
    EXPECT_EQ(failure.diagnostics()[0].message,
              "aten::batch_norm updates its statistics: the model is in training mode");
    EXPECT_EQ(failure.diagnostics()[1].where, "b");
  }
}

}  // namespace
}  // namespace taper::exir
