// Arithmetic on sizes that cannot overflow, shared by tensors and by the verifiers of files.

#pragma once

#include <cstdint>

#include "taper/span.h"

namespace taper::internal {

// The product of `sizes`, or -1 if a size is negative or the product is 2^60 or more. A size of 0
// makes the product 0, whatever the others are.
int64_t count_elements(Span<const int32_t> sizes);

// True if the stride of every dimension of size 2 or more fits an int32_t.
// REQUIRES: the product of `sizes` is an int64_t and not 0; dim_order is a permutation.
bool strides_fit(Span<const int32_t> sizes, const uint8_t* dim_order);

// True if `dim_order` holds each of 0 .. size-1 exactly once. REQUIRES: at most 32 dimensions.
bool is_permutation(Span<const uint8_t> dim_order);

}  // namespace taper::internal
