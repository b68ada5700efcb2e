// A batch norm after a convolution becomes part of the convolution's weights; so does one after a
// concatenation of convolutions, and one after a linear layer.
//
//     before   %c = aten::convolution(%x, %w, %b, ...)        after   %c = aten::convolution(%x, %w', %b', ...)
//              %y, .., .. = _native_batch_norm_legit_no_training(%c, %g, %h, %mean, %var, m, eps)
//
// With s = g / sqrt(var + eps) per channel: w' = w s, b' = (b - mean) s + h. Computed in double and
// rounded once.
//
// Runs      in Core ATen or Edge, after fold_constants: the statistics must be plain constants. Also
//           before all passes, on conv2d and batch_norm as exported, when a program is quantised.
// Requires  nothing else uses %c or the saved statistics; the channels of the norm are those that
//           the layer makes; weights and statistics are floating point constants.
// Cost      one walk; one copy of each weight that changes.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of batch norms folded.
int fold_batch_norm(Graph& graph);

}  // namespace taper::exir
