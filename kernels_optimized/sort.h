// Rows in sorted order, by their bits: linear in their length.

#pragma once

#include "taper/kernel.h"

namespace taper::optimized {

// The first `count` elements of each row of `self` along `dim`, and where they are. NaN is the
// largest; equal elements keep their order. `values` may be null. False, with nothing written, if
// it takes no such tensors or has no memory to sort them.
bool sort_rows(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               int64_t count, Tensor* values, Tensor& indices);

}  // namespace taper::optimized
