// Writing one number to every element.

#include "kernels_portable/engine/fill.h"

#include <cstring>

#include "kernels_portable/engine/convert.h"

namespace taper::portable {

void encode_scalar(Scalar value, ScalarType type, unsigned char (&bytes)[8]) {
  if (value.is_double()) {
    store_one(value.to_double(), bytes, type);
  } else {
    store_one(value.to_int(), bytes, type);
  }
}

void fill_view(const View& to, const void* bytes, size_t element) {
  View from = to;
  from.data = const_cast<char*>(static_cast<const char*>(bytes));
  for (size_t d = 0; d < from.rank; ++d) from.strides[d] = 0;
  copy_view(to, from, element);
}

void fill_elements(Tensor& out, Scalar value) {
  unsigned char bytes[8];
  encode_scalar(value, out.scalar_type(), bytes);
  fill_view(view_of(out), bytes, element_size(out.scalar_type()));
}

}  // namespace taper::portable
