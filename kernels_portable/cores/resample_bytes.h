// Resampling of uint8 images in integers, as PyTorch does it.
//
// The weights along one axis become integers below 2^15: all are multiplied by the same power of
// two, the largest that fits. Rows are resampled first and rounded to bytes, then columns.

#pragma once

#include "kernels_portable/cores/resample.h"

namespace taper::portable {

// The inputs that contribute to one output along one axis, and their weights.
class ByteFilter {
 public:
  // A smooth filter (antialias) widens when the image shrinks; otherwise the two nearest inputs
  // contribute.
  ByteFilter(const Axis& axis, bool align_corners, bool smooth);

  // Selects the output that first(), count() and weight() describe.
  void locate(int64_t y);
  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  int64_t weight(int64_t i) const { return i < kKept ? kept_[i] : whole(i); }
  // Scales a sum of weighted bytes back and rounds it to a byte.
  int64_t round(int64_t sum) const;

 private:
  static constexpr int64_t kKept = 64;
  double exact(int64_t i) const;
  int64_t whole(int64_t i) const;
  void place(int64_t y);
  void place_smooth(int64_t y);

  Axis axis_;
  double scale_;
  bool align_;
  bool smooth_;
  int precision_ = 0;
  int64_t first_ = 0;
  int64_t count_ = 0;
  double center_ = 0;  // The center of a smooth filter; otherwise the weight of the second input.
  double total_ = 1;
  int64_t kept_[kKept] = {};
};

// Computes all of `resampling`, whose tensors are uint8.
void resample_bytes(const Resampling& resampling, bool align_corners, bool smooth);

}  // namespace taper::portable
