#include "exir/passes/simplify/remove_noops.h"

#include <gtest/gtest.h>

#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  remove_noops(*graph);
  return print_body(*graph);
}

TEST(RemoveNoops, DropsMovementThatMovesNothing) {
  EXPECT_EQ(run(R"(  input %x: float32[s0, 4]
  %a: float32[s0, 4] = aten::slice_copy.Tensor(%x, 0, 0, 9223372036854775807, 1)
  %b: float32[s0, 4] = aten::permute_copy(%a, [0, -1])
  %c: float32[s0, 4] = aten::expand_copy(%b, [-1, 4], False)
  %d: float32[s0, 4] = aten::cat([%c], 0)
  %e: float32[s0, 4] = aten::constant_pad_nd(%d, [0, 0], 0)
  %f: float32[s0, 4] = dim_order_ops::_clone_dim_order(%e, False, [0, 1])
  %y: float32[s0, 4] = aten::relu(%f)
  return %y)"),
            R"(  input %x: float32[s0, 4]
  %y: float32[s0, 4] = aten::relu(%x)
  return %y
)");
}

TEST(RemoveNoops, KeepsWhatMovesSomething) {
  const std::string text =
      "  input %x: float32[3, 3]\n"
      "  %a: float32[3, 3] = aten::permute_copy(%x, [1, 0])\n"
      "  %b: float32[3, 3] = aten::constant_pad_nd(%a, [1, -1], 0)\n"
      "  %c: float32[9] = aten::view_copy(%b, [9])\n"
      "  return %c\n";
  EXPECT_EQ(run(text), text);
}

TEST(RemoveNoops, ViewsAndPermutesOfTheirKindMerge) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 3, 4]
  %a: float32[24] = aten::view_copy(%x, [24])
  %b: float32[6, 4] = aten::view_copy(%a, [6, 4])
  %p: float32[3, 4, 2] = aten::permute_copy(%x, [1, 2, 0])
  %q: float32[2, 3, 4] = aten::permute_copy(%p, [2, 0, 1])
  %r: float32[4, 2, 3] = aten::permute_copy(%p, [1, 2, 0])
  %s: float32[2, 3, 4] = aten::relu(%q)
  return %b, %r, %s)"),
            R"(  input %x: float32[2, 3, 4]
  %b: float32[6, 4] = aten::view_copy(%x, [6, 4])
  %r: float32[4, 2, 3] = aten::permute_copy(%x, [2, 0, 1])
  %s: float32[2, 3, 4] = aten::relu(%x)
  return %b, %r, %s
)");
}

TEST(RemoveNoops, OperatorsThatBroadcastNeedNoExpansion) {
  EXPECT_EQ(run(R"(  input %x: float32[5, 4]
  input %w: float32[4]
  %a: float32[5, 4] = aten::expand_copy(%w, [5, 4], False)
  %b: float32[5, 4] = aten::div.Tensor(%x, %a)
  %c: float32[3, 4] = aten::expand_copy(%w, [3, 4], False)
  %d: float32[3, 4] = aten::mul.Tensor(%c, %w)
  return %b, %d)"),
            R"(  input %x: float32[5, 4]
  input %w: float32[4]
  %b: float32[5, 4] = aten::div.Tensor(%x, %w)
  %c: float32[3, 4] = aten::expand_copy(%w, [3, 4], False)
  %d: float32[3, 4] = aten::mul.Tensor(%c, %w)
  return %b, %d
)");
}

TEST(RemoveNoops, BoolsAreConvertedOnce) {
  EXPECT_EQ(run(R"(  input %b: bool[4]
  input %x: float32[4]
  %i: int64[4] = aten::_to_copy(%b, 4)
  %f: float32[4] = aten::_to_copy(%i, 6)
  %j: int64[4] = aten::_to_copy(%x, 4)
  %g: float32[4] = aten::_to_copy(%j, 6)
  return %f, %g)"),
            R"(  input %b: bool[4]
  input %x: float32[4]
  %f: float32[4] = aten::_to_copy(%b, 6, None, None, None, False, None)
  %j: int64[4] = aten::_to_copy(%x, 4, None, None, None, False, None)
  %g: float32[4] = aten::_to_copy(%j, 6, None, None, None, False, None)
  return %f, %g
)");
}

TEST(RemoveNoops, EmptyTensorsLeaveACat) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 4]
  input %e: float32[0]
  input %f: float32[2, 0]
  %a: float32[4, 4] = aten::cat([%e, %x, %x], 0)
  %b: float32[2, 4] = aten::cat([%f, %x], 1)
  %c: float32[2, 4] = aten::neg(%b)
  %d: float32[0] = aten::cat([%e, %e], 0)
  return %a, %c, %d)"),
            R"(  input %x: float32[2, 4]
  input %e: float32[0]
  input %f: float32[2, 0]
  %a: float32[4, 4] = aten::cat([%x, %x], 0)
  %c: float32[2, 4] = aten::neg(%x)
  %d: float32[0] = aten::cat([%e, %e], 0)
  return %a, %c, %d
)");
}

TEST(RemoveNoops, KeepsCopiesOfMutatedMemory) {
  const std::string text =
      "  input %x: float32[2]\n"
      "  state %s: float32[2] = zeros\n"
      "  %old: float32[2] = aten::view_copy(%s, [2])\n"
      "  %new: float32[2] = aten::add.Tensor(%s, %x, 1)\n"
      "  mutate %s = %new\n"
      "  return %old\n";
  EXPECT_EQ(run(text), text);
}

}  // namespace
}  // namespace taper::exir
