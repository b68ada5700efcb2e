// Padding by reflection or replication of the input, over the last one to three dimensions.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

enum class EdgePadding {
  kReflect,    // c b [a b c] b a
  kReplicate,  // a a [a b c] c c
};

// Pads the last `spatial` dimensions. `padding` has two numbers (before, after) for each of them,
// the last dimension first; negative ones crop. `self` has one or two more dimensions. Any dtype.
Status pad_edges(const Tensor& self, IntList padding, int64_t spatial, EdgePadding mode,
                 Tensor& out);

}  // namespace taper::portable
