#include "exir/passes/simplify/sum_convolutions.h"

#include <gtest/gtest.h>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body, int count) {
  auto graph = parse_body(body);
  EXPECT_EQ(sum_convolutions(*graph), count);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(SumConvolutions, TheWeightsOfTheSmallerWindowAddToTheMiddleOfTheLarger) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 2, 4]
  constant %v: float32[2, 2, 1] "a.weight" = {1, 2, 3, 4}
  constant %w: float32[2, 2, 3] "b.weight" = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
  constant %b: float32[2] "b.bias" = {1, 2}
  constant %c: float32[2] = {10, 20}
  %p: float32[1, 2, 2] = aten::convolution(%x, %v, %c, [2], [0], [1], False, [0], 1)
  %q: float32[1, 2, 2] = aten::convolution(%x, %w, %b, [2], [1], [1], False, [0], 1)
  %y: float32[1, 2, 2] = aten::add.Tensor(%p, %q, 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 2, 4]
  constant %w_sum: float32[2, 2, 3] "b.weight.w_sum" = {1, 3, 3, 4, 7, 6, 7, 11, 9, 10, 15, 12}
  constant %b_sum: float32[2] "b.bias.b_sum" = {11, 22}
  %convolution: float32[1, 2, 2] = aten::convolution(%x, %w_sum, %b_sum, [2], [1], [1], False, [0], 1)
  return %convolution
)");
}

// A row of three taps lies in the middle of a window of 3 x 3, a column of one in both.
TEST(SumConvolutions, LongSumsBecomeOne) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 1, 4, 4]
  constant %u: float32[1, 1, 1, 1] = {10}
  constant %v: float32[1, 1, 1, 3] = {1, 2, 3}
  constant %w: float32[1, 1, 3, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9}
  %p: float32[1, 1, 4, 4] = aten::convolution(%x, %u, None, [1], [0], [1], False, [0], 1)
  %q: float32[1, 1, 4, 4] = aten::convolution(%x, %v, None, [1], [0, 1], [1], False, [0], 1)
  %r: float32[1, 1, 4, 4] = aten::convolution(%x, %w, None, [1], [1, 1], [1], False, [0], 1)
  %n: float32[1, 1, 4, 4] = aten::add.Scalar(%p, 3, 2)
  %s: float32[1, 1, 4, 4] = aten::add.Tensor(%n, %q, 1)
  %y: float32[1, 1, 4, 4] = aten::add.Tensor(%r, %s, 1)
  return %y)",
                3),
            R"(  input %x: float32[1, 1, 4, 4]
  constant %w_sum: float32[1, 1, 3, 3] = {1, 2, 3, 5, 17, 9, 7, 8, 9}
  constant %w_sum_1: float32[1] = {6}
  %convolution_2: float32[1, 1, 4, 4] = aten::convolution(%x, %w_sum, %w_sum_1, [1], [1, 1], [1], False, [0], 1)
  return %convolution_2
)");
}

// A factor of 3 / sqrt(0.2 + 0.05) = 6 and 2 / sqrt(0.95 + 0.05) = 2; groups of two channels.
TEST(SumConvolutions, ABatchNormOfTheTensorIsATap) {
  EXPECT_EQ(run(R"(  input %x: float32[1, 2, 5]
  constant %w: float32[2, 2, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
  constant %g: float32[2] = {3, 2}
  constant %b: float32[2] = {1, 2}
  constant %m: float32[2] = {2, -3}
  constant %v: float32[2] = {0.2, 0.95}
  %p: float32[1, 2, 5] = aten::convolution(%x, %w, None, [1], [2], [2], False, [0], 1)
  %n: float32[1, 2, 5], %s: float32[0], %t: float32[0] = aten::_native_batch_norm_legit_no_training(%x, %g, %b, %m, %v, 0.1, 0.05)
  %y: float32[1, 2, 5] = aten::add.Tensor(%n, %p, 1)
  return %y)",
                1),
            R"(  input %x: float32[1, 2, 5]
  constant %w_sum: float32[2, 2, 3] = {1, 8, 3, 4, 5, 6, 7, 8, 9, 10, 13, 12}
  constant %w_sum_1: float32[2] = {-11, 8}
  %convolution: float32[1, 2, 5] = aten::convolution(%x, %w_sum, %w_sum_1, [1], [2], [2], False, [0], 1)
  return %convolution
)");
}

TEST(SumConvolutions, ATensorIsATapOfItsDepthwiseConvolution) {
  const auto with = [](const std::string& type, const std::string& weight) {
    return "  input %x: float32[1, 2, 5]\n  constant %w: " + type + " = " + weight + R"(
  %p: float32[1, 2, 5] = aten::convolution(%x, %w, None, [1], [1], [1], False, [0], )" +
           (type[11] == '1' ? "2" : "1") + R"()
  %y: float32[1, 2, 5] = aten::add.Tensor(%x, %p, 1)
  return %y)";
  };
  EXPECT_EQ(run(with("float32[2, 1, 3]", "{1, 2, 3, 4, 5, 6}"), 1),
            R"(  input %x: float32[1, 2, 5]
  constant %w_sum: float32[2, 1, 3] = {1, 3, 3, 4, 6, 6}
  %convolution: float32[1, 2, 5] = aten::convolution(%x, %w_sum, None, [1], [1], [1], False, [0], 2)
  return %convolution
)");
  run(with("float32[2, 2, 3]", "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}"), 0);
}

// `p` and `q` are the two convolutions but for their weights and biases.
std::string two(const std::string& p, const std::string& q, const std::string& sum = "%p, %q, 1",
                const std::string& output = "%y") {
  return R"(  input %x: float32[1, 1, 9]
  input %a: float32[1, 1, 9]
  constant %u: float32[1, 1, 1] = {1}
  constant %v: float32[1, 1, 3] = {1, 2, 3}
  constant %w: float32[1, 1, 5] = {1, 2, 3, 4, 5}
  %p: float32[1, 1, 9] = aten::convolution()" +
         p + R"(, [0], 1)
  %q: float32[1, 1, 9] = aten::convolution()" +
         q + R"(, [0], 1)
  %y: float32[1, 1, 9] = aten::add.Tensor()" +
         sum + R"()
  return )" +
         output;
}

TEST(SumConvolutions, OthersStay) {
  const std::string plain = "%x, %v, None, [1], [1], [1], False";
  run(two(plain, plain), 1);
  run(two(plain, plain, "%p, %q, 2"), 0);                    // Twice the second.
  run(two(plain, plain, "%p, %p, 1"), 0);                    // The same twice.
  run(two(plain, plain, "%p, %q, 1", "%p, %y"), 0);          // A term that is needed by itself.
  run(two(plain, plain, "%p, %a, 1"), 0);                    // Another tensor.
  run(two(plain, "%a, %v, None, [1], [1], [1], False"), 0);  // Of another tensor.
  run(two(plain, "%x, %v, None, [1], [2], [2], False"), 0);  // Other pixels.
  run(two(plain, "%x, %v, None, [1], [1], [1], True"), 0);   // Transposed.
  run(two(plain, "%x, %w, None, [1], [2], [1], False"), 1);
  run(two(plain, "%x, %u, None, [1], [0], [1], False"), 1);
}

}  // namespace
}  // namespace taper::exir
