// Tests that functions between bytes become tables, whose entries are computed by hand.

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/aot/compile_for_test.h"

namespace taper::xnnpack {
namespace {

// `function` computes %y of %d, which is bytes times 0.5 less 1.5.
std::string between_bytes(const std::string& function) {
  return R"(  input %x: float32[2, 3]
  %q: int8[2, 3] = quantized_decomposed::quantize_per_tensor(%x, 0.5, 3, -128, 127, int8)
  %d: float32[2, 3] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
)" + function +
         R"(  %p: int8[2, 3] = quantized_decomposed::quantize_per_tensor(%y, 0.25, -10, -128, 127, int8)
  %z: float32[2, 3] = quantized_decomposed::dequantize_per_tensor(%p, 0.25, -10, -128, 127, int8)
)";
}

// The entries of the only table, by the byte.
int entry(const Compiled& r, int byte) {
  for (const auto& data : r.graph->delegates.at(0)->data) {
    if (data.bytes.bytes == 256) return static_cast<int8_t>(data.bytes.data[byte + 128]);
  }
  ADD_FAILURE() << "there is no table";
  return 0;
}

TEST(ByteTables, SeveralNodesAreOneTable) {
  const Compiled r = compile(between_bytes("  %a: float32[2, 3] = aten::abs(%d)\n"
                                           "  %y: float32[2, 3] = aten::sqrt(%a)\n") +
                                 "  return %z",
                             kAll);
  ASSERT_EQ(r.kinds(), "Convert ByteTable Convert");
  EXPECT_EQ(r.identifier(), "XT01");
  EXPECT_EQ(entry(r, 3), -10);    // 0
  EXPECT_EQ(entry(r, 11), -2);    // the root of 4: 8 steps
  EXPECT_EQ(entry(r, -5), -2);    // the root of |-4|
  EXPECT_EQ(entry(r, 127), 21);   // 7.874: 31.496 steps
  EXPECT_EQ(entry(r, -128), 22);  // 8.093: 32.373 steps
  EXPECT_EQ(r.graph->delegates[0]->computed_in.at(3), "int8");
}

TEST(ByteTables, AFunctionMayReadTheBytesTwice) {
  const Compiled r = compile(between_bytes("  %s: float32[2, 3] = aten::sigmoid(%d)\n"
                                           "  %y: float32[2, 3] = aten::mul.Tensor(%d, %s)\n") +
                                 "  return %z",
                             kAll);
  ASSERT_EQ(r.kinds(), "Convert ByteTable Convert");
  EXPECT_EQ(entry(r, 3), -10);
  EXPECT_EQ(entry(r, 7), -3);     // 2 * 0.8808 = 1.7616: 7.05 steps
  EXPECT_EQ(entry(r, -1), -11);   // -2 * 0.1192 = -0.2384: -0.95 steps
  EXPECT_EQ(entry(r, 127), 127);  // 62 is 248 steps: more than there are.
}

// 0.5 is two steps of 0.25, but 5/3 of 0.3.
TEST(ByteTables, AnotherScaleIsOneUnlessXnnpackIsExact) {
  const auto to = [](const std::string& scale) {
    return compile(R"(  input %q: int8[2, 4]
  %d: float32[2, 4] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %r: float32[4, 2] = aten::permute_copy(%d, [1, 0])
  %p: int8[4, 2] = quantized_decomposed::quantize_per_tensor(%r, )" +
                       scale + ", 0, -128, 127, int8)\n  return %p",
                   kAll);
  };
  EXPECT_EQ(to("0.25").kinds(), "Convert Transpose");
  const Compiled r = to("0.3");
  ASSERT_EQ(r.kinds(), "ByteTable Transpose");
  EXPECT_EQ(entry(r, 4), 2);     // 0.5 is 1.67 steps
  EXPECT_EQ(entry(r, -6), -15);  // -4.5
}

// NaN is the least byte, as PyTorch's kernels and ours make it.
TEST(ByteTables, RootsOfNegativeNumbersAreTheLeastByte) {
  const Compiled r =
      compile(between_bytes("  %y: float32[2, 3] = aten::sqrt(%d)\n") + "  return %z", kAll);
  ASSERT_EQ(r.kinds(), "Convert ByteTable Convert");
  EXPECT_EQ(entry(r, 2), -128);
  EXPECT_EQ(entry(r, 3), -10);
}

TEST(ByteTables, NodesOfXnnpackStay) {
  EXPECT_EQ(compile(between_bytes("  %y: float32[2, 3] = aten::tanh(%d)\n") + "  return %z", kAll)
                .kinds(),
            "Convert Tanh Convert");
}

// The sigmoid is rounded to steps of 0.25 before it is multiplied.
TEST(ByteTables, BytesBetweenTwoNodesAreRounded) {
  const Compiled r = compile(between_bytes(R"(  %s: float32[2, 3] = aten::sigmoid(%d)
  %t: int8[2, 3] = quantized_decomposed::quantize_per_tensor(%s, 0.25, 0, -128, 127, int8)
  %u: float32[2, 3] = quantized_decomposed::dequantize_per_tensor(%t, 0.25, 0, -128, 127, int8)
  %y: float32[2, 3] = aten::mul.Tensor(%d, %u)
)") + "  return %z",
                             kAll);
  ASSERT_EQ(r.kinds(), "Convert ByteTable Convert");
  EXPECT_EQ(entry(r, 7), -2);    // 2 * 1 = 2, since 0.8808 is 3.52 steps
  EXPECT_EQ(entry(r, -1), -10);  // -2 * 0, since 0.1192 is 0.48 steps
}

// A table of a table is one, unless the first is read by others.
TEST(ByteTables, ATableOfATableIsOne) {
  const std::string first = R"(  %s: float32[2, 3] = aten::sqrt(%d)
  %t: int8[2, 3] = quantized_decomposed::quantize_per_tensor(%s, 0.25, 0, -128, 127, int8)
  %u: float32[2, 3] = quantized_decomposed::dequantize_per_tensor(%t, 0.25, 0, -128, 127, int8)
  %y: float32[2, 3] = aten::sqrt(%u)
)";
  EXPECT_EQ(compile(between_bytes(first) + "  return %z", kAll).kinds(),
            "Convert ByteTable Convert");
  EXPECT_EQ(compile(between_bytes(first) + "  return %z, %t", kAll).kinds(),
            "Convert ByteTable ByteTable Convert");
}

TEST(ByteTables, FloatsThatAreReadStayFloats) {
  const std::string function = "  %y: float32[2, 3] = aten::sqrt(%d)\n";
  EXPECT_EQ(compile(between_bytes(function) + "  return %z, %y", kAll).kinds(),
            "Convert Convert SquareRoot Convert Convert");
}

TEST(ByteTables, AConstantWithSeveralNumbersIsNoFunction) {
  const Compiled r = compile("  constant %c: float32[3] = {1, 2, 3}\n" +
                                 between_bytes("  %a: float32[2, 3] = aten::sqrt(%d)\n  %y: "
                                               "float32[2, 3] = aten::mul.Tensor(%a, %c)\n") +
                                 "  return %z",
                             kAll);
  EXPECT_EQ(r.kinds(), "Convert Convert SquareRoot Multiply Convert Convert");
}

TEST(ByteTables, NotForExecutorch) {
  exir::PartitionOptions options = kAll;
  options.for_executorch = true;
  const Compiled r =
      compile(between_bytes("  %y: float32[2, 3] = aten::sqrt(%d)\n") + "  return %z", options);
  EXPECT_EQ(r.kinds(), "Convert Convert SquareRoot Convert Convert");
  EXPECT_EQ(r.identifier(), "XN01");
}

}  // namespace
}  // namespace taper::xnnpack
