// A tensor for tests that owns its sizes and its memory.
//
// The memory has exactly the size of the elements and is initially filled with garbage.

#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <vector>

#include "taper/tensor.h"

namespace taper::test {

class TestTensor {
 public:
  TestTensor(ScalarType type, std::vector<int32_t> sizes, std::vector<uint8_t> dim_order = {},
             ShapeDynamism dynamism = ShapeDynamism::kStatic)
      : sizes_(std::move(sizes)), dim_order_(std::move(dim_order)), strides_(sizes_.size()) {
    if (dim_order_.empty()) {
      dim_order_.resize(sizes_.size());
      std::iota(dim_order_.begin(), dim_order_.end(), uint8_t{0});
    }
    size_t count = 1;
    for (int32_t size : sizes_) count *= static_cast<size_t>(size);
    const size_t bytes = count * element_size(type);
    data_.reset(new unsigned char[bytes]);
    std::memset(data_.get(), 0xA5, bytes);
    tensor_ = Tensor(type, sizes_.size(), sizes_.data(), dim_order_.data(), strides_.data(),
                     data_.get(), dynamism);
  }

  // A row-major tensor of these values; T must be the C++ type for `type`.
  template <typename T>
  static TestTensor of(ScalarType type, std::vector<int32_t> sizes,
                       std::initializer_list<T> values) {
    TestTensor result(type, std::move(sizes));
    std::copy(values.begin(), values.end(), result.tensor_.template mutable_data_ptr<T>());
    return result;
  }

  Tensor& operator*() { return tensor_; }
  Tensor* operator->() { return &tensor_; }
  // The elements in memory order.
  template <typename T>
  std::vector<T> values() const {
    const T* data = tensor_.const_data_ptr<T>();
    return std::vector<T>(data, data + tensor_.numel());
  }

 private:
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> dim_order_;
  std::vector<int32_t> strides_;
  std::unique_ptr<unsigned char[]> data_;
  Tensor tensor_;
};

}  // namespace taper::test
