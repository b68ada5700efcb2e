// Cuts from the windows of convolutions what no result sees but as padding.
//
//     before   %y: [1, 8, 14, 14] = aten::convolution(%x, %w: [8, 8, 3, 3], %b, [1], [24], [24], ...)
//     after    %y: [1, 8, 14, 14] = aten::convolution(%x, %w': [8, 8, 1, 1], %b, [1], [0], [1], ...)
//
// Such are the branches of a pyramid whose dilation exceeds a small image, and the last layers of a
// network over volumes, whose depth is 1.
//
// Runs      in Core ATen or Edge, after fold_batch_norm: the weights must be plain constants.
// Requires  a convolution that is not transposed, of an image of static size.
// Keeps     the paddings of both ends equal, as the operator has them: if a cut would need others,
//           fewer rows are cut.
// Cost      one walk; one copy of each weight that changes.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of convolutions that changed.
int trim_windows(Graph& graph);

}  // namespace taper::exir
