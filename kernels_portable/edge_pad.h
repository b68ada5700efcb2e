// Padding that repeats what lies inside: by reflection or by replication, over the last one to
// three dimensions.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

enum class EdgePadding {
  kReflect,    // c b [a b c] b a
  kReplicate,  // a a [a b c] c c
};

// `padding` has two numbers for each of the last `spatial` dimensions, last dimension first;
// negative ones crop. `self` has one or two dimensions more. Elements are copied as bytes.
Status pad_edges(const Tensor& self, IntList padding, int64_t spatial, EdgePadding mode,
                 Tensor& out);

}  // namespace taper::portable
