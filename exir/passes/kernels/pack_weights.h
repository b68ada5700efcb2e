// Constants of integers become arguments of kernels that take them packed.
//
//     before   %y = aten::linear(%x, %w, %b)      after   %y = taper::packed_linear(%x, %integers,
//              (%w: 4-bit integers, scales)               %scales, %zero_points, %b, 4)
//
// If rows of the input are quantised before the layer, taper::quantize_rows and
// taper::packed_linear_rows multiply integers. An embedding becomes
// quantized_decomposed::embedding_4bit and its like. For other readers a constant becomes floats if
// it is small, or else it is dequantised at each call: integers of 2 or 4 bits as a table of which
// every row is looked up, codes by taper::look_up. Of an embedding of codes only the rows that are
// read become floats. A large constant that was cast from float16 is so again.
//
// Runs      after partitioning, when kernels run the rest.
// Keeps     weights in the bytes that they need: two or four in a byte where they fit.
// Cost      one walk over the graph and the weights.

#pragma once

#include <functional>
#include <string_view>

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes and constants replaced. `has_kernel` says whether the target has a
// kernel for a call.
int pack_weights(Graph& graph,
                 const std::function<bool(std::string_view name, const Node& call)>& has_kernel);

}  // namespace taper::exir
