// Makes one convolution of the sum of several convolutions of the same tensor, as in networks whose
// branches are trained apart and add up (RepVGG, MobileOne).
//
//     before   %p = aten::convolution(%x, %v, ...)                  3 x 3
//              %q = aten::convolution(%x, %w, ...)                  1 x 1
//              %n, ... = aten::_native_batch_norm_legit_no_training(%x, ...)
//              %s = aten::add.Tensor(%p, %q)
//              %y = aten::add.Tensor(%s, %n)
//     after    %y = aten::convolution(%x, %vwn, ...)                3 x 3
//
// A convolution whose window is the middle of another's adds its weights to those. A batch norm of
// the tensor itself adds a factor for each channel to the tap in the middle, in depthwise
// convolutions the tensor itself does, and a number becomes part of the bias.
//
// Runs      in Core ATen or Edge, after fold_batch_norm: the weights must be plain constants.
// Requires  float32; nothing else uses the terms.
// Keeps     windows of which none contains the other: together they would have more products.
// Cost      one walk; one copy of the weights of each sum.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of sums that became convolutions.
int sum_convolutions(Graph& graph);

}  // namespace taper::exir
