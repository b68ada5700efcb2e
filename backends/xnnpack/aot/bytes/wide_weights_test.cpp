// Tests weights with zero points: that the parts of int8 have the sums of the integers less the zero
// points, and which layers read them.

#include "backends/xnnpack/aot/bytes/wide_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "backends/xnnpack/aot/compile_for_test.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {

extern const exir::CompilerDescriptor kCompiler;

namespace {

using wire::NodeContent;

// A convolution whose weights [rows, 2, 1, columns] have the given integers and zero points.
struct Layer {
  NodeList list;
  NodeSpec node;
  std::shared_ptr<exir::Scales> scales = std::make_shared<exir::Scales>();
  size_t rows, columns;

  Layer(size_t rows, size_t columns, ScalarType dtype, std::vector<uint8_t> integers,
        std::vector<float> points)
      : rows(rows), columns(columns) {
    for (size_t i = 0; i < points.size(); ++i) {
      scales->items.push_back(0.5f + static_cast<float>(i));
    }
    scales->zero_points = std::move(points);
    scales->span = integers.size() / scales->items.size();
    scales->dtype = dtype;
    scales->integers = exir::own_bytes(std::move(integers));
    const Dims dims = {static_cast<int64_t>(rows), 2, 1, static_cast<int64_t>(columns)};
    ValueSpec image;
    image.dims = {1, 5, 5, static_cast<int64_t>(columns)};
    list.values.push_back(image);
    node.kind = NodeContent::Conv2d;
    node.inputs = {0, list.add_constant(dims, exir::elements_of(*scales)), kNone};
    list.values[node.inputs[1]].integers = scales;
  }

  // The integer less its zero point, as PyTorch dequantises it before it multiplies the scale.
  int number(size_t i) const {
    const uint8_t byte = scales->integers.data[i];
    const int integer = scales->dtype == ScalarType::kChar ? static_cast<int8_t>(byte) : byte;
    return integer - static_cast<int>(scales->zero_points[i / scales->span]);
  }

  // Adds up what the parts multiply a channel by.
  void check(const WideWeights& wide) const {
    const exir::Scales& made = *list.values[wide.weights].made_from;
    const size_t all = columns + static_cast<size_t>(wide.more_channels());
    ASSERT_TRUE(exir::is_symmetric(made));
    ASSERT_EQ(made.integers.bytes, rows * 2 * all);
    ASSERT_EQ(made.items.size(), rows);
    std::vector<size_t> channel(columns);
    for (size_t i = 0; i < columns; ++i) channel[i] = i;
    for (const WideWeights::Range& range : wide.repeated) {
      for (int64_t i = 0; i < range.count; ++i) {
        channel.push_back(static_cast<size_t>(range.first + i));
      }
    }
    std::vector<int> sums(rows * 2 * columns);
    for (size_t i = 0; i < made.integers.bytes; ++i) {
      sums[i / all * columns + channel[i % all]] += static_cast<int8_t>(made.integers.data[i]);
    }
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], number(i)) << i;
    for (size_t row = 0; row < rows; ++row) {
      EXPECT_EQ(made.items[row], scales->items[row * scales->items.size() / rows]);
    }
  }
};

std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<uint8_t>(random()); });
  return bytes;
}

TEST(WideWeights, PartsAddUp) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const ScalarType dtype : {ScalarType::kChar, ScalarType::kByte}) {
      std::vector<float> points;
      for (const uint8_t byte : random_bytes(seed % 3 == 0 ? 1 : 4, seed + 100)) {
        points.push_back(dtype == ScalarType::kByte ? byte : static_cast<int8_t>(byte));
      }
      points[0] += points[0] == 0 ? 1 : 0;
      Layer layer(4, 7, dtype, random_bytes(4 * 2 * 7, seed), points);
      const auto wide = split_wide_weights(layer.list, layer.node);
      ASSERT_TRUE(wide.has_value());
      layer.check(*wide);
    }
  }
}

// 255 is more than twice the largest int8, -255 is not.
TEST(WideWeights, TheLargestNumberHasThreeParts) {
  std::vector<uint8_t> bytes(2 * 2 * 7);
  bytes[3] = 127;  // Column 3 of a row whose zero point is -128.
  bytes[18] = 0x80;
  Layer layer(2, 7, ScalarType::kChar, bytes, {-128, 127});
  const auto wide = split_wide_weights(layer.list, layer.node);
  ASSERT_TRUE(wide.has_value());
  layer.check(*wide);
  ASSERT_EQ(wide->repeated.size(), 2u);
  EXPECT_EQ(wide->repeated[0].count, 7);
  EXPECT_EQ(wide->repeated[1].first, 3);
  EXPECT_EQ(wide->repeated[1].count, 1);
}

// Only channels between the first and the last that needs it are read again.
TEST(WideWeights, FewLargeNumbersRepeatFewChannels) {
  std::vector<uint8_t> bytes(2 * 2 * 7, 5);
  bytes[2] = bytes[11] = 127;
  Layer layer(2, 7, ScalarType::kChar, bytes, {-3, -3});
  const auto wide = split_wide_weights(layer.list, layer.node);
  ASSERT_TRUE(wide.has_value());
  layer.check(*wide);
  ASSERT_EQ(wide->repeated.size(), 1u);
  EXPECT_EQ(wide->repeated[0].first, 2);
  EXPECT_EQ(wide->repeated[0].count, 3);
}

TEST(WideWeights, WhatIsNotSplit) {
  const std::vector<uint8_t> bytes(2 * 2 * 7, 5);
  Layer depthwise(2, 7, ScalarType::kChar, bytes, {1, 2});
  depthwise.node.kind = NodeContent::DepthwiseConv2d;
  EXPECT_FALSE(split_wide_weights(depthwise.list, depthwise.node));
  Layer halves(2, 7, ScalarType::kChar, bytes, {0.5f, 2});
  EXPECT_FALSE(split_wide_weights(halves.list, halves.node));
  Layer by_pixel(1, 7, ScalarType::kChar, bytes, {1, 2, 3, 4});
  EXPECT_FALSE(split_wide_weights(by_pixel.list, by_pixel.node));
  Layer turned(2, 7, ScalarType::kChar, random_bytes(28, 1), {1, 2});
  std::vector<uint8_t> integers(turned.scales->integers.data, turned.scales->integers.data + 28);
  std::reverse(integers.begin(), integers.end());
  turned.scales->integers = exir::own_bytes(std::move(integers));  // Not in the floats' order.
  EXPECT_FALSE(split_wide_weights(turned.list, turned.node));
}

// ---- layers ----

std::shared_ptr<exir::Scales> with_points(size_t count) {
  auto scales = std::make_shared<exir::Scales>();
  scales->items = {0.5f, 0.25f};
  scales->zero_points = {100, -100};
  scales->span = count / 2;
  scales->integers = exir::own_bytes(random_bytes(count, 7));
  return scales;
}

std::string between_bytes(const std::string& in, const std::string& out, const std::string& layer) {
  const std::string how = "(%c, 1.0, 3, -128, 127, int8)\n", from = ", 0.5, 3, -128, 127, int8)\n";
  return "  input %x: float32" + in + "\n  %q: int8" + in +
         " = quantized_decomposed::quantize_per_tensor(%x" + from + "  %d: float32" + in +
         " = quantized_decomposed::dequantize_per_tensor(%q" + from + layer + "  %p: int8" + out +
         " = quantized_decomposed::quantize_per_tensor" + how + "  return %p";
}

std::string zeros(size_t count) {
  std::string text = "{0";
  for (size_t i = 1; i < count; ++i) text += ", 0";
  return text + "}\n";
}

TEST(WideWeights, LinearLayersReadTheirInputTwice) {
  const Compiled r =
      compile_bytes(between_bytes("[3, 6]", "[3, 2]",
                                  "  constant %w: float32[2, 6] = " + zeros(12) +
                                      "  %c: float32[3, 2] = aten::linear(%d, %w)\n"),
                    with_points(12));
  EXPECT_EQ(r.kinds(), "Convert Concatenate2 FullyConnected");
}

// With a result that stays floats, the weights stay integers in a kernel of ours.
TEST(WideWeights, LinearLayersWithFloatResultsAreNotTaken) {
  const Compiled r = compile_bytes(R"(  input %q: int8[3, 6]
  constant %w: float32[2, 6] = )" + zeros(12) +
                                       R"(
  %d: float32[3, 6] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[3, 2] = aten::linear(%d, %w)
  return %c)",
                                   with_points(12));
  EXPECT_EQ(r.kinds(), "Convert");
}

// A convolution in two groups, compiled with these options.
Compiled grouped_convolution(const char* options) {
  constexpr size_t kCount = 32 * 4;
  auto scales = with_points(kCount);
  scales->items = {0.5f};
  scales->zero_points = {-100};
  scales->span = kCount;
  static constexpr const exir::CompilerDescriptor* kTable[] = {&kCompiler};
  return compile_bytes(
      between_bytes("[1, 8, 3, 3]", "[1, 32, 3, 3]",
                    "  constant %w: float32[32, 4, 1, 1] = " + zeros(kCount) +
                        "  %c: float32[1, 32, 3, 3] = aten::convolution(%d, %w, None, [1, 1], "
                        "[0, 0], [1, 1], False, [0, 0], 2)\n"),
      scales, exir::make_compilers(options, kTable));
}

TEST(WideWeights, GroupsOfConvolutionsReadTheirChannelsTwice) {
  EXPECT_EQ(grouped_convolution("xnnpack").kinds(),
            "Convert Transpose Reshape Concatenate2 Reshape Conv2d Transpose");
}

TEST(WideWeights, AnOptionKeepsThemWhole) {
  EXPECT_EQ(grouped_convolution("xnnpack:split_weights=0").kinds(),
            "Convert Transpose Convert Conv2d Convert Transpose");
}

// ---- convolutions of what is quantised at run time ----

Compiled at_run_time(const std::string& in, const std::string& weights, size_t count,
                     const std::string& convolution,
                     const std::shared_ptr<const exir::Scales>& scales) {
  const std::string text =
      "  range s0 = [1, 4]\n  range s1 = [8, 64]\n  input %x: float32" + in +
      "\n  constant %w: float32" + weights + " = " + zeros(count) +
      R"(  %s: float64[1], %z: int64[1] = )"
      R"(quantized_decomposed::choose_qparams.tensor(%x, -128, 127, 1e-6, int8)
  %q: int8)" +
      in + R"( = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, -128, 127, int8)
  %d: float32)" +
      in + R"( = quantized_decomposed::dequantize_per_tensor.tensor(%q, %s, %z, -128, 127, int8)
)" + convolution +
      "  return %c";
  return compile_bytes(text, scales);
}

TEST(WideWeights, SignalsAreQuantisedAtRunTimeAsImages) {
  const std::string convolution =
      "  %c: float32[1, 2, 5] = aten::convolution(%d, %w, None, [1], [1], [1], False, [0], 1)\n";
  auto plain = with_points(18);
  plain->zero_points.clear();
  EXPECT_EQ(at_run_time("[1, 3, 5]", "[2, 3, 3]", 18, convolution, plain).kinds(),
            "Transpose Reshape Convert Conv2d Reshape Transpose");
  EXPECT_EQ(at_run_time("[1, 3, 5]", "[2, 3, 3]", 18, convolution, with_points(18)).kinds(),
            "Transpose Reshape Concatenate2 Convert Conv2d Reshape Transpose");
}

TEST(WideWeights, TransposedConvolutionsAreQuantisedAtRunTime) {
  auto scales = with_points(24);  // [in, out, height, width]: those of `out` repeat.
  scales->zero_points.clear();
  scales->span = 4;
  EXPECT_EQ(at_run_time("[1, 3, 5, 5]", "[3, 2, 2, 2]", 24,
                        "  %c: float32[1, 2, 10, 10] = aten::convolution(%d, %w, None, [2, 2], "
                        "[0, 0], [1, 1], True, [0, 0], 1)\n",
                        scales)
                .kinds(),
            "Transpose Convert ConvTranspose2d Transpose");
}

// Groups take reshapes, which infer one size. Outside, the numbers are PyTorch's.
TEST(WideWeights, GroupsOfSeveralDynamicSizesAreNotQuantisedAtRunTime) {
  const auto scales = with_points(128);
  scales->items = {0.5f};
  scales->zero_points = {-100};
  scales->span = 128;
  const auto compiled = [&](const std::string& in, const std::string& out) {
    return at_run_time(in, "[32, 4, 1]", 128,
                       "  %c: float32" + out +
                           " = aten::convolution(%d, %w, None, [1], [0], [1], False, [0], 2)\n",
                       scales);
  };
  const Compiled one = compiled("[1, 8, s1]", "[1, 32, s1]");
  EXPECT_NE(one.kinds().find("Concatenate2"), std::string::npos) << one.kinds();
  EXPECT_TRUE(one.outside.empty());
  const Compiled two = compiled("[s0, 8, s1]", "[s0, 32, s1]");
  EXPECT_EQ(two.kinds().find("Convert"), std::string::npos) << two.kinds();
  EXPECT_EQ(two.outside.size(), 3u);
}

TEST(WideWeights, WhatIsNotQuantisedAtRunTimeSaysWhy) {
  auto plain = with_points(18);
  plain->zero_points.clear();
  const Compiled depthwise = at_run_time(
      "[1, 2, 5, 5]", "[2, 1, 3, 3]", 18,
      "  %c: float32[1, 2, 3, 3] = aten::convolution(%d, %w, None, [1, 1], [0, 0], [1, 1], False, "
      "[0, 0], 2)\n",
      plain);
  EXPECT_EQ(depthwise.kinds(), "Transpose DepthwiseConv2d Transpose");
  ASSERT_EQ(depthwise.outside.size(), 3u);
  for (const std::string& each : depthwise.outside) {
    EXPECT_NE(each.find(": XNNPACK has no depthwise convolution of what is quantised at run time"),
              each.npos)
        << each;
  }
  auto by_pixel = with_points(12);
  by_pixel->items.assign(12, 0.5f);
  by_pixel->zero_points.clear();
  by_pixel->span = 1;
  const Compiled scaled = at_run_time(
      "[1, 3, 5, 5]", "[2, 3, 1, 2]", 12,
      "  %c: float32[1, 2, 5, 4] = aten::convolution(%d, %w, None, [1, 1], [0, 0], [1, 1], False, "
      "[0, 0], 1)\n",
      by_pixel);
  ASSERT_EQ(scaled.outside.size(), 3u);
  EXPECT_NE(scaled.outside[0].find("whose weights have such scales or zero points"),
            std::string::npos);
}

}  // namespace
}  // namespace taper::xnnpack
