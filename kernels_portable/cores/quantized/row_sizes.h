// The sizes of results that have a row for each row of their input.

#pragma once

#include "kernels_portable/engine/view.h"

namespace taper::portable {

// Resizes `out` to the first `leading` sizes of `like` and then `last`. REQUIRES: leading is less
// than kMaxRank.
Status resize_rows(Tensor& out, const Tensor& like, size_t leading, int64_t last);

}  // namespace taper::portable
