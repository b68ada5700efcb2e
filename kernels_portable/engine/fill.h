// Writing one number to every element.

#pragma once

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {

// Writes `value`, converted to the dtype of `out`, to all of its elements.
void fill_elements(Tensor& out, Scalar value);

// The bytes of `value` as an element of `type`, in the first element_size(type) bytes of `bytes`.
void encode_scalar(Scalar value, ScalarType type, unsigned char (&bytes)[8]);

// Writes the element at `bytes`, of `element` bytes, to every element of `to`.
void fill_view(const View& to, const void* bytes, size_t element);

}  // namespace taper::portable
