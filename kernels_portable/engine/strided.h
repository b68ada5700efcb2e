// Iterating over several tensors of one shape at once, whatever their strides.
//
// A LoopNest holds the sizes of the loops and one stride per loop and operand. simplify() drops
// loops of a single iteration and merges nested loops where the strides of all operands allow it,
// so that contiguous tensors become a single run.

#pragma once

#include <cstdint>

#include "taper/tensor.h"

namespace taper::portable {

// As many bytes as the largest element, a complex double.
struct TwoWords {
  uint64_t words[2];
};

struct LoopNest {
  static constexpr int kMaxOperands = 4;

  int rank = 0;
  int operands = 0;
  int64_t sizes[kMaxRank];                  // Outermost first.
  int64_t strides[kMaxOperands][kMaxRank];  // In elements.

  // Loops over the dims of `tensor` from its outermost to its innermost in memory, with `tensor` as
  // the first operand.
  static LoopNest over(const Tensor& tensor);

  // Adds an operand that has the dims of `tensor` (as given to over()) or broadcasts to them.
  // REQUIRES: the sizes of `operand` broadcast to those of `tensor`.
  void add_operand(const Tensor& tensor, const Tensor& operand);

  // Adds a loop inside the others; `operand_strides` has one stride for each operand.
  void add_loop(int64_t size, const int64_t* operand_strides);

  // Drops and merges loops. Afterwards rank >= 1.
  void simplify();

  int64_t inner_size() const { return sizes[rank - 1]; }
  int64_t inner_stride(int operand) const { return strides[operand][rank - 1]; }

  // Calls run(offsets, count) for each innermost loop: the offset of each operand's first element,
  // and how many elements follow at inner_stride(). REQUIRES: simplify() was called.
  template <typename Run>
  void for_each_run(Run&& run) const {
    int64_t offsets[kMaxOperands] = {};
    int64_t index[kMaxRank] = {};
    for (int d = 0; d < rank; ++d) {
      if (sizes[d] == 0) return;
    }
    for (;;) {
      run(offsets, inner_size());
      int d = rank - 2;
      for (; d >= 0; --d) {
        for (int k = 0; k < operands; ++k) offsets[k] += strides[k][d];
        if (++index[d] < sizes[d]) break;
        for (int k = 0; k < operands; ++k) offsets[k] -= strides[k][d] * sizes[d];
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }
};

// Copies elements of `element_bytes` (1, 2, 4, 8 or 16) from operand 1 to operand 0 of `nest`.
// REQUIRES: simplify() was called.
void copy_strided(const LoopNest& nest, void* to, const void* from, size_t element_bytes);

}  // namespace taper::portable
