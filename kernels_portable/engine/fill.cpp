// Writing one number to every element.

#include "kernels_portable/engine/fill.h"

#include <algorithm>
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

// Tensors are dense: what is there already is copied behind itself, in pieces that stay in the
// cache.
void fill_elements(Tensor& out, Scalar value) {
  constexpr size_t kPiece = 4096;
  unsigned char bytes[8];
  encode_scalar(value, out.scalar_type(), bytes);
  auto* to = static_cast<unsigned char*>(out.mutable_data());
  const size_t element = element_size(out.scalar_type()), all = out.nbytes();
  if (all == 0) return;
  std::memcpy(to, bytes, element);
  for (size_t done = element; done < all;) {
    const size_t some = std::min({done, all - done, kPiece});
    std::memcpy(to + done, to, some);
    done += some;
  }
}

}  // namespace taper::portable
