// Views: how every operator that only moves elements is written.
//
// A View is memory with sizes and free strides: a slice, a permutation, an expansion or a diagonal
// of a tensor is a View of the same memory, and the operator is one call of copy_view(), which
// picks an order of loops that writes in sequence, joins loops and copies runs or tiles. It works
// on bytes, so that one loop serves every dtype.

#pragma once

#include <cstring>

#include "kernels_portable/strided.h"
#include "taper/tensor.h"

namespace taper::portable {

struct View {
  char* data = nullptr;
  size_t rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};  // In elements; any sign, and 0 repeats an element.

  // REQUIRES for both: rank < kMaxRank.
  void add_dim(int64_t size, int64_t stride) { insert_dim(rank, size, stride); }
  void insert_dim(size_t d, int64_t size, int64_t stride);
  void remove_dim(size_t d);
  // Moves the origin by `count` elements of `element` bytes along dimension `d`.
  void advance(size_t d, int64_t count, size_t element);
  bool is_empty() const;
  // The number of elements, or the largest int64_t if it is larger still.
  int64_t numel() const;
};

// The tensor's memory as it lies.
View view_of(const Tensor& tensor);

// `from` as if it had the sizes of `to`: missing dimensions and those of size 1 repeat.
// REQUIRES: its sizes broadcast to those.
View broadcast_view(const View& from, const View& to);

// Reads what `from` views into the memory that `to` views.
// REQUIRES: the same sizes, elements of `element` bytes, no overlap.
void copy_view(const View& to, const View& from, size_t element);

// A copy_view() planned once and done for many slices of the same sizes and strides.
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
  size_t bytes_;  // Of a slice that lies in one piece in both; 0 if it does not.
};

// As copy_view(), with elements of `from_type` converted to `to_type`, which may be equal.
void convert_view(const View& to, ScalarType to_type, const View& from, ScalarType from_type);

// Copies elements in row-major order between two views of as many elements but other sizes.
void copy_reshaped(const View& to, const View& from, size_t element);

// Copies the elements of `self` in row-major order to an `out` of the same dtype and as many
// elements, which may have other sizes. Nothing is done if both lie in the same place.
void copy_row_major(const Tensor& self, Tensor& out);

// Resizes `out` to the view's sizes and copies. REQUIRES: elements have the dtype of `out`.
Status write_view(const View& from, Tensor& out);

// Copies the sizes that a view asks for, with -1, if there is one, replaced by what the others
// leave of `numel` elements. REQUIRES: room for kMaxRank sizes.
Status infer_sizes(Span<const int64_t> asked, int64_t numel, int64_t* sizes);

// Resizes `out`; an error if a size fits no tensor.
Status resize_out(Tensor& out, const int64_t* sizes, size_t rank);

}  // namespace taper::portable
