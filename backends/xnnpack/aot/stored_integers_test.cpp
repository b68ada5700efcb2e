// Tests which constants a payload stores as integers, as half bytes or as float16, and in what order.

#include "backends/xnnpack/aot/stored_integers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/xnnpack/aot/compile_for_test.h"
#include "backends/xnnpack/payload_format.h"
#include "exir/ir/body_for_test.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

// Weights of 4 x 8 x 3 x 5: the element at o, i, h, w before it is scaled.
int integer_at(int o, int i, int h, int w, int count = 100) {
  return (o * 31 + i * 7 + h * 3 + w) % count - count / 2;
}

constexpr char kBody[] = R"(  input %x: float32[1, 8, 9, 9]
  constant %w: float32[4, 8, 3, 5] = SIZES
  %y: float32[1, 4, 7, 5] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  return %y)";

std::shared_ptr<exir::Scales> weights(std::vector<float> items, size_t span, int bits) {
  auto scales = std::make_shared<exir::Scales>();
  scales->items = std::move(items);
  scales->span = span;
  std::vector<uint8_t> integers;
  for (int at = 0; at < 480; ++at) {
    const int count = bits == 8 ? 100 : 1 << bits;
    const int integer = integer_at(at / 120, at / 15 % 8, at / 5 % 3, at % 5, count);
    integers.push_back(static_cast<uint8_t>(static_cast<int8_t>(integer)));
  }
  scales->integers = exir::own_bytes(std::move(integers));
  scales->bits = exir::bits_of(scales->integers, scales->dtype);
  return scales;
}

Compiled compile_with(std::string body, const std::shared_ptr<const exir::Scales>& scales,
                      bool for_executorch) {
  std::string numbers = "{0";
  for (int i = 1; i < 480; ++i) numbers += ", 0";
  body.replace(body.find("SIZES"), 5, numbers + "}");
  Compiled result;
  result.graph = exir::parse_body(body);
  exir::Value* weight = result.graph->constants.at(0);
  weight->scales = scales;
  weight->data.data = nullptr;
  exir::PartitionOptions options;
  options.for_executorch = for_executorch;
  exir::partition(*result.graph, {std::make_shared<XnnpackCompiler>()}, options);
  return result;
}

Compiled convolution(std::vector<float> items, size_t span, bool for_executorch = false,
                     int bits = 8) {
  const auto scales = weights(std::move(items), span, bits);
  scales->zero_points.assign(scales->items.size(), 3);
  return compile_with(kBody, scales, for_executorch);
}

const wire::QuantizedTensor* filter_of(const Compiled& compiled) {
  const wire::XNNGraph& graph = compiled.payload();
  for (const wire::XNode* node : *graph.nodes()) {
    const wire::Convolution* layer = node->content_as_Conv2d();
    if (layer != nullptr) {
      return graph.values()->Get(layer->filter())->content_as_QuantizedTensor();
    }
  }
  return nullptr;
}

TEST(StoredIntegers, AFilterOfFloatsIsWrittenAsBytesChannelsLast) {
  for (const std::vector<float>& items : {std::vector<float>{0.3f, 0.7f, 1.1f, 0.9f}, {0.3f}}) {
    const Compiled r = convolution(items, 120);
    EXPECT_EQ(r.identifier(), "XT01");
    const wire::QuantizedTensor* filter = filter_of(r);
    ASSERT_NE(filter, nullptr);
    EXPECT_EQ(filter->tensor()->datatype(), wire::DataType::QINT8);
    const wire::Steps* steps = filter->quantization_as_Steps();
    ASSERT_NE(steps, nullptr);
    EXPECT_EQ(std::vector<float>(steps->scale()->begin(), steps->scale()->end()), items);
    EXPECT_EQ(steps->zero_point()->Get(0), 3);
    EXPECT_EQ(steps->span(), 480 / items.size());
    const auto& data = r.graph->delegates[0]->data;
    ASSERT_EQ(data.size(), 1u);
    ASSERT_EQ(data[0].bytes.bytes, 480u);
    for (int at = 0; at < 480; ++at) {
      const int i = at % 8, w = at / 8 % 5, h = at / 40 % 3, o = at / 120;
      EXPECT_EQ(static_cast<int8_t>(data[0].bytes.data[at]), integer_at(o, i, h, w)) << at;
    }
    EXPECT_EQ(r.graph->delegates[0]->computed_in.at(0), "float32, weights stored as int8");
  }
}

TEST(StoredIntegers, AFilterOfFourBitsHasHalfAByteForEachElement) {
  const Compiled r = convolution({0.3f, 0.7f, 1.1f, 0.9f}, 120, false, 4);
  const wire::QuantizedTensor* filter = filter_of(r);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->tensor()->datatype(), wire::DataType::QCINT4);
  const auto& data = r.graph->delegates[0]->data;
  ASSERT_EQ(data.size(), 1u);
  ASSERT_EQ(data[0].bytes.bytes, 240u);
  for (int at = 0; at < 480; ++at) {
    const int i = at % 8, w = at / 8 % 5, h = at / 40 % 3, o = at / 120;
    const int half = data[0].bytes.data[at / 2] >> (at % 2 * 4) & 15;
    EXPECT_EQ(half - 8, integer_at(o, i, h, w, 16)) << at;
  }
  EXPECT_EQ(r.graph->delegates[0]->computed_in.at(0), "float32, weights stored as int4");
}

// Between bytes, XNNPACK wants whole ones, which the device makes of the halves.
TEST(StoredIntegers, AFilterOfFourBitsBetweenBytesHasHalves) {
  constexpr char kBytes[] = R"(  input %q: int8[1, 8, 9, 9]
  constant %w: float32[4, 8, 3, 5] = SIZES
  %d: float32[1, 8, 9, 9] = quantized_decomposed::dequantize_per_tensor(%q, 0.5, 3, -128, 127, int8)
  %c: float32[1, 4, 7, 5] = aten::convolution(%d, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %y: int8[1, 4, 7, 5] = quantized_decomposed::quantize_per_tensor(%c, 1.0, 3, -128, 127, int8)
  return %y)";
  for (const std::vector<float>& items : {std::vector<float>{0.3f, 0.7f, 1.1f, 0.9f}, {0.3f}}) {
    const auto compiled = [&](int bits, bool for_executorch) {
      return compile_with(kBytes, weights(items, 480 / items.size(), bits), for_executorch);
    };
    const Compiled r = compiled(4, false);
    EXPECT_EQ(r.identifier(), "XT01");
    const wire::QuantizedTensor* filter = filter_of(r);
    ASSERT_NE(filter, nullptr);
    EXPECT_EQ(filter->tensor()->datatype(), wire::DataType::QCINT4);
    EXPECT_EQ(filter->tensor()->flags(), kHalfBytesFlag);
    EXPECT_EQ(filter->quantization_as_PerChannel() != nullptr, items.size() > 1);
    EXPECT_EQ(filter->quantization_as_PerTensor() != nullptr, items.size() == 1);
    const auto& data = r.graph->delegates[0]->data;
    ASSERT_EQ(data.size(), 1u);
    ASSERT_EQ(data[0].bytes.bytes, 240u);
    for (int at = 0; at < 480; ++at) {
      const int i = at % 8, w = at / 8 % 5, h = at / 40 % 3, o = at / 120;
      const int half = data[0].bytes.data[at / 2] >> (at % 2 * 4) & 15;
      EXPECT_EQ(half - 8, integer_at(o, i, h, w, 16)) << at;
    }
    EXPECT_EQ(r.graph->delegates[0]->computed_in.at(1), "int8, weights stored as int4");
    for (const bool for_executorch : {false, true}) {
      const Compiled other = compiled(for_executorch ? 4 : 8, for_executorch);
      EXPECT_EQ(other.identifier(), "XN01");
      EXPECT_EQ(filter_of(other)->tensor()->flags(), 0u);
      EXPECT_EQ(other.graph->delegates[0]->data[0].bytes.bytes, 480u);
    }
  }
}

TEST(StoredIntegers, ScalesOfInputChannelsMoveWithThem) {
  const Compiled r = convolution({1, 2, 3, 4, 5, 6, 7, 8}, 15);
  const wire::QuantizedTensor* filter = filter_of(r);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->quantization_as_Steps()->span(), 1u);
}

TEST(StoredIntegers, GroupsOfInputChannelsShareAScale) {
  // Four channels of 15 elements each share one.
  std::vector<float> items;
  for (int i = 1; i <= 8; ++i) items.push_back(0.3f * static_cast<float>(i));
  const Compiled r = convolution(items, 60);
  const wire::QuantizedTensor* filter = filter_of(r);
  ASSERT_NE(filter, nullptr);
  const wire::Steps& steps = *filter->quantization_as_Steps();
  EXPECT_EQ(steps.span(), 4u);
  ASSERT_EQ(steps.scale()->size(), 120u);  // Of each pixel, two.
  for (uint32_t n = 0; n < 120; ++n) {
    EXPECT_EQ(steps.scale()->Get(n), items[n / 30 * 2 + n % 2]) << n;
  }
}

// Each output channel has a scale for each input channel, which lies beside the next one's.
TEST(StoredIntegers, AFilterWithAScaleForEachPairOfChannelsIsFloatsAndSaysSo) {
  std::vector<float> items;
  for (int i = 1; i <= 32; ++i) items.push_back(0.1f * static_cast<float>(i * i));
  const Compiled r = convolution(items, 15);
  EXPECT_EQ(filter_of(r), nullptr);
  EXPECT_EQ(r.graph->delegates[0]->computed_in.at(0), "float32, weights stored as float32");
}

// The filter of `convolution`, as bytes that stand for squares.
TEST(StoredIntegers, CodesAreWrittenAsBytesWithATable) {
  std::string numbers = "{0";
  for (int i = 1; i < 480; ++i) numbers += ", 0";
  std::string body = kBody;
  body.replace(body.find("SIZES"), 5, numbers + "}");
  Compiled r;
  r.graph = exir::parse_body(body);
  auto codes = std::make_shared<exir::Scales>();
  codes->items = {0.3f, 0.7f, 1.1f, 0.9f};
  codes->span = 120;
  codes->dtype = ScalarType::kByte;
  codes->table.resize(256);
  for (int i = 0; i < 100; ++i) codes->table[i] = static_cast<float>((i - 50) * std::abs(i - 50));
  std::vector<uint8_t> integers, floats(480 * sizeof(float));
  for (int at = 0; at < 480; ++at) {
    const int code = integer_at(at / 120, at / 15 % 8, at / 5 % 3, at % 5) + 50;
    const float element = codes->table[code] * codes->items[at / 120];
    integers.push_back(static_cast<uint8_t>(code));
    std::memcpy(&floats[at * sizeof(element)], &element, sizeof(element));
  }
  codes->integers = exir::own_bytes(std::move(integers));
  exir::Value* weight = r.graph->constants.at(0);
  weight->codes = codes;
  weight->data = exir::own_bytes(std::move(floats));
  exir::partition(*r.graph, {std::make_shared<XnnpackCompiler>()}, {});
  const wire::QuantizedTensor* filter = filter_of(r);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->tensor()->datatype(), wire::DataType::QUINT8);
  const wire::Steps* steps = filter->quantization_as_Steps();
  ASSERT_NE(steps, nullptr);
  ASSERT_NE(steps->table(), nullptr);
  ASSERT_EQ(steps->table()->size(), 256u);
  const auto& data = r.graph->delegates[0]->data;
  ASSERT_EQ(data.at(0).bytes.bytes, 480u);
  for (int at = 0; at < 480; ++at) {
    const int i = at % 8, w = at / 8 % 5, h = at / 40 % 3, o = at / 120;
    const int integer = integer_at(o, i, h, w);
    EXPECT_EQ(steps->table()->Get(data[0].bytes.data[at]), integer * std::abs(integer)) << at;
  }
  EXPECT_EQ(r.graph->delegates[0]->computed_in.at(0), "float32, weights stored as 8-bit floats");
}

TEST(StoredIntegers, ExecutorchGetsFloats) {
  const Compiled r = convolution({0.5f}, 480, true);
  EXPECT_EQ(r.identifier(), "XN01");
  EXPECT_EQ(filter_of(r), nullptr);
}

// A linear layer of 32 x 24 and a sum, whose constants are all numbers of float16.
TEST(StoredHalves, ForExecutorchFiltersOfFloat16StaySo) {
  const auto types = [](bool for_executorch) {
    exir::PartitionOptions options = kAll;
    options.for_executorch = for_executorch;
    const Compiled r = compile(R"(  input %x: float32[32, 24]
  constant %w: float32[32, 24] = zeros
  constant %a: float32[32, 32] = zeros
  %y: float32[32, 32] = aten::linear(%x, %w, None)
  %z: float32[32, 32] = aten::add.Tensor(%y, %a)
  return %z)",
                               options);
    std::string text = r.identifier();
    for (const wire::XValue* value : *r.payload().values()) {
      const wire::Tensor* tensor = value->content_as_Tensor();
      if (tensor == nullptr || tensor->constant() == 0) continue;
      text += std::string(" ") + wire::EnumNameDataType(tensor->datatype());
    }
    return text;
  };
  EXPECT_EQ(types(true), "XN01 FP16 FP32");
  EXPECT_EQ(types(false), "XT01 FP16 FP16");
}

}  // namespace
}  // namespace taper::xnnpack
