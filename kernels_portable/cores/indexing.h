// self[indices] as in PyTorch: what index, index_put, index_select and embedding share.
//
// Each index is a tensor of integers for one dimension of self, a mask for as many dimensions as it
// has, or None. The index tensors broadcast to one shape, the batch; each element of the batch
// selects a slice, which has the dimensions without an index. In the result the batch replaces the
// indexed dimensions if these are adjacent, otherwise it comes first. A mask is never expanded to
// coordinates: while the batch is traversed it is searched for its next true element.

#pragma once

#include "kernels_portable/engine/cursor.h"
#include "taper/kernel.h"

namespace taper::portable {

class Indexing {
 public:
  // Checks everything but the values of the indices. `negative` allows indices that count from the
  // end.
  Status init(const Tensor& self, OptionalTensorList indices, bool negative = true);

  // A view with the sizes of self[indices], without data or meaningful strides.
  View result() const;
  // The batch dimensions, and the slice dimensions, of a view that has the result's sizes.
  View batch_of(const View& result) const;
  View slice_of(const View& result) const;
  // The slice at offset 0 of self.
  const View& slice() const { return slice_; }
  int64_t batch_count() const { return batch_.numel(); }

  // The offsets in self, in elements, of the next `count` slices. REQUIRES: count is at most kLine
  // and at most what is left in the current line of the batch's innermost dimension.
  static constexpr int64_t kLine = 64;
  Status next(int64_t count, int64_t* offsets);

 private:
  struct Index {
    const Tensor* tensor;
    bool is_mask;
    int64_t size;    // The size of the indexed dimension.
    int64_t stride;  // The stride of the indexed dimension.
    Cursor cursor;   // Traverses the broadcast integers, or the mask.
    Cursor target;   // For a mask: traverses the dimensions of self that it covers.
    int64_t count;   // For a mask: the number of true elements.
  };

  Status add_index(const View& self, const Tensor& tensor, size_t* d);
  Status add_to_batch(const View& shape);
  static Status find_true(Index* index);
  static Status add_mask(Index* index, int64_t count, int64_t* offsets);
  static Status add_numbers(Index* index, bool negative, int64_t count, int64_t* offsets);
  void start();

  Index indices_[kMaxRank];
  size_t count_ = 0;
  View batch_;
  View slice_;
  size_t position_ = 0;  // Where the batch is inserted among the dimensions of the slice.
  bool negative_ = true;
};

// True if the element at `bytes` is not zero.
bool is_nonzero(const void* bytes, ScalarType type);

// The number of elements that are not zero.
int64_t count_nonzero(const Tensor& tensor);

// Reads an int32 or int64.
int64_t read_index(const void* bytes, ScalarType type);

constexpr bool is_index_type(ScalarType type) {
  return type == ScalarType::kInt || type == ScalarType::kLong;
}

}  // namespace taper::portable
