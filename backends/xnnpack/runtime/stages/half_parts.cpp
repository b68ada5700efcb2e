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

bool is_known_kind(const XnnNode& node) {
  return std::find(std::begin(kKinds), std::end(kKinds), node.content_type) != std::end(kKinds);
}

// The sum of the pixels of an image may leave the range.
bool is_sum_of_pixels(const XnnNode& node) {
  return node.content_type == NodeContent::GlobalAvgPool2d && (node.flags & kSumFlag) != 0;
}

// Whether a number of the constant, such as that of a mask, would become infinite.
bool has_large_numbers(const XnnValue& value) {
  constexpr float kLargest = 65504;
  const float* numbers = floats_of(value);
  return std::any_of(numbers, numbers + element_count(value.declared), [](float number) {
    return std::isfinite(number) && std::fabs(number) > kLargest;
  });
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

bool may_be_in_half(const XnnNode& node, Span<const XnnValue> values) {
  if (!is_product(node) && !is_known_kind(node)) return false;
  if (is_sum_of_pixels(node) || is_open_reshape(node) || !is_in_floats(node, values)) return false;
  for (size_t i = 0; i < std::size(node.inputs); ++i) {
    const uint32_t id = node.inputs[i];
    const bool is_filter = i == 1 && has_filter(node);  // Trained ones have no such numbers.
    if (id == kNone || is_filter || values[id].data == nullptr) continue;
    if (has_large_numbers(values[id])) return false;
  }
  return true;
}

bool is_product(const XnnNode& node) {
  return has_filter(node) || node.content_type == NodeContent::BatchMatrixMultiply;
}

}  // namespace taper::xnnpack
