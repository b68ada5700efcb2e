// One function of its inputs that a stage of ours computes in one pass over memory: a node of
// Taper's own (graph/taper_kinds.cpp), a node that XNNPACK has no fast kernel for, or, in a payload
// of ExecuTorch, several nodes that write such a function (pattern_search.h).

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "kernels_optimized/cores/fused.h"

namespace taper::xnnpack {

struct Fusion {
  enum class Kind : uint8_t {
    kNone,
    kSwish,    // x * sigmoid(x)
    kNorm,     // (x - mean) / sqrt(variance + eps) * weight + bias, row by row
    kRms,      // The same without the mean.
    kScale,    // x * weight + bias within bounds, by the last dimension: a batch norm.
    kSum,      // a + b within bounds, of one shape.
    kSoftmax,  // Along any dimension, for which XNNPACK transposes the tensor twice.
    kFunction  // e^x and others that XNNPACK computes one by one.
  };
  Kind kind = Kind::kNone;
  optimized::Function function = optimized::Function::kExp;
  size_t nodes = 0;  // How many nodes in a row it stands for.
  uint32_t inputs[2] = {kNone, kNone};
  uint32_t output = kNone;
  // Constants of the graph, or null.
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
  uint32_t row_dims = 1;  // A row of kNorm, kRms and kScale is this many of the last dimensions.
  // A kNorm of groups of channels has rows of `width` elements; each of `channels` entries of
  // weight and bias holds for `area` elements. 0 for all other norms.
  uint32_t channels = 0, area = 0, width = 0;
  float min = 0, max = 0;
  uint32_t axis = 0;  // The dimension of kSoftmax.
};

// The function that begins with that node, if there is one and it is worth a stage. `uses` says of
// every value how often it is read, or more if it is an argument.
Fusion find_fusion(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

// The elements of a channel of [images, channels, ...].
inline uint64_t area_of(const Shape& image) {
  uint64_t area = 1;
  for (uint32_t d = 2; d < image.rank; ++d) area *= image.dims[d];
  return area;
}

}  // namespace taper::xnnpack
