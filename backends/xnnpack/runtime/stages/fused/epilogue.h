// An epilogue: a function of each element, or a sum of two tensors, that follows a convolution or
// layer and is computed with it, while the results are in the cache.

#pragma once

#include "backends/xnnpack/runtime/stages/fused/fusion.h"

namespace taper::xnnpack {

// The kFunction or kSum that nodes after `producer` compute and that alone reads its result, which
// is inputs[0]; `nodes` is 0 if there is none. inputs[1] of a sum is computed before the producer.
// `uses` is the number of reads of each value, or more if it is an argument.
Fusion find_epilogue(const Subgraph& graph, Span<const uint32_t> uses, size_t producer);

// Whether XNNPACK computes the node in tiles of a product that may have this epilogue
// (library/epilogue.h).
bool has_tiles(const XnnNode& node, Span<const XnnValue> values, const Fusion& epilogue);

// Computes a kFunction or kSum of `count` elements; `out` may be `in`.
void compute_elements(const Fusion& fusion, const float* in, const float* other, float* out,
                      int64_t count);

// The same as an epilogue of XNNPACK, whose context is a Fusion.
void finish_tile(const void* fusion, void* results, const void* addends, size_t rows, size_t bytes,
                 size_t step);

}  // namespace taper::xnnpack
