// Tensor: element counts, strides, and the one way to change sizes.

#include "taper/tensor.h"

#include <limits>

#include "runtime/core/shape.h"

namespace taper {

using internal::count_elements;
using internal::strides_fit;

Tensor::Tensor(ScalarType type, size_t rank, int32_t* sizes, uint8_t* dim_order, int32_t* strides,
               void* data, ShapeDynamism dynamism)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      rank_(static_cast<uint8_t>(rank)),
      type_(type),
      dynamism_(dynamism) {
  const int64_t count = count_elements({sizes, rank});
  numel_ = count < 0 ? 0 : count;
  capacity_ = numel_;
  for (size_t i = 0; i < rank; ++i) contiguous_ = contiguous_ && dim_order[i] == i;
  update_strides();
}

Status Tensor::resize(Span<const int32_t> new_sizes) {
  TAPER_REQUIRE(new_sizes.size() == rank_, Error::kInvalidArgument,
                "the rank of a tensor cannot change");
  bool same = true;
  for (size_t i = 0; i < rank_; ++i) same = same && new_sizes[i] == sizes_[i];
  if (same) return {};
  TAPER_REQUIRE(dynamism_ != ShapeDynamism::kStatic, Error::kNotSupported,
                "a tensor with a static shape cannot be resized");
  const int64_t count = count_elements(new_sizes);
  TAPER_REQUIRE(count >= 0, Error::kInvalidArgument, "a size is negative or too large");
  TAPER_REQUIRE(count <= capacity_, Error::kNotSupported,
                "the new sizes exceed the tensor's upper bound");
  TAPER_REQUIRE(count == 0 || strides_fit(new_sizes, dim_order_), Error::kNotSupported,
                "the new sizes need strides of more than 32 bits");
  for (size_t i = 0; i < rank_; ++i) sizes_[i] = new_sizes[i];
  numel_ = count;
  update_strides();
  return {};
}

// A dimension of size 0 counts as 1, so that strides of empty tensors match PyTorch's.
void Tensor::update_strides() {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  int32_t stride = 1;
  for (size_t i = rank_; i-- > 0;) {
    const uint8_t d = dim_order_[i];
    strides_[d] = stride;
    if (sizes_[d] > 1) stride = stride > kMax / sizes_[d] ? kMax : stride * sizes_[d];
  }
}

}  // namespace taper
