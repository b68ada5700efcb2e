// Complex tensors, whose elements are pairs of real numbers. Operators that only move elements need
// nothing special; the others see a complex tensor as a real one with a last dimension of size 2,
// or compute with pairs of doubles.

#pragma once

#include "kernels_portable/engine/promote.h"
#include "taper/kernel.h"

namespace taper::portable {

// The real view of a complex tensor: sizes [..., 2], in the same memory. REQUIRES: rank < kMaxRank.
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

// Refuses a tensor that is not complex, or whose rank or number of elements Parts cannot represent.
Status check_parts(const Tensor& tensor);

enum class ComplexOp { kAdd, kSubtract, kMultiply, kDivide };

// out = a op b, broadcast, after resizing out, which must be complex. Operands may be real. An
// input may occupy exactly the memory of out.
Status complex_binary(ComplexOp op, const Operand& a, const Operand& b, double alpha, Tensor& out);

// True if at least one operand is a complex tensor.
bool any_complex(const Operand& a, const Operand& b);

// Reads the real or the imaginary parts of `count` elements that lie `stride` elements apart, as
// doubles. The elements may be real: their imaginary parts are 0.
void load_part(const void* from, ScalarType type, int64_t stride, int64_t count, bool imaginary,
               double* to);

// Writes the real or the imaginary parts of such elements. REQUIRES: `type` is complex.
void store_part(const double* from, int64_t count, void* to, ScalarType type, int64_t stride,
                bool imaginary);

}  // namespace taper::portable
