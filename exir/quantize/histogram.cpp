// Bins of equal width, twice as wide whenever a value lies outside: one pass is enough.

#include "exir/quantize/histogram.h"

#include <algorithm>
#include <cmath>

namespace taper::exir {

void Histogram::widen(double low, double high) {
  if (bins_.empty()) {
    bins_.assign(kBins, 0);
    low_ = low;
    // All values may be equal; what is added later still finds a bin.
    width_ = std::max({(high - low) / kBins, std::fabs(high) * 1e-9, 1e-30});
  }
  constexpr size_t kHalf = kBins / 2;
  while (low < low_ || high > low_ + kBins * width_) {
    std::vector<double> wider(kBins, 0);
    const bool down = low < low_;
    for (size_t i = 0; i < kBins; ++i) wider[i / 2 + (down ? kHalf : 0)] += bins_[i];
    if (down) low_ -= kBins * width_;
    width_ *= 2;
    bins_ = std::move(wider);
  }
}

bool Histogram::add(std::span<const float> values) {
  if (values.empty()) return true;
  float low = values[0], high = values[0];
  bool finite = true;
  for (const float value : values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
    finite = finite && std::isfinite(value);
  }
  if (!finite) return false;
  min_ = empty() ? static_cast<double>(low) : std::min(min_, static_cast<double>(low));
  max_ = empty() ? static_cast<double>(high) : std::max(max_, static_cast<double>(high));
  widen(static_cast<double>(low), static_cast<double>(high));
  std::vector<uint32_t> counts(kBins, 0);
  const auto start = static_cast<float>(low_);
  const auto per_bin = static_cast<float>(1 / width_);
  for (const float value : values) {
    const auto at = static_cast<int32_t>((value - start) * per_bin);
    ++counts[static_cast<size_t>(std::clamp(at, 0, static_cast<int32_t>(kBins) - 1))];
  }
  for (size_t i = 0; i < kBins; ++i) bins_[i] += counts[i];
  count_ += static_cast<double>(values.size());
  return true;
}

void Histogram::add(const Histogram& other) {
  if (other.empty()) return;
  min_ = empty() ? other.min_ : std::min(min_, other.min_);
  max_ = empty() ? other.max_ : std::max(max_, other.max_);
  widen(other.low_, other.low_ + kBins * other.width_);
  for (size_t i = 0; i < kBins; ++i) {
    if (other.bins_[i] == 0) continue;
    const double at = (other.middle(i) - low_) / width_;
    bins_[static_cast<size_t>(std::clamp(at, 0.0, kBins - 1.0))] += other.bins_[i];
  }
  count_ += other.count_;
}

}  // namespace taper::exir
