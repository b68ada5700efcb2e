// Which nodes are computed in float16 where the program prefers that (`--precision f16`).
//
// XNNPACK converts a whole graph: filters when it packs them, arguments and results by a node each.
// Therefore a segment is in float16 if it has a product, which takes half the instructions then. It
// has only nodes whose arguments and results are expected to stay in the range, which ends at
// 65,504 and has nothing between 0 and 2^-24: squares, sums, exponentials and norms remain float32,
// as does everything that our own stages compute. What is made of one of these, or of a constant
// that float16 does not have, remains so until a product, a root, a division or a function such as
// a sigmoid brings it back. Sums and means that XNNPACK computes as products are none here: what is
// added to a large sum in float16 is lost.
//
// ARM sums products in float16, too; the kernels for AVX2, by which an export measures the change
// on x86, sum them in float32. So a device may be off by a few times as much.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "taper/backend_device.h"

namespace taper::xnnpack {

// Whether this processor computes in float16: with its own arithmetic or, for Numbers::kRounded,
// with float32 that is rounded after each node.
bool computes_in_half(Numbers numbers);

// Marks the values whose numbers may leave the range.
void mark_wide_values(const Subgraph& graph);

// Whether a node may be in float16: its kind, its types, and the values that it reads.
bool may_be_in_half(const XnnNode& node, Span<const XnnValue> values);

// Whether it is a node for which a segment is in float16.
bool is_product(const XnnNode& node, Span<const XnnValue> values);

}  // namespace taper::xnnpack
