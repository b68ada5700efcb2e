// The forms of bfloat_product.h that only some processors have: x86_products.cpp, arm_products.cpp.
// A form has the same arguments as multiply_bfloat().

#pragma once

#include "kernels_optimized/cores/bfloat/bfloat_product.h"

namespace taper::optimized {

// Which of the forms this processor and process have.
bool has_bfloat_pairs();
bool has_bfloat_tiles();

void multiply_pairs(const BfloatProduct& product, int64_t begin, int64_t end);
void multiply_tiles(const BfloatProduct& product, int64_t begin, int64_t end);

#if !defined(__x86_64__)
inline bool has_bfloat_tiles() { return false; }
inline void multiply_tiles(const BfloatProduct&, int64_t, int64_t) {}
#if !defined(__aarch64__)
inline bool has_bfloat_pairs() { return false; }
inline void multiply_pairs(const BfloatProduct&, int64_t, int64_t) {}
#endif
#endif

}  // namespace taper::optimized
