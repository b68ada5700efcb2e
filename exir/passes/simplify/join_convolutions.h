// Makes one grouped convolution of the convolutions of parts of the channels whose results are
// concatenated again.
//
//     before   %a, %b = aten::split_with_sizes_copy(%x, [8, 8], 1)
//              %p = aten::convolution(%a, %v, ..., groups 1)
//              %q = aten::convolution(%b, %w, ..., groups 1)
//              %y = aten::cat([%p, %q], 1)
//     after    %y = aten::convolution(%x, %vw, ..., groups 2)
//
// The parts and the concatenation are no longer copied, and what follows becomes part of the
// convolution. With `pads_windows` the windows may have different sizes around the same pixels, as
// in a depthwise convolution of mixed windows: the smaller ones get zeros around them. (An infinite
// pixel that such a zero meets gives NaN.)
//
// Runs      in Core ATen or Edge, after fold_batch_norm: the weights must be plain constants.
// Requires  all parts, in their order; groups of the same size; nothing else uses the results.
// Keeps     windows whose zeros would more than double the products.
// Cost      one walk; one copy of each weight.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of convolutions made.
int join_convolutions(Graph& graph, bool pads_windows);

}  // namespace taper::exir
