// Strided views, with which every operator that only moves elements is written.
//
// A View is memory with sizes and arbitrary strides: a slice, a permutation, an expansion or a
// diagonal of a tensor is a View of the same memory, and the operator is one call of copy_view().
// It orders the loops so that it writes in memory order, merges them, and copies runs or tiles. It
// copies bytes, so that one loop serves every dtype.

#pragma once

#include <cstring>

#include "kernels_portable/engine/strided.h"
#include "taper/tensor.h"

namespace taper::portable {

struct View {
  char* data = nullptr;
  size_t rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};  // In elements; any sign, and 0 repeats an element.

  // Adds a last dimension, or one before dimension `d`. REQUIRES: rank < kMaxRank.
  void add_dim(int64_t size, int64_t stride) { insert_dim(rank, size, stride); }
  void insert_dim(size_t d, int64_t size, int64_t stride);
  void remove_dim(size_t d);
  // Moves the origin by `count` elements of `element` bytes along dimension `d`.
  void advance(size_t d, int64_t count, size_t element);
  bool is_empty() const;
  // The number of elements, or the largest int64_t if it is larger still.
  int64_t numel() const;
};

// The view of a whole tensor.
View view_of(const Tensor& tensor);

// `from` broadcast to the sizes of `to`: missing dimensions and those of size 1 get stride 0.
// REQUIRES: the sizes of `from` broadcast to those of `to`.
View broadcast_view(const View& from, const View& to);

// Copies the elements of `from` to those of `to`.
// REQUIRES: the same sizes, elements of `element` bytes, no overlap.
void copy_view(const View& to, const View& from, size_t element);

// A copy_view() that is planned once and run for many slices of the same sizes and strides.
class SliceCopy {
 public:
  SliceCopy(const View& to, const View& from, size_t element);
  void operator()(void* to, const void* from) const {
    if (bytes_ == 0) return copy_strided(nest_, to, from, element_);
    if (bytes_ != sizeof(uint32_t)) return static_cast<void>(std::memmove(to, from, bytes_));
    uint32_t word;  // One float: not worth a call.
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
  }
  // The loops, with the destination as operand 0.
  const LoopNest& nest() const { return nest_; }

 private:
  LoopNest nest_;
  size_t element_;
  size_t bytes_;  // The size of a slice if it is contiguous in both views, otherwise 0.
};

// Like copy_view(), with elements of `from_type` converted to `to_type`, which may be equal.
void convert_view(const View& to, ScalarType to_type, const View& from, ScalarType from_type);

// Copies elements in row-major order between views with the same number of elements but different
// sizes.
void copy_reshaped(const View& to, const View& from, size_t element);

// Copies the elements of `self` in row-major order to `out`, which has the same dtype and number of
// elements but may have other sizes. A no-op if both are contiguous and in the same memory.
void copy_row_major(const Tensor& self, Tensor& out);

// Resizes `out` to the view's sizes and copies. REQUIRES: elements have the dtype of `out`.
Status write_view(const View& from, Tensor& out);

// Copies the sizes in `asked` to `sizes`; one of them may be -1 and is inferred from the others and
// `numel`. REQUIRES: `sizes` has room for kMaxRank sizes.
Status infer_sizes(Span<const int64_t> asked, int64_t numel, int64_t* sizes);

// Resizes `out`. Returns an error if a tensor cannot have such a size.
Status resize_out(Tensor& out, const int64_t* sizes, size_t rank);

}  // namespace taper::portable
