// Counts by the rules of each kind of product; see node_work.h.

#include "backends/xnnpack/runtime/stages/node_work.h"

#include "backends/xnnpack/runtime/payload/value_reader.h"

namespace taper::xnnpack {
namespace {

double elements(const XnnValue& value) { return static_cast<double>(element_count(value.shape)); }

double bytes_of(const XnnValue& value) {
  return static_cast<double>(stored_bytes(value.type, value.shape));
}

double window_of(const wire::Convolution& window) {
  return static_cast<double>(window.kernel_height()) * window.kernel_width();
}

double multiplications(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& input = values[node.inputs[0]];
  const double results = elements(values[node.output]);
  switch (node.content_type) {
    case wire::NodeContent::Conv2d: {
      const auto& window = node.as<wire::Convolution>();
      return results * window_of(window) * window.group_input_channels();
    }
    case wire::NodeContent::DepthwiseConv2d:
      return results * window_of(node.as<wire::Convolution>());
    case wire::NodeContent::ConvTranspose2d: {
      const auto& window = node.as<wire::Convolution>();
      return elements(input) * window_of(window) * window.group_output_channels();
    }
    case wire::NodeContent::FullyConnected:
    case wire::NodeContent::BatchMatrixMultiply:
      return results * input.shape.last();
    default:
      return 0;
  }
}

// Whether one of the nodes before `node` has the value as its result, or reads it too.
bool is_counted(uint32_t value, const XnnNode* first, const XnnNode* node) {
  for (; first != node; ++first) {
    if (first->output == value) return true;
    for (const uint32_t id : first->inputs) {
      if (id == value) return true;
    }
  }
  return false;
}

}  // namespace

NodeWork work_of(const Subgraph& graph, Span<const XnnNode> nodes) {
  const Span<const XnnValue> values = graph.values();
  NodeWork work;
  const XnnNode* last = nullptr;
  for (const XnnNode& node : nodes) {
    if (!node.is_needed) continue;
    last = &node;
    work.operations += 2 * multiplications(node, values);
    for (size_t i = 0; i < sizeof(node.inputs) / sizeof(node.inputs[0]); ++i) {
      const uint32_t id = node.inputs[i];
      if (id == kNone || is_counted(id, nodes.begin(), &node)) continue;
      bool is_repeated = false;
      for (size_t k = 0; k < i; ++k) is_repeated = is_repeated || node.inputs[k] == id;
      if (!is_repeated) work.bytes += bytes_of(values[id]);
    }
  }
  if (last != nullptr) work.bytes += bytes_of(values[last->output]);
  return work;
}

}  // namespace taper::xnnpack
