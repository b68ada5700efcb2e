// Steps through a view in row-major order, one element or one run at a time.

#pragma once

#include "kernels_portable/view.h"

namespace taper::portable {

class Cursor {
 public:
  Cursor() : Cursor(View()) {}
  explicit Cursor(const View& view) : view_(view) {
    if (view_.rank == 0) view_.add_dim(1, 1);
  }

  // Where it stands, in elements from the view's origin.
  int64_t offset() const { return offset_; }
  int64_t index(size_t d) const { return index_[d]; }
  // Of the innermost dimension; and the elements from here to its end.
  int64_t stride() const { return view_.strides[view_.rank - 1]; }
  int64_t left() const { return view_.sizes[view_.rank - 1] - index_[view_.rank - 1]; }

  // REQUIRES: count <= left(). After the last element it stands on the first again.
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
