// Tensors that own their memory, and conversion of their elements to the order of .npy files.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "taper/program.h"
#include "taper/tensor.h"
#include "tools/npy.h"

namespace taper::tools {

// A tensor of any dim order that owns everything it points to. Its address is stable: it cannot be
// copied or moved.
class HeldTensor {
 public:
  // Elements are zero. Throws InputError if they need more than `max_bytes`.
  HeldTensor(ScalarType type, Span<const int32_t> sizes, Span<const uint8_t> dim_order,
             uint64_t max_bytes);
  HeldTensor(const HeldTensor&) = delete;
  HeldTensor& operator=(const HeldTensor&) = delete;

  Tensor& tensor() { return tensor_; }
  const Tensor& tensor() const { return tensor_; }
  // Sets the elements from row-major bytes. REQUIRES: `bytes` has the tensor's size.
  void set_row_major(std::string_view bytes);
  // Sets every element to 1.
  void set_ones();

 private:
  std::vector<int32_t> sizes_, strides_;
  std::vector<uint8_t> dim_order_;
  std::vector<uint64_t> memory_;
  Tensor tensor_;
};

// The elements of a tensor in row-major order.
std::string row_major_bytes(const Tensor& tensor);

std::vector<int64_t> shape_of(Span<const int32_t> sizes);

// "float32 (2, 3)".
std::string type_text(ScalarType type, Span<const int32_t> sizes);

// Throws InputError, beginning with `where`, if a method that declares such a tensor does not take
// the array: the dtype differs, or a size that is fixed, or one exceeds its bound.
void check_array(const NpyArray& array, const TensorInfo& info, const std::string& where);

// Element `i` of row-major bytes as a number, for printing and comparing.
double element_at(ScalarType type, std::string_view bytes, size_t i);
// The same as text; integers are exact.
std::string element_text(ScalarType type, std::string_view bytes, size_t i);

}  // namespace taper::tools
