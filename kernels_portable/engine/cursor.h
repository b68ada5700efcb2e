// Steps through a view in row-major order, one element or one run at a time.

#pragma once

#include "kernels_portable/engine/view.h"

namespace taper::portable {

class Cursor {
 public:
  Cursor() : Cursor(View()) {}
  explicit Cursor(const View& view) : view_(view) {
    if (view_.rank == 0) view_.add_dim(1, 1);
  }

  // The current position: in elements from the view's origin, and as an index into dimension `d`.
  int64_t offset() const { return offset_; }
  int64_t index(size_t d) const { return index_[d]; }
  // The stride of the innermost dimension, and how many elements are left in it from here on.
  int64_t stride() const { return view_.strides[view_.rank - 1]; }
  int64_t left() const { return view_.sizes[view_.rank - 1] - index_[view_.rank - 1]; }

  // Moves on by `count` elements; after the last element of the view comes the first again.
  // REQUIRES: count <= left().
  void advance(int64_t count) {
    for (size_t d = view_.rank; d-- > 0; count = 1) {
      index_[d] += count;
      offset_ += count * view_.strides[d];
      if (index_[d] < view_.sizes[d]) return;
      offset_ -= index_[d] * view_.strides[d];
      index_[d] = 0;
    }
  }

 private:
  View view_;
  int64_t index_[kMaxRank] = {};
  int64_t offset_ = 0;
};

}  // namespace taper::portable
