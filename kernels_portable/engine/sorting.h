// Choosing the first k elements of each row in sorted order: what topk and sort share.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

struct SortOrder {
  bool descending;
  int64_t count;  // How many elements of each row are wanted.
};

// Sorts along `dim`: resizes `indices` (int64) and, unless it is null, `values` to self's sizes
// with `count` along `dim`. NaN is the largest value; equal elements keep their order.
Status write_sorted(const Tensor& self, int64_t dim, const SortOrder& order, Tensor* values,
                    Tensor& indices);

}  // namespace taper::portable
