#include "exir/passes/simplify/fold_constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "exir/dialect/verifier.h"
#include "exir/ir/body_for_test.h"
#include "exir/ir/scales.h"

namespace taper::exir {
namespace {

std::string run(const std::string& body) {
  const auto graph = parse_body(body);
  fold_constants(*graph);
  verify(*graph, Dialect::kAten);
  return print_body(*graph);
}

TEST(FoldConstants, RunsTheKernelsOfTheDevice) {
  EXPECT_EQ(run(R"(  input %x: float32[2, 2]
  constant %w: float32[2, 2] "fc.weight" = {1, 2, 3, 4}
  %p: float32[2, 2] = aten::permute_copy(%w, [1, 0])
  %q: float32[2, 2] = aten::add.Tensor(%p, %w, 10)
  %y: float32[2, 2] = aten::mm(%x, %q)
  return %y)"),
            R"(  input %x: float32[2, 2]
  constant %q_1: float32[2, 2] "fc.weight.p_1.q_1" = {11, 23, 32, 44}
  %y: float32[2, 2] = aten::mm(%x, %q_1)
  return %y
)");
}

TEST(FoldConstants, ListsAndSeveralResults) {
  EXPECT_EQ(run(R"(  constant %a: float32[3] = {1, 2, 3}
  constant %b: float32[1] = {9}
  %c: float32[4] = aten::cat([%a, %b], 0)
  %s: float32[1], %t: float32[3] = aten::split_with_sizes_copy(%c, [1, 3], 0)
  return %s, %t)"),
            R"(  constant %s_1: float32[1] = {1}
  constant %t_1: float32[3] = {2, 3, 9}
  return %s_1, %t_1
)");
}

// Intermediate results are freed after their last use, and reshapes share bytes.
TEST(FoldConstants, ReadsAnIntermediateResultAsLongAsItIsUsed) {
  EXPECT_EQ(run(R"(  input %x: float32[2]
  constant %w: float32[4] = {1, 2, 3, 4}
  %n: float32[4] = aten::neg(%w)
  %v: float32[2, 2] = aten::view_copy(%n, [2, 2])
  %a: float32[2, 2] = aten::add.Tensor(%v, %v, 1)
  %p: float32[2, 2] = aten::permute_copy(%v, [1, 0])
  %s: float32[2] = aten::select_copy.int(%p, 0, 0)
  %y: float32[2] = aten::add.Tensor(%x, %s, 1)
  return %y, %n, %a)"),
            R"(  input %x: float32[2]
  constant %n_1: float32[4] = {-1, -2, -3, -4}
  constant %a_1: float32[2, 2] = {-2, -4, -6, -8}
  constant %s_1: float32[2] = {-1, -3}
  %y: float32[2] = aten::add.Tensor(%x, %s_1, 1)
  return %y, %n_1, %a_1
)");
}

TEST(FoldConstants, KeepsWhatIsNotConstantOrTooLarge) {
  const std::string text =
      "  input %x: float32[2]\n"
      "  constant %c: float32[1] = {1}\n"
      "  state %s: float32[2] = {1, 2}\n"
      "  %a: float32[2] = aten::neg(%s)\n"
      "  %b: float32[2] = aten::add.Tensor(%x, %c, 1)\n"
      "  %d: float32[1000000] = aten::expand_copy(%c, [1000000], False)\n"
      "  %e: float32[1] = aten::bernoulli(%c, None)\n"
      "  %f: float32[1000, 1000] = aten::full([1000, 1000], 1, float32, None, None, None)\n"
      "  mutate %s = %a\n"
      "  return %a, %b, %d, %e, %f\n";
  EXPECT_EQ(run(text), text);
}

TEST(FoldConstants, WhatWasBytesRemembersItsScales) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %w: int8[2, 2] = {1, 2, 3, -4}
  constant %s: float32[2] = {0.5, 0.25}
  constant %z: int64[2] = {0, 0}
  %d: float32[2, 2] = quantized_decomposed::dequantize_per_channel(%w, %s, %z, 0, -127, 127, int8)
  %y: float32[1, 2] = aten::mm(%x, %d)
  return %y
})");
  EXPECT_EQ(fold_constants(*graph), 1);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  EXPECT_EQ(weights->scales->items, (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(weights->scales->span, 2u);
  EXPECT_EQ(weights->scales->integers.data[3], 0xfc);
  EXPECT_EQ(weights->data.data, nullptr);
}

// Differences from zero points become the integers, unless they have more bits, or are no int8.
TEST(FoldConstants, ZeroPointsOfBytesInDisguiseAreSubtracted) {
  const auto weights = [](const std::string& dtype, const std::string& integers,
                          const std::string& points) {
    const auto graph =
        parse_graph("graph \"g\" {\n  input %x: float32[1, 2]\n  constant %w: " + dtype +
                    "[2, 2] = {" + integers +
                    "}\n  constant %s: float32[2] = {0.5, 0.25}\n"
                    "  constant %z: float32[2] = {" +
                    points + R"(}
  %d: float32[2, 2] = quantized_decomposed::dequantize_per_channel(%w, %s, %z, 0, 0, 255, )" +
                    dtype + R"()
  %y: float32[1, 2] = aten::mm(%x, %d)
  return %y
})");
    fold_constants(*graph);
    const Scales scales = *graph->nodes.at(0)->arg(1).value()->scales;
    std::string text = to_string(scales.dtype) + std::string(":");
    for (size_t i = 0; i < 4; ++i) {
      const uint8_t byte = scales.integers.data[i];
      const bool is_signed = scales.dtype == ScalarType::kChar;
      text += " " + std::to_string(is_signed ? static_cast<int8_t>(byte) : int{byte});
    }
    return text + (scales.zero_points.empty() ? "" : " with zero points");
  };
  EXPECT_EQ(weights("uint8", "0, 255, 1, 130", "128, 129"), "int8: -128 127 -128 1");
  EXPECT_EQ(weights("uint8", "0, 15, 7, 9", "8, 8"), "int8: -8 7 -1 1");
  EXPECT_EQ(weights("uint8", "0, 255, 1, 130", "128, 128.5"),
            "uint8: 0 255 1 130 with zero points");
  EXPECT_EQ(weights("uint8", "0, 15, 7, 9", "8, 6"), "int8: -8 7 1 3");
  EXPECT_EQ(weights("uint8", "0, 15, 7, 9", "3, 3"), "uint8: 0 15 7 9 with zero points");
  EXPECT_EQ(weights("int8", "-100, 50, 7, 9", "-60, 3"), "int8: -40 110 4 6");
  EXPECT_EQ(weights("int8", "-100, 120, 7, 9", "-60, 3"), "int8: -100 120 7 9 with zero points");
}

// However many groups there are: their zero points are converted to 16 bits, which takes more bytes.
TEST(FoldConstants, ZeroPointsOfManyGroupsAreConverted) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %w: int8[700000, 2] = zeros
  constant %s: float32[700000, 1] = zeros
  constant %z: int8[700000] = zeros
  %v: int8[700000, 1] = aten::view_copy(%z, [700000, 1])
  %p: int16[700000, 1] = dim_order_ops::_to_dim_order_copy(%v, int16, None, None, None, False, [0, 1])
  %d: float32[700000, 2] = quantized_decomposed::dequantize_per_channel_group(%w, %s, %p, -8, 7, int8, 2, float32)
  %y: float32[1, 700000] = aten::linear(%x, %d)
  return %y
})");
  fold_constants(*graph);
  EXPECT_NE(graph->nodes.at(0)->arg(1).value()->scales, nullptr);
}

TEST(FoldConstants, BytesBehindOneAnotherStayBytes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %v: int8[1, 2] = {5, 6}
  constant %w: int8[2, 2] = {1, 2, 3, -4}
  constant %s: float32[2] = {0.5, 0.25}
  constant %z: int64[2] = {0, 1}
  %c: float32[1, 2] = quantized_decomposed::dequantize_per_tensor(%v, 2.0, 3, -128, 127, int8)
  %d: float32[2, 2] = quantized_decomposed::dequantize_per_channel(%w, %s, %z, 0, -127, 127, int8)
  %a: float32[3, 2] = aten::cat([%c, %d])
  %y: float32[1, 3] = aten::linear(%x, %a)
  return %y
})");
  EXPECT_EQ(fold_constants(*graph), 3);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  EXPECT_EQ(weights->scales->span, 2u);
  const TensorData elements = elements_of(*weights);
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  EXPECT_EQ(std::vector<float>(floats, floats + 6), (std::vector<float>{4, 6, 0.5, 1, 0.5, -1.25}));
}

// The first is int8 in disguise, the second is not.
TEST(FoldConstants, UnsignedBytesBehindOneAnotherStayBytes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %v: uint8[1, 2] = {133, 126}
  constant %w: uint8[1, 2] = {0, 255}
  %c: float32[1, 2] = quantized_decomposed::dequantize_per_tensor(%v, 2.0, 128, 0, 255, uint8)
  %d: float32[1, 2] = quantized_decomposed::dequantize_per_tensor(%w, 0.5, 1, 0, 255, uint8)
  %a: float32[2, 2] = aten::cat([%c, %d])
  %y: float32[1, 2] = aten::linear(%x, %a)
  return %y
})");
  EXPECT_EQ(fold_constants(*graph), 3);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  const TensorData elements = elements_of(*weights);
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  EXPECT_EQ(std::vector<float>(floats, floats + 4), (std::vector<float>{10, -4, -0.5, 127}));
}

TEST(FoldConstants, APartWithoutElementsMayStandBeforeBytes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %v: int8[0, 2] = {}
  constant %w: int8[2, 2] = {1, 2, 3, -4}
  %c: float32[0, 2] = quantized_decomposed::dequantize_per_tensor(%v, 2.0, 3, -128, 127, int8)
  %d: float32[2, 2] = quantized_decomposed::dequantize_per_tensor(%w, 0.5, 0, -128, 127, int8)
  %a: float32[2, 2] = aten::cat([%c, %d])
  %y: float32[1, 2] = aten::linear(%x, %a)
  return %y
})");
  fold_constants(*graph);
  const TensorData elements = elements_of(*graph->nodes.at(0)->arg(1).value());
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  EXPECT_EQ(std::vector<float>(floats, floats + 4), (std::vector<float>{0.5, 1, 1.5, -2}));
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string ones(int count) {
  std::string text = "{1";
  for (int i = 1; i < count; ++i) text += ", 1";
  return text + "}";
}

// Integers 0 to 23, four rows of six, in blocks of two rows and three columns: each block has a
// scale, each row a zero point.
TEST(FoldConstants, BytesInBlocksOfRowsAndColumnsStayBytes) {
  std::string integers = "{0";
  for (int i = 1; i < 24; ++i) integers += ", " + std::to_string(i);
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 6]
  constant %w: int8[2, 2, 2, 3] = )" +
                                 integers + R"(}
  constant %z: float32[2, 2, 1, 1] = {0, 1, 2, 3.5}
  constant %s: float32[2, 1, 2, 1] = {1, 2, 3, 4}
  %f: float32[2, 2, 2, 3] = aten::_to_copy(%w, float32)
  %c: float32[2, 2, 2, 3] = aten::sub.Tensor(%f, %z, 1)
  %m: float32[2, 2, 2, 3] = aten::mul.Tensor(%c, %s)
  %d: float32[4, 6] = aten::view_copy(%m, [4, 6])
  %y: float32[1, 4] = aten::linear(%x, %d)
  return %y
})");
  std::unordered_set<const Value*> widened;
  fold_constants(*graph, widened);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  EXPECT_EQ(weights->scales->span, 3u);
  const TensorData elements = elements_of(*weights);
  ASSERT_EQ(elements.bytes, 24 * sizeof(float));
  const float points[] = {0, 1, 2, 3.5};
  for (int i = 0; i < 24; ++i) {
    const int row = i / 6, column = i % 6, block = row / 2 * 2 + column / 3;
    const auto scale = static_cast<float>(block + 1);
    EXPECT_EQ(reinterpret_cast<const float*>(elements.data)[i],
              (static_cast<float>(i) - points[row]) * scale)
        << i;
  }
  EXPECT_TRUE(widened.empty());
}

TEST(FoldConstants, BytesWhoseScalesAreAsManyAreWidenedWhichIsTold) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 320]
  constant %w: int8[1, 320] = )" +
                                 ones(320) + R"(
  constant %s: float32[1, 320] = )" +
                                 ones(320) + R"(
  %f: float32[1, 320] = aten::_to_copy(%w, float32)
  %m: float32[1, 320] = aten::mul.Tensor(%f, %s)
  %y: float32[1, 1] = aten::linear(%x, %m)
  return %y
})");
  std::unordered_set<const Value*> widened;
  fold_constants(*graph, widened);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  EXPECT_EQ(weights->scales, nullptr);
  EXPECT_EQ(widened.count(weights), 1u);
}

// FX graph mode writes scales and zero points as tensors.
TEST(FoldConstants, BytesWhoseScaleIsATensorStayBytes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 2]
  constant %w: int8[2, 2] = {-4, 1, 2, 3}
  constant %s: float64[1] = {0.5}
  constant %z: int64[] = {1}
  %f: float32[2, 2] = quantized_decomposed::dequantize_per_tensor.tensor(%w, %s, %z, -128, 127, int8)
  %y: float32[1, 2] = aten::linear(%x, %f)
  return %y
})");
  fold_constants(*graph);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  const TensorData elements = elements_of(*weights);
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  EXPECT_EQ(std::vector<float>(floats, floats + 4), (std::vector<float>{-2.5, 0, 0.5, 1}));
}

// `count` float16 numbers from 1 on, each the next one.
std::string different_halves(int count) {
  std::string hex;
  for (int i = 0; i < count; ++i) {
    char number[9];
    std::snprintf(number, sizeof(number), "%02x%02x", i & 255, 0x3c + i / 256);
    hex += number;
  }
  return hex;
}

TEST(FoldConstants, HalvesOfManyNumbersWithScalesAreWidenedWhichIsTold) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 20]
  constant %w: float16[20, 16] = hex ")" +
                                 different_halves(320) + R"("
  constant %s: float32[1, 16] = )" +
                                 ones(16) + R"(
  %f: float32[20, 16] = dim_order_ops::_to_dim_order_copy(%w, float32)
  %m: float32[20, 16] = aten::mul.Tensor(%f, %s)
  %y: float32[1, 16] = aten::mm(%x, %m)
  return %y
})");
  std::unordered_set<const Value*> widened;
  fold_constants(*graph, widened);
  EXPECT_EQ(widened.count(graph->nodes.at(0)->arg(1).value()), 1u);
}

// 1, 2 and NaN in turn, times 3 and 0.5.
TEST(FoldConstants, HalvesOfFewNumbersHaveCodes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 3]
  constant %w: float16[400, 3] = hex ")" +
                                 repeated("003c0040007e", 400) + R"("
  constant %s: float32[400, 1] = {3)" +
                                 repeated(", 0.5", 399) + R"(}
  %f: float32[400, 3] = dim_order_ops::_to_dim_order_copy(%w, float32)
  %m: float32[400, 3] = aten::mul.Tensor(%f, %s)
  %y: float32[1, 400] = aten::linear(%x, %m, None)
  return %y
})");
  std::unordered_set<const Value*> widened;
  fold_constants(*graph, widened);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->codes, nullptr);
  EXPECT_EQ(widened.count(weights), 0u);
  const Scales& codes = *weights->codes;
  EXPECT_EQ(codes.span, 3u);
  ASSERT_EQ(codes.items.size(), 400u);
  EXPECT_EQ(codes.items[0], 3);
  EXPECT_EQ(codes.items[399], 0.5f);
  EXPECT_EQ(codes.table.at(codes.integers.data[0]), 1);
  EXPECT_EQ(codes.table.at(codes.integers.data[1198]), 2);
  EXPECT_TRUE(std::isnan(codes.table.at(codes.integers.data[1199])));
}

// Bytes of a table of 256 numbers, n / 2 for n, times 3 and 0.5; the result is rounded to bfloat16.
// They are large, since other constants that grow so much would not be computed.
TEST(FoldConstants, LookUpsKeepTheirBytesAndTable) {
  std::string table = "0";
  for (int n = 1; n < 256; ++n) table += ", " + std::to_string(n / 2) + (n % 2 == 0 ? "" : ".5");
  const auto graph = parse_graph(R"(graph "g" {
  input %x: bfloat16[1, 750]
  constant %w: uint8[400, 750] = hex ")" +
                                 repeated("0401ff", 100000) + R"("
  constant %t: float32[256, 1] = {)" +
                                 table + R"(}
  constant %one: float32[1] = {1}
  constant %s: float32[400, 1] = {3)" +
                                 repeated(", 0.5", 399) + R"(}
  %f: float32[400, 750] = taper::look_up(%w, %t, %one)
  %m: float32[400, 750] = aten::mul.Tensor(%f, %s)
  %b: bfloat16[400, 750] = dim_order_ops::_to_dim_order_copy(%m, bfloat16)
  %y: bfloat16[1, 400] = aten::linear(%x, %b, None)
  return %y
})");
  fold_constants(*graph);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_EQ(weights->type.dtype, ScalarType::kBFloat16);
  ASSERT_NE(weights->codes, nullptr);
  const Scales& codes = *weights->codes;
  EXPECT_EQ(codes.items[0], 3);
  EXPECT_EQ(codes.integers.data[0], 4);
  EXPECT_EQ(codes.integers.data[299999], 255);
  ASSERT_EQ(codes.table.size(), 256u);
  EXPECT_EQ(codes.table[255], 127.5f);
}

TEST(FoldConstants, HalvesOfManyNumbersHaveNoCodes) {
  const auto graph = parse_graph(
      "graph \"g\" {\n  input %x: float32[1, 3]\n  constant %w: float16[400, 3] = hex \"" +
      different_halves(1200) +
      "\"\n  %f: float32[400, 3] = dim_order_ops::_to_dim_order_copy(%w, float32)\n"
      "  %y: float32[1, 400] = aten::linear(%x, %f, None)\n  return %y\n}");
  fold_constants(*graph);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  EXPECT_EQ(weights->codes, nullptr);
  EXPECT_NE(weights->halves.data, nullptr);
}

TEST(FoldConstants, HalvesThatAreMovedAfterACastAreKept) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 3]
  constant %w: float16[2, 3] = hex "003c00400042004400450046"
  %f: float32[2, 3] = dim_order_ops::_to_dim_order_copy(%w, float32)
  %t: float32[3, 2] = aten::permute_copy(%f, [1, 0])
  %y: float32[1, 2] = aten::mm(%x, %t)
  return %y
})");
  fold_constants(*graph);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  const uint16_t expected[] = {0x3c00, 0x4400, 0x4000, 0x4500, 0x4200, 0x4600};
  ASSERT_EQ(weights->halves.bytes, sizeof(expected));
  EXPECT_EQ(std::memcmp(weights->halves.data, expected, sizeof(expected)), 0);
}

// The kernels of these layers take floats, but the file shall hold bytes.
TEST(FoldConstants, WeightsOfARecurrenceStayBytes) {
  for (const int outputs : {1, 8}) {
    const std::string n = std::to_string(outputs), weight = "[1, 1, " + n + ", 64]";
    const auto graph = parse_graph(
        "graph \"g\" {\n  input %gates: float32[5, 1, 64]\n  input %h: float32[1, 1, " + n +
        "]\n  input %c: float32[1, 1, 16]\n  constant %s: float32[1, 1, 1, 64] = " + ones(64) +
        "\n  constant %w: int8" + weight + " = " + ones(outputs * 64) + "\n  %f: float32" + weight +
        " = dim_order_ops::_to_dim_order_copy(%w, float32)\n  %m: float32" + weight +
        " = aten::mul.Tensor(%f, %s)\n  %y: float32[5, 1, " + n + "], %hn: float32[1, 1, " + n +
        "], %cn: float32[1, 1, 16] = taper::lstm(%gates, %h, %c, %m, None, False)\n"
        "  return %y\n}");
    EXPECT_EQ(fold_constants(*graph), outputs == 1 ? 2 : 0);
    EXPECT_EQ(graph->nodes.size(), outputs == 1 ? 1u : 3u);
  }
}

// 127 times 0.3984375 is 50.6015625, and 50.5 in bfloat16.
TEST(FoldConstants, BytesTimesScalesOf16BitsStayBytes) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: bfloat16[1, 2]
  constant %w: int8[2, 2] = {1, 127, 3, -4}
  constant %s: bfloat16[2, 1] = hex "cc3e803c"
  %f: bfloat16[2, 2] = aten::_to_copy(%w, bfloat16)
  %d: bfloat16[2, 2] = aten::mul.Tensor(%f, %s)
  %y: bfloat16[1, 2] = aten::mm(%x, %d)
  return %y
})");
  fold_constants(*graph);
  const Value* weights = graph->nodes.at(0)->arg(1).value();
  ASSERT_NE(weights->scales, nullptr);
  EXPECT_EQ(weights->scales->items, (std::vector<float>{0.3984375f, 0.015625f}));
  const TensorData elements = elements_of(*weights);
  ASSERT_EQ(elements.bytes, 8u);
  uint16_t second;
  std::memcpy(&second, elements.data + 2, sizeof(second));
  EXPECT_EQ(second, 0x424a);
}

}  // namespace
}  // namespace taper::exir
