#include "exir/passes/simplify/join_convolutions.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, int count, bool pads_windows = true) {
  auto graph = parse_body(body);
  EXPECT_EQ(join_convolutions(*graph, pads_windows), count);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(JoinConvolutions, PartsOfTheChannelsBecomeGroups) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 3, 5]
  constant %v: float32[2, 1, 2] "a.weight" = {1, 2, 3, 4}
  constant %w: float32[4, 1, 2] "b.weight" = {5, 6, 7, 8, 9, 10, 11, 12}
  constant %c: float32[4] "b.bias" = {1, 2, 3, 4}
  %a: float32[1, 1, 5], %b: float32[1, 2, 5] = aten::split_with_sizes_copy(%x, [1, 2], 1)
  %p: float32[1, 2, 2] = aten::convolution(%a, %v, None, [2], [0], [1], False, [0], 1)
  %q: float32[1, 4, 2] = aten::convolution(%b, %w, %c, [2], [0], [1], False, [0], 2)
  %y: float32[1, 6, 2] = aten::cat([%p, %q], 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 3, 5]
  constant %v_joined: float32[6, 1, 2] "a.weight.v_joined" = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
  constant %c_joined: float32[6] "b.bias.c_joined" = {0, 0, 1, 2, 3, 4}
  %convolution: float32[1, 6, 2] = aten::convolution(%x, %v_joined, %c_joined, [2], [0], [1], False, [0], 3)
  return %convolution
)");
}

// A column of three taps lies in the middle of a window of 3 x 3.
constexpr const char* kMixedWindows = R"(  input %x: float32[1, 2, 4, 4]
  constant %v: float32[1, 1, 3, 1] = {1, 2, 3}
  constant %w: float32[1, 1, 3, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}
  %a: float32[1, 1, 4, 4], %b: float32[1, 1, 4, 4] = aten::split_with_sizes_copy(%x, [1, 1], 1)
  %p: float32[1, 1, 4, 4] = aten::convolution(%a, %v, None, [1], [1, 0], [1], False, [0], 1)
  %q: float32[1, 1, 4, 4] = aten::convolution(%b, %w, None, [1], [1, 1], [1], False, [0], 1)
  %y: float32[1, 2, 4, 4] = aten::cat([%p, %q], 1)
  return %y)";

TEST(JoinConvolutions, SmallWindowsGetZerosAroundThem) {
  EXPECT_EQ(run(kMixedWindows, 1),
            R"(  input %x: float32[1, 2, 4, 4]
  constant %v_joined: float32[2, 1, 3, 3] = {0, 1, 0, 0, 2, 0, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
  %convolution: float32[1, 2, 4, 4] = aten::convolution(%x, %v_joined, None, [1], [1, 1], [1], False, [0], 2)
  return %convolution
)");
  run(kMixedWindows, 0, false);
}

// `p` and `q` are the two convolutions but for their weights and biases.
std::string two(const std::string& p, const std::string& q, const std::string& items = "%p, %q",
                const std::string& output = "%y") {
  return R"(  input %x: float32[1, 2, 9]
  constant %u: float32[1, 1, 1] = {1}
  constant %v: float32[1, 1, 3] = {1, 2, 3}
  constant %w: float32[1, 1, 5] = {1, 2, 3, 4, 5}
  %a: float32[1, 1, 9], %b: float32[1, 1, 9] = aten::split_with_sizes_copy(%x, [1, 1], 1)
  %p: float32[1, 1, 9] = aten::convolution()" +
         p + R"(, [0], 1)
  %q: float32[1, 1, 9] = aten::convolution()" +
         q + R"(, [0], 1)
  %y: float32[1, 2, 9] = aten::cat([)" +
         items + R"(], 1)
  return )" +
         output;
}

TEST(JoinConvolutions, OthersStay) {
  const std::string plain = "%a, %v, None, [1], [1], [1], False";
  const std::string same = "%b, %v, None, [1], [1], [1], False";
  run(two(plain, same), 1);
  run(two(plain, same, "%q, %p"), 0);                        // In another order.
  run(two(plain, same, "%p, %q", "%p, %y"), 0);              // A result that is needed by itself.
  run(two(plain, "%a, %v, None, [1], [1], [1], False"), 0);  // Of the same part.
  run(two(plain, "%b, %v, None, [1], [2], [2], False"), 0);  // Other pixels.
  run(two(plain, "%b, %v, None, [1], [1], [1], True"), 0);   // Transposed.
  run(two(plain, "%b, %w, None, [1], [2], [1], False"), 1);  // 8 taps of 10.
  run(two("%a, %u, None, [1], [0], [1], False", "%b, %w, None, [1], [2], [1], False"), 1);
  run(two("%a, %v, None, [1], [2], [2], False", "%b, %w, None, [1], [4], [2], False"), 1);
}

// With three parts, a window of 9 would have 27 taps instead of 11.
TEST(JoinConvolutions, FewZerosAreAdded) {
  run(R"(  input %x: float32[1, 3, 9]
  constant %u: float32[1, 1, 1] = {1}
  constant %w: float32[1, 1, 9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}
  %a: float32[1, 1, 9], %b: float32[1, 1, 9], %c: float32[1, 1, 9] = aten::split_with_sizes_copy(%x, [1, 1, 1], 1)
  %p: float32[1, 1, 9] = aten::convolution(%a, %u, None, [1], [0], [1], False, [0], 1)
  %q: float32[1, 1, 9] = aten::convolution(%b, %u, None, [1], [0], [1], False, [0], 1)
  %r: float32[1, 1, 9] = aten::convolution(%c, %w, None, [1], [4], [1], False, [0], 1)
  %y: float32[1, 3, 9] = aten::cat([%p, %q, %r], 1)
  return %y)",
      0);
}

}  // namespace
}  // namespace taper::exir
