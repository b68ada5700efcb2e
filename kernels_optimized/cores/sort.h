// Sorting of rows by keys.

#pragma once

#include "taper/kernel.h"

namespace taper::optimized {

// Writes the first `count` elements, in sorted order, of each row of `self` along `dim` to
// `values`, which may be null, and their positions to `indices`. NaN is the largest; equal elements
// keep their order. Returns false, having written nothing, if such tensors are not supported or
// there is too little temp memory.
bool sort_rows(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               int64_t count, Tensor* values, Tensor& indices);

}  // namespace taper::optimized
