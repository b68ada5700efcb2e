// Tensor: typed memory with sizes and a dim order. It does not own the memory.
//
// There is no storage offset and there are no arbitrary strides: strides follow from sizes and dim
// order, so every tensor is dense. The dim order lists the dimensions from the outermost to the
// innermost: (0,1,2,3) is contiguous NCHW, (0,2,3,1) is channels last.
//
// Sizes may change between executions; rank and dtype never change:
//   kStatic        sizes are fixed
//   kDynamicBound  sizes may change while the number of elements stays within capacity()
//
// Not thread safe. A Tensor belongs to its Method, or to the caller who created it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/scalar_type.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper {

inline constexpr size_t kMaxRank = 16;

enum class ShapeDynamism : uint8_t { kStatic = 0, kDynamicBound = 1 };

class Tensor {
 public:
  Tensor() = default;

  // Refers to arrays of the caller with `rank` entries each; fills in `strides`.
  // REQUIRES: rank <= kMaxRank, sizes >= 0 and their product fits, dim_order is a permutation.
  Tensor(ScalarType type, size_t rank, int32_t* sizes, uint8_t* dim_order, int32_t* strides,
         void* data, ShapeDynamism dynamism = ShapeDynamism::kStatic);

  ScalarType scalar_type() const { return type_; }
  int64_t dim() const { return rank_; }
  int64_t size(int64_t d) const { return sizes_[d]; }
  Span<const int32_t> sizes() const { return {sizes_, rank_}; }
  Span<const uint8_t> dim_order() const { return {dim_order_, rank_}; }
  // In elements, one per dimension.
  Span<const int32_t> strides() const { return {strides_, rank_}; }
  ShapeDynamism shape_dynamism() const { return dynamism_; }

  // The current numbers of elements and of bytes.
  int64_t numel() const { return numel_; }
  size_t nbytes() const { return static_cast<size_t>(numel_) * element_size(type_); }
  // The number of elements that the tensor's memory has room for.
  int64_t capacity() const { return capacity_; }

  // True if the dim order is 0,1,2,...: elements are in row-major order.
  bool is_contiguous() const { return contiguous_; }

  // Null until memory is bound. The caller must use the right T.
  const void* const_data() const { return data_; }
  void* mutable_data() const { return data_; }
  template <typename T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return static_cast<T*>(data_);
  }
  // Binds other memory of at least nbytes(); the capacity does not change.
  void set_data(void* data) { data_ = data; }
  // Binds memory with room for `capacity` elements, which becomes the limit of resize().
  // REQUIRES: capacity >= numel().
  void set_data(void* data, int64_t capacity) {
    data_ = data;
    capacity_ = capacity;
  }

  // True if the memory must not be written: a constant of the program, or a tensor that may alias
  // one.
  bool is_constant() const { return constant_; }
  void set_constant() { constant_ = true; }

  // Changes the sizes, but not the rank, and recomputes the strides.
  // Returns kInvalidArgument if the rank differs or a size is negative; kNotSupported if the tensor
  // is static and a size differs, if the elements would exceed capacity(), or if a stride would not
  // fit an int32_t.
  Status resize(Span<const int32_t> new_sizes);

 private:
  void update_strides();

  int32_t* sizes_ = nullptr;
  uint8_t* dim_order_ = nullptr;
  int32_t* strides_ = nullptr;
  void* data_ = nullptr;
  int64_t numel_ = 0;
  int64_t capacity_ = 0;
  uint8_t rank_ = 0;
  ScalarType type_ = ScalarType::kByte;
  ShapeDynamism dynamism_ = ShapeDynamism::kStatic;
  bool contiguous_ = true;
  bool constant_ = false;
};

}  // namespace taper
