// Resampling of uint8 images in whole numbers, as PyTorch does it.
//
// The weights along one axis become integers below 2^15: all are multiplied by the same power of
// two, the largest that fits. A row is resampled and rounded to bytes, then the column of those.

#pragma once

#include "kernels_portable/resample.h"

namespace taper::portable {

// The weights of the inputs that count for one output along one axis.
class ByteFilter {
 public:
  // Smooth filters widen when the image shrinks, others look at the two nearest inputs.
  ByteFilter(const Axis& axis, bool align_corners, bool smooth);

  // Chooses the output that the members below speak of.
  void locate(int64_t y);
  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  int64_t weight(int64_t i) const { return i < kKept ? kept_[i] : whole(i); }
  // The byte that a sum of weighted bytes stands for.
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
  double center_ = 0;  // Of a smooth filter; else the weight of the second input.
  double total_ = 1;
  int64_t kept_[kKept] = {};
};

// All of `resampling`, whose tensors are uint8.
void resample_bytes(const Resampling& resampling, bool align_corners, bool smooth);

}  // namespace taper::portable
