// OwnedTensor: a tensor with its sizes and data in one object.

#include <cstring>
#include <new>

#include "taper/module.h"

namespace taper {

OwnedTensor::OwnedTensor(ScalarType type, Span<const int32_t> sizes, void* data) {
  const size_t rank = sizes.size() < kMaxRank ? sizes.size() : kMaxRank;
  for (size_t i = 0; i < rank; ++i) {
    sizes_[i] = sizes[i];
    dim_order_[i] = static_cast<uint8_t>(i);
  }
  tensor_ = Tensor(type, rank, sizes_, dim_order_, strides_, data);
  if (data != nullptr) return;
  const size_t words = (tensor_.nbytes() + 7) / 8;
  memory_.reset(new (std::nothrow) uint64_t[words == 0 ? 1 : words]());
  tensor_.set_data(memory_.get());
}

}  // namespace taper
