// The forms of bfloat_product.h that only x86-64 has. A form has the same arguments as
// multiply_bfloat().

#pragma once

#include "kernels_optimized/cores/bfloat/bfloat_product.h"

namespace taper::optimized {

// Which of the forms this processor and process have.
bool has_bfloat_pairs();
bool has_bfloat_tiles();

void multiply_pairs(const BfloatProduct& product, int64_t begin, int64_t end);
void multiply_tiles(const BfloatProduct& product, int64_t begin, int64_t end);

}  // namespace taper::optimized
