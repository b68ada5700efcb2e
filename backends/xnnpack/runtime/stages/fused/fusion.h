// A function that one of our stages computes in one pass over memory: a node of Taper's own kinds
// (graph/taper_kinds.cpp), a node for which XNNPACK has no fast kernel or, in a payload of
// ExecuTorch, several nodes that together compute such a function (pattern_search.h).

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "kernels_optimized/cores/fused.h"

namespace taper::xnnpack {

struct Fusion {
  enum class Kind : uint8_t {
    kNone,
    kNorm,     // (x - mean) / sqrt(variance + eps) * weight + bias, row by row
    kRms,      // The same without subtracting the mean.
    kScale,    // x * weight + bias, clamped, per element of the last dimension: a batch norm.
    kSum,      // a + b within bounds, which may be infinite; both have the same shape.
    kSoftmax,  // Along any dimension; XNNPACK would transpose the tensor twice.
    kFunction  // Of each element: x * sigmoid(x), e^x and others.
  };
  Kind kind = Kind::kNone;
  optimized::Function function = optimized::Function::kExp;
  size_t nodes = 0;  // The number of consecutive nodes that it replaces.
  uint32_t inputs[2] = {kNone, kNone};
  uint32_t output = kNone;
  // Constants of the graph, or null.
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
  uint32_t row_dims = 1;  // A row of kNorm, kRms and kScale is this many of the last dimensions.
  // A kNorm of groups of channels has rows of `width` elements; each of `channels` elements of
  // weight and bias applies to `area` elements. 0 for all other norms.
  uint32_t channels = 0, area = 0, width = 0;
  float min = 0, max = 0;
  uint32_t axis = 0;  // The dimension of kSoftmax.
};

// The function that starts with a node, if there is one and it pays for a stage. `uses` is the
// number of reads of each value, or more if it is an argument.
Fusion find_fusion(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

// The function that a single node computes, if we have one, even if it does not pay for a stage.
Fusion fusion_of(const XnnNode& node, Span<const XnnValue> values);
// Whether all inputs are float32, and none is a constant.
bool has_computed_inputs(const Fusion& fusion, Span<const XnnValue> values);

// The elements of a channel of [images, channels, ...].
inline uint64_t area_of(const Shape& image) {
  uint64_t area = 1;
  for (uint32_t d = 2; d < image.rank; ++d) area *= image.dims[d];
  return area;
}

}  // namespace taper::xnnpack
