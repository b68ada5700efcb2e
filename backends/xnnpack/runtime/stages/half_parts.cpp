#include "backends/xnnpack/runtime/stages/half_parts.h"

#include <cpuinfo.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// Without products.
constexpr NodeContent kKinds[] = {
    NodeContent::Abs,
    NodeContent::Add,
    NodeContent::AvgPool2d,
    NodeContent::Ceiling,
    NodeContent::Clamp,
    NodeContent::Concatenate2,
    NodeContent::Concatenate3,
    NodeContent::Concatenate4,
    NodeContent::Concatenate5,
    NodeContent::ConstantPad,
    NodeContent::Copy,
    NodeContent::Divide,
    NodeContent::Elu,
    NodeContent::Floor,
    NodeContent::GlobalAvgPool2d,
    NodeContent::Hardswish,
    NodeContent::LeakyRelu,
    NodeContent::MaxPool2d,
    NodeContent::Maximum,
    NodeContent::Minimum,
    NodeContent::Multiply,
    NodeContent::Negate,
    NodeContent::PRelu,
    NodeContent::Reshape,
    NodeContent::ResizeBilinear,
    NodeContent::Sigmoid,
    NodeContent::Slice,
    NodeContent::Softmax,
    NodeContent::Subtract,
    NodeContent::Swish,
    NodeContent::Tanh,
    NodeContent::Transpose,
};

// What brings a number of any size back into the range.
constexpr NodeContent kNarrowing[] = {
    NodeContent::Cos,        NodeContent::Divide,
    NodeContent::DimSoftmax, NodeContent::GroupNorm,
    NodeContent::LayerNorm,  NodeContent::ImageGroupNorm,
    NodeContent::Log,        NodeContent::ReciprocalSquareRoot,
    NodeContent::RmsNorm,    NodeContent::Sigmoid,
    NodeContent::Sin,        NodeContent::Softmax,
    NodeContent::SquareRoot, NodeContent::Tanh,
};

template <size_t kCount>
bool is_one_of(const NodeContent (&kinds)[kCount], const XnnNode& node) {
  return std::find(std::begin(kinds), std::end(kinds), node.content_type) != std::end(kinds);
}

template <typename Test>
bool any_input(const XnnNode& node, Span<const XnnValue> values, Test test) {
  return std::any_of(std::begin(node.inputs), std::end(node.inputs),
                     [&](uint32_t id) { return id != kNone && test(values[id]); });
}

Span<const float> numbers_of(const XnnValue& value) {
  const bool has_numbers = value.data != nullptr && value.type == wire::DataType::FP32;
  return {has_numbers ? floats_of(value) : nullptr,
          has_numbers ? static_cast<size_t>(element_count(value.declared)) : 0};
}

bool multiplies(const XnnNode& node) {
  return has_filter(node) || node.content_type == NodeContent::BatchMatrixMultiply;
}

// The weight of a product that computes a sum or a mean: one for all. Otherwise 0.
float only_weight(const XnnNode& node, Span<const XnnValue> values) {
  if (!multiplies(node)) return 0;
  for (const size_t i : {0, 1}) {
    const Span<const float> numbers = numbers_of(values[node.inputs[i]]);
    const bool is_one = std::all_of(numbers.begin(), numbers.end(),
                                    [&](float number) { return number == numbers[0]; });
    if (numbers.size() > 1 && is_one) return numbers[0];
  }
  return 0;
}

bool is_square(const XnnNode& node) {
  return node.content_type == NodeContent::Square ||
         (node.content_type == NodeContent::Multiply && node.inputs[0] == node.inputs[1]);
}

bool is_sum(const XnnNode& node, Span<const XnnValue> values) {
  return (node.content_type == NodeContent::GlobalAvgPool2d && (node.flags & kSumFlag) != 0) ||
         std::fabs(only_weight(node, values)) >= 1;
}

bool becomes_infinite(float number) { return std::isfinite(number) && std::fabs(number) > 65504; }
bool becomes_zero(float number) { return number != 0 && std::fabs(number) <= 0x1p-25f; }

// Whether a number of the constant would become infinite, such as that of a mask, or what keeps a
// divisor from zero would become it.
bool loses_numbers(const XnnValue& value) {
  const Span<const float> numbers = numbers_of(value);
  return std::any_of(numbers.begin(), numbers.end(), becomes_infinite) ||
         (numbers.size() > 0 && std::all_of(numbers.begin(), numbers.end(), becomes_zero));
}

// A filter is trained: it has no such numbers.
bool loses_constants(const XnnNode& node, Span<const XnnValue> values) {
  for (size_t i = 0; i < std::size(node.inputs); ++i) {
    const bool is_filter = i == 1 && has_filter(node);
    if (node.inputs[i] != kNone && !is_filter && loses_numbers(values[node.inputs[i]])) return true;
  }
  return becomes_zero(node.min) || becomes_zero(node.max);
}

bool is_wide(const XnnNode& node, Span<const XnnValue> values) {
  const bool is_exponential = node.content_type == NodeContent::Exp;
  if (is_exponential || is_square(node) || is_sum(node, values)) return true;
  if (loses_constants(node, values)) return true;
  const bool returns = is_one_of(kNarrowing, node) || is_product(node, values);
  return !returns && any_input(node, values, [](const XnnValue& value) { return value.is_wide; });
}

}  // namespace

bool computes_in_half(Numbers numbers) {
#if CPUINFO_ARCH_ARM64
  return numbers != Numbers::kExact && cpuinfo_has_arm_neon_fp16_arith();
#elif CPUINFO_ARCH_X86_64
  return numbers == Numbers::kRounded && cpuinfo_has_x86_avx2() && cpuinfo_has_x86_f16c();
#else
  static_cast<void>(numbers);
  return false;
#endif
}

void mark_wide_values(const Subgraph& graph) {
  for (const XnnNode& node : graph.nodes()) {
    if (node.is_needed) graph.values()[node.output].is_wide = is_wide(node, graph.values());
  }
}

bool may_be_in_half(const XnnNode& node, Span<const XnnValue> values) {
  if (!is_product(node, values) && !is_one_of(kKinds, node)) return false;
  if (is_open_reshape(node) || !is_in_floats(node, values)) return false;
  if (any_input(node, values, [](const XnnValue& value) { return value.is_wide; })) return false;
  return !values[node.output].is_wide;
}

bool is_product(const XnnNode& node, Span<const XnnValue> values) {
  return multiplies(node) && only_weight(node, values) == 0;
}

}  // namespace taper::xnnpack
