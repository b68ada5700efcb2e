// Resampling of uint8 images in integers; see resample_bytes.h.

#include "kernels_portable/cores/resample_bytes.h"

namespace taper::portable {
namespace {

constexpr int kMostPrecision = 22;
constexpr double kMostWeight = 1 << 15;

// Computes one output pixel of one channel.
uint8_t pixel(const Images& in, int64_t n, int64_t c, const ByteFilter& rows,
              const ByteFilter& columns) {
  int64_t sum = 0;
  for (int64_t y = 0; y < rows.count(); ++y) {
    int64_t part = 0;
    for (int64_t x = 0; x < columns.count(); ++x) {
      const void* from = in.at(n, c, rows.first() + y, columns.first() + x);
      part += columns.weight(x) * *static_cast<const uint8_t*>(from);
    }
    sum += rows.weight(y) * columns.round(part);
  }
  return static_cast<uint8_t>(rows.round(sum));
}

}  // namespace

ByteFilter::ByteFilter(const Axis& axis, bool align_corners, bool smooth)
    : axis_(axis),
      scale_(axis.scale<double>(align_corners)),
      align_(align_corners),
      smooth_(smooth) {
  double most = 0;
  for (int64_t y = 0; y < axis_.out; ++y) {
    place(y);
    for (int64_t i = 0; i < count_; ++i) most = std::max(most, exact(i));
  }
  while (precision_ < kMostPrecision && std::ldexp(most, precision_ + 1) + 0.5 < kMostWeight) {
    ++precision_;
  }
}

void ByteFilter::locate(int64_t y) {
  place(y);
  for (int64_t i = 0; i < std::min(count_, kKept); ++i) kept_[i] = whole(i);
}

void ByteFilter::place(int64_t y) {
  if (smooth_ && axis_.in != axis_.out) return place_smooth(y);
  center_ = 0;
  first_ = y;
  if (axis_.in != axis_.out) {
    const double at = static_cast<double>(y);
    const double x = align_ ? scale_ * at : std::max(scale_ * (at + 0.5) - 0.5, 0.0);
    first_ = static_cast<int64_t>(std::min(x, static_cast<double>(axis_.in - 1)));
    center_ = std::clamp(x - static_cast<double>(first_), 0.0, 1.0);
  }
  count_ = first_ + 1 < axis_.in ? 2 : 1;
}

void ByteFilter::place_smooth(int64_t y) {
  const double support = std::max(scale_, 1.0);
  center_ = scale_ * (static_cast<double>(y) + 0.5);
  const double last = static_cast<double>(axis_.in);
  first_ = static_cast<int64_t>(std::clamp(center_ - support + 0.5, 0.0, last - 1));
  const int64_t end = static_cast<int64_t>(std::clamp(center_ + support + 0.5, 0.0, last));
  count_ = std::max(end - first_, int64_t{1});
  double total = 0;
  total_ = 1;
  for (int64_t i = 0; i < count_; ++i) total += exact(i);
  if (total != 0) total_ = total;
}

double ByteFilter::exact(int64_t i) const {
  if (!smooth_ || axis_.in == axis_.out) {
    return count_ == 1 ? 1 : i == 0 ? 1 - center_ : center_;
  }
  const double distance = (static_cast<double>(first_ + i) - center_ + 0.5) / std::max(scale_, 1.0);
  return std::max(1 - std::fabs(distance), 0.0) / total_;
}

int64_t ByteFilter::whole(int64_t i) const {
  return static_cast<int64_t>(std::ldexp(exact(i), precision_) + 0.5);
}

int64_t ByteFilter::round(int64_t sum) const {
  const int64_t half = precision_ > 0 ? int64_t{1} << (precision_ - 1) : 0;
  return std::clamp((sum + half) >> precision_, int64_t{0}, int64_t{255});
}

void resample_bytes(const Resampling& r, bool align_corners, bool smooth) {
  ByteFilter rows(r.rows, align_corners, smooth), columns(r.columns, align_corners, smooth);
  for (int64_t y = 0; y < r.rows.out; ++y) {
    rows.locate(y);
    for (int64_t x = 0; x < r.columns.out; ++x) {
      columns.locate(x);
      for (int64_t n = 0; n < r.out.batch; ++n) {
        for (int64_t c = 0; c < r.out.channels; ++c) {
          *static_cast<uint8_t*>(r.out.at(n, c, y, x)) = pixel(r.in, n, c, rows, columns);
        }
      }
    }
  }
}

}  // namespace taper::portable
