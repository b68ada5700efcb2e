// Finds what follows a product, and computes it; see epilogue.h.

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"

#include <limits>
#include <utility>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/fused/pattern_search.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

Fusion function(const XnnNode& node, optimized::Function function) {
  if (has_bounds(node)) return {};
  Fusion fusion;
  fusion.kind = Fusion::Kind::kFunction;
  fusion.function = function;
  fusion.nodes = 1;
  fusion.inputs[0] = node.inputs[0];
  fusion.output = node.output;
  return fusion;
}

Fusion sum(const XnnNode& node, Span<const XnnValue> values) {
  if (values[node.inputs[0]].shape != values[node.inputs[1]].shape) return {};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Fusion fusion;
  fusion.kind = Fusion::Kind::kSum;
  fusion.nodes = 1;
  fusion.inputs[0] = node.inputs[0];
  fusion.inputs[1] = node.inputs[1];
  fusion.output = node.output;
  fusion.min = has_bounds(node) ? node.min : -kInfinity;
  fusion.max = has_bounds(node) ? node.max : kInfinity;
  return fusion;
}

// The function that a single node computes, also those of which XNNPACK is as fast by itself.
Fusion elements_of(const XnnNode& node, Span<const XnnValue> values) {
  if (!node.is_needed || values[node.output].type != wire::DataType::FP32) return {};
  switch (node.content_type) {
    case NodeContent::Gelu:
      return function(node, optimized::Function::kGelu);
    case NodeContent::Hardswish:
      return function(node, optimized::Function::kHardswish);
    case NodeContent::Sigmoid:
      return function(node, optimized::Function::kSigmoid);
    case NodeContent::Tanh:
      return function(node, optimized::Function::kTanh);
    case NodeContent::Add:
      return sum(node, values);
    default: {
      const Fusion fusion = fusion_of(node, values);
      return fusion.kind == Fusion::Kind::kFunction ? fusion : Fusion();
    }
  }
}

}  // namespace

Fusion find_epilogue(const Subgraph& graph, Span<const uint32_t> uses, size_t producer) {
  const size_t next = producer + 1;
  if (next == graph.nodes().size()) return {};
  const Span<const XnnValue> values = graph.values();
  const uint32_t result = graph.nodes()[producer].output;
  if (values[result].type != wire::DataType::FP32) return {};
  Fusion fusion = elements_of(graph.nodes()[next], values);
  if (!graph.is_taper()) {
    const Fusion pattern = find_pattern(graph, uses, next);
    if (pattern.kind == Fusion::Kind::kFunction) fusion = pattern;
  }
  if (fusion.kind == Fusion::Kind::kSum && fusion.inputs[1] == result) {
    std::swap(fusion.inputs[0], fusion.inputs[1]);
  }
  // A swish of two nodes, a sigmoid and a product, reads it twice.
  if (fusion.inputs[0] != result || uses[result] != fusion.nodes) return {};
  const uint32_t addend = fusion.inputs[1];
  const bool is_computed = addend == kNone || (values[addend].data == nullptr &&
                                               values[addend].type == wire::DataType::FP32);
  return is_computed ? fusion : Fusion();
}

bool has_tiles(const XnnNode& node, Span<const XnnValue> values, const Fusion& epilogue) {
  const bool has_constants = node.inputs[1] != kNone && input(node, values, 1).data != nullptr;
  const bool has_bias = node.inputs[2] != kNone && input(node, values, 2).data != nullptr;
  if (!has_constants || (epilogue.inputs[1] != kNone && !has_bias)) return false;
  if (node.content_type == NodeContent::FullyConnected) return true;
  if (node.content_type != NodeContent::Conv2d) return false;
  const auto& t = node.as<wire::Convolution>();
  // XNNPACK computes a single channel as a depthwise convolution.
  const bool is_depthwise = t.group_input_channels() == 1 && t.group_output_channels() == 1;
  return t.groups() == 1 && !is_depthwise;
}

void compute_elements(const Fusion& fusion, const float* in, const float* other, float* out,
                      int64_t count) {
  if (fusion.kind == Fusion::Kind::kSum) {
    optimized::add_clamped(in, other, fusion.min, fusion.max, out, count);
  } else {
    optimized::apply(fusion.function, in, out, count);
  }
}

void finish_tile(const void* fusion, void* results, const void* addends, size_t rows, size_t bytes,
                 size_t step) {
  if (bytes == step) {  // Of all columns.
    bytes *= rows;
    rows = 1;
  }
  auto* out = static_cast<uint8_t*>(results);
  const auto* other = static_cast<const uint8_t*>(addends);
  const auto floats = [](const void* at) { return static_cast<const float*>(at); };
  for (size_t row = 0; row < rows; ++row) {
    const size_t offset = row * step;
    void* const at = out + offset;
    compute_elements(*static_cast<const Fusion*>(fusion), floats(at),
                     other != nullptr ? floats(other + offset) : nullptr, static_cast<float*>(at),
                     static_cast<int64_t>(bytes / sizeof(float)));
  }
}

}  // namespace taper::xnnpack
