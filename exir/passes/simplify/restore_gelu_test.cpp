#include "exir/passes/simplify/restore_gelu.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"
#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  restore_gelu(*graph);
  erase_dead(*graph);
  return print_body(*graph);
}

// With names that differ.
constexpr char kGelu[] =
    "  input %x: float32[2, 3]\n"
    "  %gelu: float32[2, 3] = aten::gelu(%x, \"tanh\")\n"
    "  return %gelu\n";

// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), with some of its parts given.
std::string spelled(const std::string& factor, const std::string& power,
                    const std::string& dtype = "float32") {
  std::string text = R"(  input %x: T[2, 3]
  %h: T[2, 3] = aten::mul.Scalar(%x, 0.5)
  %p: T[2, 3] = aten::pow.Tensor_Scalar(%x, )" +
                     power + R"()
  %c: T[2, 3] = aten::mul.Scalar(%p, 0.044715)
  %s: T[2, 3] = aten::add.Tensor(%x, %c, 1)
  %a: T[2, 3] = aten::mul.Scalar(%s, )" +
                     factor + R"()
  %t: T[2, 3] = aten::tanh(%a)
  %o: T[2, 3] = aten::add.Scalar(%t, 1.0, 1)
  %y: T[2, 3] = aten::mul.Tensor(%h, %o)
  return %y
)";
  for (size_t at; (at = text.find("T[")) != std::string::npos;) text.replace(at, 1, dtype);
  return text;
}

TEST(RestoreGelu, OneOfTransformersIsOneNode) {
  EXPECT_EQ(run(spelled("0.7978845608028654", "3.0")), kGelu);
}

// 0.5 * x * (1 + tanh(x * k * (1 + c * x * x)))
TEST(RestoreGelu, OrderDoesNotMatter) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3]
  %h: float32[2, 3] = aten::mul.Scalar(%x, 0.5)
  %k: float32[2, 3] = aten::mul.Scalar(%x, 0.7978845608)
  %c: float32[2, 3] = aten::mul.Scalar(%x, 0.044715)
  %q: float32[2, 3] = aten::mul.Tensor(%c, %x)
  %r: float32[2, 3] = aten::add.Scalar(%q, 1, 1)
  %a: float32[2, 3] = aten::mul.Tensor(%k, %r)
  %t: float32[2, 3] = aten::tanh(%a)
  %o: float32[2, 3] = aten::add.Scalar(%t, 1.0, 1)
  %y: float32[2, 3] = aten::mul.Tensor(%h, %o)
  return %y)"),
            kGelu);
  // x times the rest, halved at the end; x is itself a sum.
  EXPECT_EQ(run(R"(  input %u: float32[2, 3]
  input %v: float32[2, 3]
  %x: float32[2, 3] = aten::add.Tensor(%u, %v, 1)
  %p: float32[2, 3] = aten::mul.Tensor(%x, %x)
  %q: float32[2, 3] = aten::mul.Tensor(%p, %x)
  %s: float32[2, 3] = aten::add.Tensor(%x, %q, 0.044715)
  %a: float32[2, 3] = aten::mul.Scalar(%s, 0.7978845608)
  %t: float32[2, 3] = aten::tanh(%a)
  %o: float32[2, 3] = aten::add.Scalar(%t, 1, 1)
  %z: float32[2, 3] = aten::mul.Tensor(%x, %o)
  %y: float32[2, 3] = aten::mul.Scalar(%z, 0.5)
  return %y)"),
            R"(  input %u: float32[2, 3]
  input %v: float32[2, 3]
  %x: float32[2, 3] = aten::add.Tensor(%u, %v, 1)
  %gelu: float32[2, 3] = aten::gelu(%x, "tanh")
  return %gelu
)");
}

TEST(RestoreGelu, OtherFunctionsStay) {
  for (const std::string& text :
       {spelled("0.8", "3.0"), spelled("0.7978845608028654", "2.0"),
        spelled("0.7978845608028654", "4.0"), spelled("0.7978845608028654", "3.0", "bfloat16"),
        spelled("0.7978845608028654", "3.0", "float64")}) {
    EXPECT_EQ(run(text), text);
  }
}

// A sum with a row has the sizes of the result, but not those of x.
TEST(RestoreGelu, WhatIsBroadcastStays) {
  const std::string text =
      "  input %x: float32[3]\n"
      "  input %z: float32[2, 3]\n"
      "  %h: float32[2, 3] = aten::mul.Scalar(%z, 0.5)\n"
      "  %p: float32[3] = aten::pow.Tensor_Scalar(%x, 3.0)\n"
      "  %c: float32[3] = aten::mul.Scalar(%p, 0.044715)\n"
      "  %s: float32[3] = aten::add.Tensor(%x, %c, 1)\n"
      "  %a: float32[3] = aten::mul.Scalar(%s, 0.7978845608)\n"
      "  %t: float32[3] = aten::tanh(%a)\n"
      "  %o: float32[3] = aten::add.Scalar(%t, 1.0, 1)\n"
      "  %y: float32[2, 3] = aten::mul.Tensor(%h, %o)\n"
      "  return %y\n";
  EXPECT_EQ(run(text), text);
}

}  // namespace
}  // namespace taper::exir
