// Tests which calls of a payload graphs given as text become, and what stays outside.

#include "backends/vulkan/aot/vulkan_compiler.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/vulkan/aot/payload_writer.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
#include "exir/delegate/partition.h"
#include "exir/ir/body_for_test.h"
#include "exir/lower.h"

namespace taper::vulkan {

extern const exir::CompilerDescriptor kCompiler;

namespace {

struct Compiled {
  std::unique_ptr<exir::Graph> graph;
  std::string outside;  // "aten::cos: why"

  PayloadGraph payload(size_t i = 0) const {
    const std::vector<uint8_t>& bytes = graph->delegates.at(i)->payload;
    PayloadGraph read;
    EXPECT_STREQ(read.read({bytes.data(), bytes.size()}, nullptr).message(), "");
    return read;
  }
  // The operators of a payload, without "aten." and overload.
  std::string calls(size_t i = 0) const {
    std::string text;
    for (const PayloadCall& call : payload(i).calls) {
      std::string name = call.op->name;
      if (name.rfind("aten.", 0) == 0) name = name.substr(5, name.rfind('.') - 5);
      text += (text.empty() ? "" : " ") + name;
    }
    return text;
  }
};

Compiled compile(const std::string& body) {
  Compiled result;
  result.graph = exir::parse_body(body);
  exir::CompileOptions options(kCompiler.options);
  options.set("min_elements=0");
  exir::Delegation delegation;
  exir::partition(*result.graph, {std::make_shared<VulkanCompiler>(options)}, {}, &delegation);
  for (const auto& node : result.graph->nodes) {
    const auto why = delegation.outside.find(node.get());
    if (why == delegation.outside.end()) continue;
    result.outside += std::string(node->target()) + ": " + why->second + "\n";
  }
  return result;
}

TEST(VulkanCompiler, ArgumentsAndResultsAreThoseOfTheNodes) {
  const Compiled r = compile(R"(  input %x: float32[2, 3]
  constant %w: float32[3] = {1, 2, 3}
  %a: float32[2, 3] = aten::add.Tensor(%x, %w, 1)
  %y: float32[3, 2] = aten::permute_copy(%a, [1, 0])
  return %y)");
  EXPECT_EQ(r.calls(), "add permute_copy");
  const PayloadGraph payload = r.payload();
  const auto value = [&](size_t call, size_t i) {
    return payload.values[static_cast<size_t>(payload.calls[call].args[i])];
  };
  EXPECT_TRUE(value(0, 0).is_input);
  EXPECT_TRUE(value(0, 1).is_constant);
  EXPECT_EQ(value(0, 2).integer, 1);
  EXPECT_EQ(payload.calls[0].args[3], payload.calls[1].args[0]);
  EXPECT_EQ(value(1, 1).ints.size(), 2u);
  EXPECT_EQ(value(1, 1).ints[0], 1);
  EXPECT_EQ(value(1, 2).dims, (Dims{2, {3, 2}}));
  EXPECT_EQ(payload.outputs, std::vector<ValueId>{static_cast<ValueId>(payload.calls[1].args[2])});
  EXPECT_EQ(r.graph->delegates[0]->data.size(), 1u);  // The constant, by name.
}

TEST(VulkanCompiler, SizesAreReadOffInputs) {
  const Compiled r = compile(R"(range s0 = [1, 8]
  input %x: float32[s0, 6]
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %r: float32[s0, 6] = aten::relu(%x)
  %v: float32[s0, 2, 3] = aten::view_copy(%r, [%n, 2, 3])
  %y: float32[s0, 2, 3] = aten::neg(%v)
  return %y)");
  EXPECT_EQ(r.calls(), "relu sym_size.int view_copy neg");
}

TEST(VulkanCompiler, SizesAreComputed) {
  const Compiled r = compile(R"(range s0 = [1, 8]
  input %x: float32[s0, 6]
  %n: int(s0) = aten::sym_size.int(%x, 0)
  %m: int(6*s0) = executorch_prim::mul.Scalar(%n, 6)
  %v: float32[6*s0] = aten::view_copy(%x, [%m])
  %y: float32[6*s0] = aten::neg(%v)
  return %y)");
  EXPECT_EQ(r.calls(), "sym_size.int mul view_copy neg") << r.outside;
}

TEST(VulkanCompiler, WhatTheDeviceWouldRefuseStaysOutside) {
  const Compiled large = compile(R"(  input %x: int64[2]
  constant %w: int64[2] = {1, 3000000000}
  %y: int64[4] = aten::cat([%x, %w], 0)
  %z: int64[4] = aten::clone(%y)
  return %z)");
  EXPECT_NE(large.outside.find("aten::cat: a constant does not fit into 32 bits"),
            std::string::npos)
      << large.outside;
  const Compiled wide = compile(R"(  input %x: float64[2]
  %y: float64[2] = aten::relu(%x)
  return %y)");
  EXPECT_NE(wide.outside.find("it computes with"), std::string::npos) << wide.outside;
}

TEST(VulkanCompiler, APayloadKeepsItsStates) {
  const Compiled r = compile(R"(  input %x: float32[2]
  state %s: float32[4] = {1, 2, 3, 4}
  state %n: float32[4] = {0, 0, 0, 0}
  %w: float32[4] = aten::slice_scatter(%s, %x, 0, 1, 3, 1)
  %m: float32[4] = aten::add.Tensor(%n, %w, 1)
  %y: float32[4] = aten::neg(%w)
  mutate %s = %w
  mutate %n = %m
  return %y)");
  EXPECT_EQ(r.outside, "");
  EXPECT_TRUE(r.graph->constants.empty());
  EXPECT_TRUE(r.graph->mutations.empty());
  // The first is written in place, the other one behind all nodes.
  EXPECT_EQ(r.calls(), "slice_scatter add neg copy");
  const PayloadGraph payload = r.payload();
  const auto is_state = [&](int32_t id) {
    return payload.values[static_cast<size_t>(id)].is_state;
  };
  EXPECT_EQ(payload.calls[0].args[0], payload.calls[0].result());
  EXPECT_TRUE(is_state(payload.calls[0].result()));
  EXPECT_FALSE(is_state(payload.calls[1].result()));
  EXPECT_EQ(payload.calls[3].result(), payload.calls[1].args[0]);
  EXPECT_EQ(payload.inputs.size(), 1u);
  EXPECT_EQ(payload.outputs.size(), 1u);
}

TEST(VulkanCompiler, WhatAStateHeldBeforeIsNotWrittenOver) {
  const Compiled r = compile(R"(  input %x: float32[2]
  state %s: float32[4] = {1, 2, 3, 4}
  %v: float32[2, 2] = aten::view_copy(%s, [2, 2])
  %w: float32[4] = aten::slice_scatter(%s, %x, 0, 1, 3, 1)
  %y: float32[2, 2] = aten::neg(%v)
  mutate %s = %w
  return %y)");
  EXPECT_EQ(r.calls(), "view_copy slice_scatter neg copy") << r.outside;
}

TEST(VulkanCompiler, StatesThatOtherNodesUseStayOutside) {
  const Compiled read = compile(R"(  input %x: float32[4]
  state %s: float32[4] = {1, 2, 3, 4}
  %w: float32[4] = aten::add.Tensor(%s, %x, 1)
  %y: float32[4] = aten::erfinv(%s)
  mutate %s = %w
  return %y)");
  EXPECT_NE(read.outside.find("aten::add.Tensor: it reads a buffer that the program writes"),
            std::string::npos)
      << read.outside;
  EXPECT_EQ(read.graph->mutations.size(), 1u);
  const Compiled returned = compile(R"(  input %x: float32[4]
  state %s: float32[4] = {1, 2, 3, 4}
  %w: float32[4] = aten::add.Tensor(%s, %x, 1)
  mutate %s = %w
  return %s)");
  EXPECT_EQ(returned.graph->mutations.size(), 1u);
}

// Weights as constant folding leaves them, of two groups of four in each row.
TEST(VulkanCompiler, WeightsOfFourBitsStayPacked) {
  const auto graph = exir::parse_graph(R"(graph "g" {
  input %x: float32[1, 8]
  constant %w: float32[2, 8] = {-4, 3.5, 0, 0.5, 1, 2, 3, 4, 0, 0, 0, 0, 7, -8, 1, 0}
  %y: float32[1, 2] = aten::linear(%x, %w, None)
  return %y
})");
  exir::Scales scales;
  scales.items = {0.5, 1, 0.25, 1};
  scales.span = 4;
  scales.bits = 4;
  scales.integers = exir::own_bytes({0xf8, 7, 0, 1, 1, 2, 3, 4, 0, 0, 0, 0, 7, 0xf8, 1, 0});
  graph->constants[0]->scales = std::make_shared<const exir::Scales>(scales);
  PayloadWriter writer(*graph, {graph->inputs[0].value()});
  writer.add(*graph->nodes[0]);
  const exir::Delegate delegate = writer.finish(graph->nodes[0]->outputs);
  ASSERT_EQ(delegate.data.size(), 2u);
  const auto bytes = [&](size_t i) {
    const exir::TensorData& data = delegate.data[i].bytes;
    return std::vector<uint8_t>(data.data, data.data + data.bytes);
  };
  EXPECT_EQ(bytes(0), (std::vector<uint8_t>{0xf0, 0x98, 0xa9, 0xcb, 0x88, 0x88, 0x0f, 0x89}));
  std::vector<float> by_column(4);
  ASSERT_EQ(bytes(1).size(), 16u);
  std::memcpy(by_column.data(), bytes(1).data(), 16);
  EXPECT_EQ(by_column, (std::vector<float>{0.5, 0.25, 1, 1}));
}

constexpr size_t kRows = 4, kColumns = 512;

// A payload with one layer, whose weights are integers for which there is no packed form.
exir::Delegate layer_of(exir::Scales scales) {
  const auto graph = exir::parse_graph(R"(graph "g" {
  input %x: float32[1, 512]
  constant %w: float32[4, 512] = zeros
  %y: float32[1, 4] = aten::linear(%x, %w, None)
  return %y
})");
  scales.integers = exir::own_bytes(std::vector<uint8_t>(kRows * kColumns, 7));
  graph->constants[0]->scales = std::make_shared<const exir::Scales>(std::move(scales));
  PayloadWriter writer(*graph, {graph->inputs[0].value()});
  writer.add(*graph->nodes[0]);
  return writer.finish(graph->nodes[0]->outputs);
}

TEST(VulkanCompiler, WeightsThatFloat16HoldsAreStoredSo) {
  const auto graph = exir::parse_body(R"(  input %x: float32[1, 32]
  constant %w: float32[32, 16] = zeros
  %y: float32[1, 16] = aten::mm(%x, %w)
  return %y)");
  graph->constants[0]->data = exir::own_bytes(std::vector<uint8_t>(32 * 16 * sizeof(float)));
  const auto bytes_of = [&](bool for_executorch) {
    PayloadWriter writer(*graph, {graph->inputs[0].value()});
    if (for_executorch) writer.write_floats();
    writer.add(*graph->nodes[0]);
    const exir::Delegate delegate = writer.finish(graph->nodes[0]->outputs);
    PayloadGraph payload;
    EXPECT_TRUE(payload.read({delegate.payload.data(), delegate.payload.size()}, nullptr).ok());
    const auto& value = payload.values[static_cast<size_t>(payload.calls[0].args[1])];
    EXPECT_EQ(value.is_half, !for_executorch);
    EXPECT_EQ(value.dtype, ScalarType::kFloat);
    return delegate.data.at(0).bytes.bytes;
  };
  EXPECT_EQ(bytes_of(false), 32u * 16 * 2);
  EXPECT_EQ(bytes_of(true), 32u * 16 * 4);
}

TEST(VulkanCompiler, IntegersWithZeroPointsBecomeFloatsInTheCall) {
  exir::Scales scales;
  scales.items.assign(kRows, 0.5);
  scales.zero_points = {1, 2, 3, 4};
  scales.span = kColumns;
  const exir::Delegate delegate = layer_of(scales);
  PayloadGraph payload;
  ASSERT_TRUE(payload.read({delegate.payload.data(), delegate.payload.size()}, nullptr).ok());
  ASSERT_EQ(payload.calls.size(), 2u);
  EXPECT_STREQ(payload.calls[0].op->name, "quantized_decomposed.dequantize_per_channel.default");
  ASSERT_EQ(delegate.data.size(), 3u);  // Integers, scales, zero points.
  EXPECT_EQ(delegate.data[0].bytes.bytes, kRows * kColumns);
  EXPECT_EQ(delegate.data[2].bytes.bytes, kRows * sizeof(float));
}

TEST(VulkanCompiler, IntegersWhoseScalesRepeatBecomeFloatsInTheCall) {
  exir::Scales scales;
  scales.items.assign(kColumns, 0.5);
  const exir::Delegate delegate = layer_of(scales);
  ASSERT_EQ(delegate.data.size(), 2u);  // Integers, scales.
  EXPECT_EQ(delegate.data[0].bytes.bytes, kRows * kColumns);
  EXPECT_EQ(delegate.data[1].bytes.bytes, kColumns * sizeof(float));
}

// The device multiplies no integers; the kernels have forms for weights of bytes.
TEST(VulkanCompiler, WeightsOfProductsOfIntegersStayBytes) {
  const auto graph = exir::parse_graph(R"(graph "g" {
  input %x: int8[20, 64]
  constant %w: int8[64, 32] = zeros
  %y: int32[20, 32] = aten::_int_mm(%x, %w)
  return %y
})");
  exir::LowerOptions options;
  options.backends = {std::make_shared<VulkanCompiler>(exir::CompileOptions(kCompiler.options))};
  exir::lower(*graph, options);
  ASSERT_EQ(graph->constants.size(), 1u);
  EXPECT_EQ(graph->constants[0]->type.dtype, ScalarType::kChar);
}

}  // namespace
}  // namespace taper::vulkan
