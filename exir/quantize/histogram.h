// What is remembered of the values that a tensor takes: their extremes, and how many lie where.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taper::exir {

class Histogram {
 public:
  static constexpr size_t kBins = 2048;

  // Returns false if a value is not finite; nothing is counted then.
  bool add(std::span<const float> values);
  // Counts what another one has counted, as if it were in the middle of its bins.
  void add(const Histogram& other);

  bool empty() const { return count_ == 0; }
  double min() const { return min_; }
  double max() const { return max_; }
  double count() const { return count_; }
  double bin(size_t i) const { return bins_[i]; }
  double middle(size_t i) const { return low_ + (static_cast<double>(i) + 0.5) * width_; }
  double width() const { return width_; }

 private:
  // Doubles the range of the bins until it holds both.
  void widen(double low, double high);

  double min_ = 0, max_ = 0, count_ = 0;
  double low_ = 0, width_ = 0;  // The first bin's start; the width of each.
  std::vector<double> bins_;
};

}  // namespace taper::exir
