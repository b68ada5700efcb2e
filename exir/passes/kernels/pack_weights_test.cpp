#include "exir/passes/kernels/pack_weights.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"
#include "exir/passes/simplify/fold_constants.h"

namespace taper::exir {
namespace {

// A convolution with filters of integers of so many bits, packed.
std::string packed(int bits, bool has_kernel) {
  std::string integers;
  for (int i = 0; i < 8 * 144; ++i) {
    if (i != 0) integers += ", ";
    integers += std::to_string(i * 7 % (1 << bits) - (1 << (bits - 1)));
  }
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 16, 5, 5]
  constant %q: int8[8, 16, 3, 3] = {)" +
                                 integers + R"(}
  constant %s: float32[8] = {1, 2, 3, 4, 5, 6, 7, 8}
  constant %z: int64[8] = {0, 1, 0, -1, 0, 0, 0, 0}
  %w: float32[8, 16, 3, 3] = quantized_decomposed::dequantize_per_channel(%q, %s, %z, 0, -128, 127, int8)
  %y: float32[1, 8, 3, 3] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  return %y
})");
  fold_constants(*graph);
  pack_weights(*graph, [&](std::string_view, const Node&) { return has_kernel; });
  return print(*graph);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(PackWeights, FiltersOfFewBitsAreRowsOfATable) {
  const std::string four = packed(4, true);
  EXPECT_TRUE(has(four, "uint8[8, 72]")) << four;
  EXPECT_TRUE(has(four, "quantized_decomposed::embedding_4bit(")) << four;
  EXPECT_TRUE(has(four, "float32[8, 16, 3, 3] = aten::view_copy(")) << four;
  const std::string two = packed(2, true);
  EXPECT_TRUE(has(two, "uint8[8, 36]")) << two;
  EXPECT_TRUE(has(two, "quantized_decomposed::embedding_2bit(")) << two;
}

TEST(PackWeights, FiltersOfBytesAndThoseWithoutAKernelStayBytes) {
  for (const std::string& text : {packed(8, true), packed(4, false)}) {
    EXPECT_TRUE(has(text, "int8[8, 144]")) << text;
    EXPECT_TRUE(has(text, "quantized_decomposed::dequantize_per_channel(")) << text;
  }
}

// 1 and 2 in turn, twice times each of three scales: codes of 4 bits.
std::string looked_up(bool has_kernel) {
  std::string halves;
  for (int i = 0; i < 600; ++i) halves += "003c0040";
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 200]
  constant %w: float16[2, 3, 200] = hex ")" +
                                 halves + R"("
  constant %s: float32[3, 1] = {1, 2, 3}
  %f: float32[2, 3, 200] = dim_order_ops::_to_dim_order_copy(%w, float32)
  %m: float32[2, 3, 200] = aten::mul.Tensor(%f, %s)
  %v: float32[6, 200] = aten::view_copy(%m, [6, 200])
  %y: float32[1, 6] = aten::linear(%x, %v, None)
  return %y
})");
  fold_constants(*graph);
  pack_weights(*graph, [&](std::string_view, const Node&) { return has_kernel; });
  return print(*graph);
}

TEST(PackWeights, BytesThatStandForFloatsAreLookedUp) {
  const std::string text = looked_up(true);
  EXPECT_TRUE(has(text, "uint8[2, 3, 100]")) << text;
  EXPECT_TRUE(has(text, "float32[256, 2]")) << text;
  EXPECT_TRUE(has(text, "float32[2, 3, 200] = taper::look_up(")) << text;
  EXPECT_TRUE(has(text, "float32[6, 200] = aten::view_copy(")) << text;
  const std::string floats = looked_up(false);
  EXPECT_FALSE(has(floats, "taper::look_up(")) << floats;
  EXPECT_FALSE(has(floats, "uint8")) << floats;
}

TEST(PackWeights, RowsOfATableOfCodesAreLookedUpOnceTheyAreRead) {
  std::string halves;
  for (int i = 0; i < 2000; ++i) halves += "003c0040";
  std::string scales = "{3";
  for (int i = 1; i < 200; ++i) scales += ", 5";
  const auto graph = parse_graph(R"(graph "g" {
  input %i: int64[2, s0]
  constant %w: float16[200, 20] = hex ")" +
                                 halves + R"("
  constant %s: float32[200, 1] = )" +
                                 scales +
                                 R"(}
  %f: float32[200, 20] = dim_order_ops::_to_dim_order_copy(%w, float32)
  %m: float32[200, 20] = aten::mul.Tensor(%f, %s)
  %y: float32[2, s0, 20] = aten::embedding(%m, %i)
  return %y
})");
  fold_constants(*graph);
  pack_weights(*graph, [](std::string_view, const Node&) { return true; });
  const std::string text = print(*graph);
  EXPECT_TRUE(has(text, ": uint8[2, s0, 10] = aten::embedding(")) << text;
  EXPECT_TRUE(has(text, "float32[2, s0, 20] = taper::look_up(")) << text;
  EXPECT_TRUE(has(text, "float32[2, s0, 1] = aten::embedding(")) << text;
  EXPECT_TRUE(has(text, "float32[2, s0, 20] = aten::mul.Tensor(")) << text;
}

// A layer of integers whose input is quantised by nodes between which these are put.
std::string layer(const std::string& nodes, const std::string& rows = "2, 3") {
  std::string text = "graph \"g\" {\n  input %x: float32[" + rows + R"(, 4]
  constant %i: int8[2, 4] = {1, 2, 3, 4, 5, 6, 7, -8}
  constant %f: float32[2] = {1, 2}
  %w: float32[2, 4] = quantized_decomposed::dequantize_per_channel(%i, %f, None, 0, -128, 127, int8)
)" + nodes + "  %y: float32[" +
                     rows + R"(, 2] = aten::linear(%d, %w, None)
  return %y
})";
  const auto graph = parse_graph(text);
  fold_constants(*graph);
  pack_weights(*graph, [](std::string_view, const Node&) { return true; });
  return print(*graph);
}

void expect_one_scale(const std::string& text) {
  EXPECT_TRUE(has(text, "float32[1, 24] = aten::view_copy(%x, [1, 24])")) << text;
  EXPECT_TRUE(has(text, "taper::quantize_rows(")) << text;
  EXPECT_TRUE(has(text, "int8[2, 3, 4] = aten::view_copy(")) << text;
  EXPECT_TRUE(has(text, "taper::packed_linear_rows(")) << text;
  EXPECT_FALSE(has(text, "dequantize")) << text;
}

TEST(PackWeights, InputsWithOneScaleAreIntegers) {
  expect_one_scale(layer(
      R"(  %s: float32[1, 1, 1], %z: int8[1, 1, 1] = torchao::choose_qparams_affine(%x, "ASYMMETRIC", [2, 3, 4], int8, -128, 127, 1e-06, float32, int8, True)
  %q: int8[2, 3, 4] = torchao::quantize_affine(%x, [2, 3, 4], %s, %z, int8, -128, 127)
  %d: float32[2, 3, 4] = torchao::dequantize_affine(%q, [2, 3, 4], %s, %z, int8, -128, 127)
)"));
  for (const std::string how : {"-128, 127, 1e-06, int8", "0, 255, 1e-06, uint8"}) {
    const bool is_signed = how.back() == '8' && how.find('u') == how.npos;
    const std::string dtype = is_signed ? "int8" : "uint8";
    const std::string range = is_signed ? "-128, 127, int8" : "0, 255, uint8";
    expect_one_scale(
        layer("  %s: float64[1], %z: int64[1] = quantized_decomposed::choose_qparams.tensor(%x, " +
              how + ")\n  %q: " + dtype +
              "[2, 3, 4] = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, " + range +
              ")\n  %d: float32[2, 3, 4] = quantized_decomposed::dequantize_per_tensor.tensor(%q, "
              "%s, %z, " +
              range + ")\n"));
  }
}

TEST(PackWeights, InputsOfDynamicSizesWithOneScaleAreIntegers) {
  const std::string affine = layer(
      R"(  %n: int(s0) = aten::sym_size.int(%x, 0)
  %m: int(s1) = aten::sym_size.int(%x, 1)
  %s: float32[1, 1, 1], %z: int8[1, 1, 1] = torchao::choose_qparams_affine(%x, "ASYMMETRIC", [%n, %m, 4], int8, -128, 127, 1e-06, float32, int8, True)
  %q: int8[s0, s1, 4] = torchao::quantize_affine(%x, [%n, %m, 4], %s, %z, int8, -128, 127)
  %d: float32[s0, s1, 4] = torchao::dequantize_affine(%q, [%n, %m, 4], %s, %z, int8, -128, 127)
)",
      "s0, s1");
  const std::string tensors = layer(
      R"(  %s: float64[1], %z: int64[1] = quantized_decomposed::choose_qparams.tensor(%x, 0, 255, 1e-06, uint8)
  %q: uint8[s0, s1, 4] = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, 0, 255, uint8)
  %d: float32[s0, s1, 4] = quantized_decomposed::dequantize_per_tensor.tensor(%q, %s, %z, 0, 255, uint8)
)",
      "s0, s1");
  for (const std::string& text : {affine, tensors}) {
    EXPECT_TRUE(has(text, "float32[1, 4*s0*s1] = aten::view_copy(%x, [1, -1])")) << text;
    EXPECT_TRUE(has(text, "int8[s0, s1, 4] = aten::view_copy(")) << text;
    EXPECT_TRUE(has(text, "taper::packed_linear_rows(")) << text;
    EXPECT_FALSE(has(text, "dequantize")) << text;
  }
}

TEST(PackWeights, BlocksOfAnotherExtentHaveSeveralScales) {
  const std::string text = layer(
      R"(  %m: int(s1) = aten::sym_size.int(%x, 1)
  %s: float32[s0, 1, 1], %z: int8[s0, 1, 1] = torchao::choose_qparams_affine(%x, "ASYMMETRIC", [1, %m, 4], int8, -128, 127, 1e-06, float32, int8, True)
  %q: int8[s0, s1, 4] = torchao::quantize_affine(%x, [1, %m, 4], %s, %z, int8, -128, 127)
  %d: float32[s0, s1, 4] = torchao::dequantize_affine(%q, [1, %m, 4], %s, %z, int8, -128, 127)
)",
      "s0, s1");
  EXPECT_TRUE(has(text, "taper::packed_linear(%d")) << text;
}

TEST(PackWeights, InputsWithPartOfTheIntegersStayFloats) {
  const std::string text = layer(
      R"(  %s: float64[1], %z: int64[1] = quantized_decomposed::choose_qparams.tensor(%x, -128, 127, 1e-06, int8)
  %q: int8[2, 3, 4] = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, -64, 63, int8)
  %d: float32[2, 3, 4] = quantized_decomposed::dequantize_per_tensor.tensor(%q, %s, %z, -64, 63, int8)
)");
  EXPECT_TRUE(has(text, "taper::packed_linear(%d")) << text;
}

}  // namespace
}  // namespace taper::exir
