// Sorting of rows by keys, and of columns of numbers in vectors.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::optimized {

// Writes the first `count` elements, in sorted order, of each row of `self` along `dim` to
// `values`, which may be null, and their positions to `indices`. NaN is the largest; equal elements
// keep their order. Returns false, having written nothing, if such tensors are not supported or
// there is too little temp memory.
bool sort_rows(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
               int64_t count, Tensor* values, Tensor& indices);

// Sorts each of the columns of a matrix of `length` rows and kSortColumns columns.
inline constexpr int64_t kSortColumns = 8;
using SortColumns = void (*)(uint64_t* rows, int64_t length);

// Null if the processor has no vectors.
SortColumns find_sort_columns();

}  // namespace taper::optimized
