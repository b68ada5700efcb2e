// Finds what follows a product, and computes it; see epilogue.h.

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"

#include <utility>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/fused/pattern_search.h"

namespace taper::xnnpack {

using wire::NodeContent;

Fusion find_epilogue(const Subgraph& graph, Span<const uint32_t> uses, size_t producer) {
  const size_t next = producer + 1;
  if (next == graph.nodes().size()) return {};
  const Span<const XnnValue> values = graph.values();
  const uint32_t result = graph.nodes()[producer].output;
  if (values[result].type != wire::DataType::FP32) return {};
  Fusion fusion = fusion_of(graph.nodes()[next], values);
  if (!graph.is_taper()) {
    const Fusion pattern = find_pattern(graph, uses, next);
    if (pattern.kind == Fusion::Kind::kFunction) fusion = pattern;
  }
  const bool is_sum = fusion.kind == Fusion::Kind::kSum;
  if (fusion.kind != Fusion::Kind::kFunction && !is_sum) return {};
  if (is_sum && fusion.inputs[1] == result) {
    std::swap(fusion.inputs[0], fusion.inputs[1]);
  }
  // A swish of two nodes, a sigmoid and a product, reads it twice.
  if (fusion.inputs[0] != result || uses[result] != fusion.nodes) return {};
  return has_computed_inputs(fusion, values) ? fusion : Fusion();
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
