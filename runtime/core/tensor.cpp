// Tensor: element counts, strides, and the one way to change sizes.

#include "taper/tensor.h"

#include <limits>

namespace taper {
namespace {

constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 8;

// The product of `sizes`, or -1 if a size is negative or the bytes would not fit an int64_t.
int64_t count_elements(Span<const int32_t> sizes) {
  int64_t count = 1;
  bool empty = false;
  for (int32_t size : sizes) {
    if (size < 0) return -1;
    if (size == 0) {
      empty = true;
      continue;
    }
    if (!empty && count > kMaxElements / size) return -1;
    if (!empty) count *= size;
  }
  return empty ? 0 : count;
}

// True if every stride is an int32_t. REQUIRES: the product of `sizes` is an int64_t and not 0.
bool strides_fit(Span<const int32_t> sizes, const uint8_t* dim_order) {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (stride > std::numeric_limits<int32_t>::max()) return false;
    stride *= sizes[dim_order[i]];
  }
  return true;
}

}  // namespace

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
                "a tensor cannot be resized to another rank");
  bool same = true;
  for (size_t i = 0; i < rank_; ++i) same = same && new_sizes[i] == sizes_[i];
  if (same) return {};
  TAPER_REQUIRE(dynamism_ != ShapeDynamism::kStatic, Error::kNotSupported,
                "a tensor of static shape cannot be resized");
  const int64_t count = count_elements(new_sizes);
  TAPER_REQUIRE(count >= 0, Error::kInvalidArgument, "a size is negative or too large");
  TAPER_REQUIRE(count <= capacity_, Error::kNotSupported,
                "the new sizes exceed the tensor's upper bound");
  TAPER_REQUIRE(count == 0 || strides_fit(new_sizes, dim_order_), Error::kNotSupported,
                "the new sizes need strides beyond 32 bits");
  for (size_t i = 0; i < rank_; ++i) sizes_[i] = new_sizes[i];
  numel_ = count;
  update_strides();
  return {};
}

// A dimension of size 0 counts as 1, so that strides of empty tensors match PyTorch's.
void Tensor::update_strides() {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  int64_t stride = 1;
  for (size_t i = rank_; i-- > 0;) {
    const uint8_t d = dim_order_[i];
    strides_[d] = static_cast<int32_t>(stride);
    if (sizes_[d] > 1) stride = stride > kMax / sizes_[d] ? kMax : stride * sizes_[d];
  }
}

}  // namespace taper
