#include "exir/passes/simplify/cse.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  cse(*graph);
  return print_body(*graph);
}

TEST(Cse, MergesEqualNodesAndConstants) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  constant %one: float32[] = {1}
  constant %also_one: float32[] = {1}
  constant %two: float32[] = {2}
  %a: float32[2] = aten::add.Tensor(%x, %one)
  %b: float32[2] = aten::add.Tensor(%x, %also_one)
  %c: float32[2] = aten::add.Tensor(%x, %two)
  %d: float32[2], %i: int64[2] = aten::sort(%a, -1, False)
  %e: float32[2], %j: int64[2] = aten::sort(%b, -1, False)
  return %e, %j, %c, %d)"),
            R"(  input %x: float32[2]
  constant %one: float32[] = {1}
  constant %two: float32[] = {2}
  %a: float32[2] = aten::add.Tensor(%x, %one, 1)
  %c: float32[2] = aten::add.Tensor(%x, %two, 1)
  %d: float32[2], %i: int64[2] = aten::sort(%a, -1, False)
  return %d, %i, %c, %d
)");
}

TEST(Cse, KeepsWhatDiffers) {
  const std::string text =
      "  input %x: float32[2]\n"
      "  %a: float32[2] = aten::bernoulli(%x, None)\n"
      "  %b: float32[2] = aten::bernoulli(%x, None)\n"
      "  %c: float32[2] = aten::add.Scalar(%x, 1, 1)\n"
      "  %d: float32[2] = aten::add.Scalar(%x, 1.0, 1)\n"
      "  %e: float32[2] = aten::add.Scalar(%x, True, 1)\n"
      "  return %a, %b, %c, %d, %e\n";
  EXPECT_EQ(run(text), text);
}

}  // namespace
}  // namespace taper::exir
