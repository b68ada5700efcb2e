// A tensor as images; see image.h.

#include "kernels_portable/cores/vision/image.h"

namespace taper::portable {

Images images_of(const Tensor& tensor) {
  const int64_t first = tensor.dim() - 3;  // The dimension of channels.
  const auto size = [&](int64_t d) { return tensor.size(first + d); };
  const auto stride = [&](int64_t d) -> int64_t {
    return tensor.strides()[static_cast<size_t>(first + d)];
  };
  return {tensor.mutable_data(),
          tensor.scalar_type(),
          first == 0 ? 1 : tensor.size(0),
          size(0),
          size(1),
          size(2),
          first == 0 ? 0 : tensor.strides()[0],
          stride(0),
          stride(1),
          stride(2)};
}

}  // namespace taper::portable
