// Complex tensors: pairs of real numbers. What moves elements needs nothing special; the rest sees
// a complex tensor as a real one with one more dimension, or computes pairs of doubles.

#pragma once

#include "kernels_portable/promote.h"
#include "taper/kernel.h"

namespace taper::portable {

// The parts of a complex tensor: [..., 2], in the same memory. REQUIRES: rank < kMaxRank.
class Parts {
 public:
  explicit Parts(const Tensor& tensor);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  Tensor& tensor() { return tensor_; }

 private:
  int32_t sizes_[kMaxRank];
  int32_t strides_[kMaxRank];
  uint8_t order_[kMaxRank];
  Tensor tensor_;
};

// That there is room for the dimension that Parts adds.
Status check_parts(const Tensor& tensor);

enum class ComplexOp { kAdd, kSubtract, kMultiply, kDivide };

// out = a op b, broadcast, after resizing out, which must be complex. Operands may be real. An
// input may be the very memory of out.
Status complex_binary(ComplexOp op, const Operand& a, const Operand& b, double alpha, Tensor& out);

// True if one of them is a complex tensor.
bool any_complex(const Operand& a, const Operand& b);

// Dense real or complex memory of `count` elements as a run of doubles, one part at a time; the
// imaginary part of a real number is 0.
void load_part(const void* from, ScalarType type, int64_t stride, int64_t count, bool imaginary,
               double* to);
void store_part(const double* from, int64_t count, void* to, ScalarType type, int64_t stride,
                bool imaginary);

}  // namespace taper::portable
