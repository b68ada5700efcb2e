// Decides which nodes become a Fusion; see fusion.h.

#include "backends/xnnpack/runtime/stages/fused/fusion.h"

#include <algorithm>
#include <iterator>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/fused/pattern_search.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// A stage costs about a microsecond; a pass over fewer elements takes less.
constexpr uint64_t kLeastElements = 8192;
// Enough of those whose function takes XNNPACK some nanoseconds each.
constexpr uint64_t kLeastSlowElements = 1024;

const float* floats_or_null(uint32_t id, Span<const XnnValue> values) {
  return id == kNone ? nullptr : floats_of(values[id]);
}

Fusion norm_of_rows(Fusion fusion, const XnnNode& node, Span<const XnnValue> values) {
  fusion.kind =
      node.content_type == NodeContent::LayerNorm ? Fusion::Kind::kNorm : Fusion::Kind::kRms;
  fusion.row_dims = node.as<wire::RowNorm>().row_dims();
  fusion.eps = node.number;
  fusion.weight = floats_or_null(node.inputs[1], values);
  fusion.bias = floats_or_null(node.inputs[2], values);
  return fusion;
}

Fusion norm_of_groups(Fusion fusion, const XnnNode& node, Span<const XnnValue> values) {
  const Shape& image = values[node.output].shape;
  fusion.kind = Fusion::Kind::kNorm;
  fusion.eps = node.number;
  fusion.weight = floats_or_null(node.inputs[1], values);
  fusion.bias = floats_or_null(node.inputs[2], values);
  fusion.channels = image.dims[1];
  fusion.area = static_cast<uint32_t>(area_of(image));
  fusion.width = fusion.channels / node.as<wire::GroupNorm>().groups() * fusion.area;
  return fusion;
}

Fusion batch_norm(Fusion fusion, const XnnNode& node, Span<const XnnValue> values) {
  fusion.kind = Fusion::Kind::kScale;
  fusion.weight = floats_or_null(node.inputs[1], values);
  fusion.bias = floats_or_null(node.inputs[2], values);
  return fusion;
}

Fusion softmax(Fusion fusion, const XnnNode& node) {
  fusion.kind = Fusion::Kind::kSoftmax;
  fusion.axis = node.as<wire::DimSoftmax>().dim();
  return fusion;
}

Fusion sum(Fusion fusion, const XnnNode& node, Span<const XnnValue> values) {
  if (values[node.inputs[0]].shape != values[node.inputs[1]].shape) return {};
  fusion.kind = Fusion::Kind::kSum;
  fusion.inputs[1] = node.inputs[1];
  return fusion;
}

Fusion function(Fusion fusion, const XnnNode& node, optimized::Function function) {
  if (has_bounds(node)) return {};
  fusion.kind = Fusion::Kind::kFunction;
  fusion.function = function;
  return fusion;
}

// Whether it pays by itself; XNNPACK computes the others in one pass, too.
bool is_faster(const XnnNode& node) {
  switch (node.content_type) {
    case NodeContent::Add:
      return has_bounds(node);
    case NodeContent::Gelu:
    case NodeContent::Hardswish:
    case NodeContent::Sigmoid:
    case NodeContent::Tanh:
      return false;
    default:
      return true;
  }
}

// Functions that XNNPACK computes without vectors.
bool is_slow(const Fusion& fusion) {
  if (fusion.kind != Fusion::Kind::kFunction) return false;
  switch (fusion.function) {
    case optimized::Function::kExp:
    case optimized::Function::kSin:
    case optimized::Function::kCos:
    case optimized::Function::kSqrt:
    case optimized::Function::kRsqrt:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool has_computed_inputs(const Fusion& fusion, Span<const XnnValue> values) {
  return std::all_of(std::begin(fusion.inputs), std::end(fusion.inputs), [&](uint32_t id) {
    return id == kNone || (values[id].data == nullptr && values[id].type == wire::DataType::FP32);
  });
}

Fusion fusion_of(const XnnNode& node, Span<const XnnValue> values) {
  if (!node.is_needed || values[node.output].type != wire::DataType::FP32) return {};
  Fusion fusion;
  fusion.nodes = 1;
  fusion.inputs[0] = node.inputs[0];
  fusion.output = node.output;
  fusion.min = node.min;
  fusion.max = node.max;
  switch (node.content_type) {
    case NodeContent::Swish:
      return function(fusion, node, optimized::Function::kSwish);
    case NodeContent::LayerNorm:
    case NodeContent::RmsNorm:
      return norm_of_rows(fusion, node, values);
    case NodeContent::GroupNorm:
      return norm_of_groups(fusion, node, values);
    case NodeContent::BatchNorm:
      return batch_norm(fusion, node, values);
    case NodeContent::DimSoftmax:
      return softmax(fusion, node);
    case NodeContent::Add:
      return sum(fusion, node, values);
    case NodeContent::Exp:
      return function(fusion, node, optimized::Function::kExp);
    case NodeContent::Log:
      return function(fusion, node, optimized::Function::kLog);
    case NodeContent::Sin:
      return function(fusion, node, optimized::Function::kSin);
    case NodeContent::Cos:
      return function(fusion, node, optimized::Function::kCos);
    case NodeContent::SquareRoot:
      return function(fusion, node, optimized::Function::kSqrt);
    case NodeContent::ReciprocalSquareRoot:
      return function(fusion, node, optimized::Function::kRsqrt);
    case NodeContent::Gelu:
      return function(fusion, node, optimized::Function::kGelu);
    case NodeContent::GeluTanh:
      return function(fusion, node, optimized::Function::kGeluTanh);
    case NodeContent::Hardswish:
      return function(fusion, node, optimized::Function::kHardswish);
    case NodeContent::Sigmoid:
      return function(fusion, node, optimized::Function::kSigmoid);
    case NodeContent::Tanh:
      return function(fusion, node, optimized::Function::kTanh);
    default:
      return {};
  }
}

Fusion find_fusion(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const XnnNode& node = graph.nodes()[first];
  Fusion fusion = is_faster(node) ? fusion_of(node, graph.values()) : Fusion();
  if (!graph.is_taper()) {
    const Fusion pattern = find_pattern(graph, uses, first);
    if (pattern.nodes > 0) fusion = pattern;
  }
  if (fusion.nodes == 0) return {};
  const Shape& shape = graph.values()[fusion.output].shape;
  const uint64_t least = is_slow(fusion) ? kLeastSlowElements : kLeastElements;
  const bool is_large = shape.rank > 0 && element_count(shape) >= least;
  return is_large && has_computed_inputs(fusion, graph.values()) ? fusion : Fusion();
}

}  // namespace taper::xnnpack
