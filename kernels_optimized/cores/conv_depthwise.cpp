// Depthwise convolution: computes a vector of neighbouring outputs at a time, accumulated over the
// taps. What lies outside the input reads as zero (conv_rows.h), so edges are vectors too. Square
// kernels of three and five taps go down the image: in strips one vector wide, for which the
// weights and the masks of the edges are computed once, or, where a load may not read beyond a row,
// over copies of the rows between zeros.

#include <algorithm>

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/engine/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/conv_depthwise.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/conv_rows.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// One row of one output channel.
struct Line {
  const float* plane;   // The input channel.
  const float* weight;  // The taps of the output channel, contiguous.
  float bias;
  Bounds bounds;
  int64_t a, b;  // The index of the row.
};

// Stores the sums, clamped.
HWY_INLINE void store_sums(Vec sums, const Bounds& bounds, float* out, int64_t count) {
  const Vec low = hn::Set(kTag, bounds.low), high = hn::Set(kTag, bounds.high);
  store_count(at_most(at_least(sums, low), high), out, count);
}

// Adds the products of one row of the taps with the input row that they read.
HWY_INLINE Vec add_taps(const portable::Convolution& conv, const float* row, const float* weight,
                        int64_t x, Vec sum) {
  const int64_t width = conv.in.size[2], stride = conv.stride[2];
  for (int64_t k = 0; k < conv.weight.size[2]; ++k, x += conv.dilation[2]) {
    const Vec values = load_steps(row, x, stride, width);
    sum = hn::MulAdd(hn::Set(kTag, weight[k]), values, sum);
  }
  return sum;
}

// Computes outputs [c, c + kLanes) of a line.
HWY_INLINE Vec sum_taps(const portable::Convolution& conv, const Line& line, int64_t c) {
  Vec sum = hn::Set(kTag, line.bias);
  const float* weight = line.weight;
  const int64_t x = c * conv.stride[2] - conv.padding[2];
  for (int64_t i = 0; i < conv.weight.size[0]; ++i) {
    const int64_t x0 = line.a * conv.stride[0] - conv.padding[0] + i * conv.dilation[0];
    for (int64_t j = 0; j < conv.weight.size[1]; ++j, weight += conv.weight.size[2]) {
      const int64_t x1 = line.b * conv.stride[1] - conv.padding[1] + j * conv.dilation[1];
      if (x0 < 0 || x0 >= conv.in.size[0] || x1 < 0 || x1 >= conv.in.size[1]) continue;
      const float* row = line.plane + x0 * conv.in.stride[0] + x1 * conv.in.stride[1];
      sum = add_taps(conv, row, weight, x, sum);
    }
  }
  return sum;
}

void convolve_channel(const portable::Convolution& conv, const Line& plane, float* out) {
  const int64_t width = conv.out.size[2];
  Line line = plane;
  for (line.a = 0; line.a < conv.out.size[0]; ++line.a) {
    for (line.b = 0; line.b < conv.out.size[1]; ++line.b, out += width) {
      for (int64_t c = 0; c < width; c += kLanes) {
        store_sums(sum_taps(conv, line, c), line.bounds, out + c, width - c);
      }
    }
  }
}

#if !HWY_MEM_OPS_MIGHT_FAULT

// Masks of the lanes that lie inside a row, for the vector read at x and for the next one.
struct Inside {
  explicit Inside(int64_t x, int64_t width)
      : low(lanes(x, width)), high(lanes(x + kLanes, width)) {}
  static hn::Mask<Tag> lanes(int64_t x, int64_t width) {
    const auto bound = [](int64_t i) HWY_ATTR {
      return hn::FirstN(kTag, static_cast<size_t>(std::clamp(i, int64_t{0}, kLanes)));
    };
    return hn::AndNot(bound(-x), bound(width - x));
  }
  hn::Mask<Tag> low, high;
};

// The inputs of a strip for one tap, read from `from`.
template <int kStride, bool kEdge>
HWY_INLINE Vec load_tap(const float* from, const Inside& inside) {
  if constexpr (kStride == 1) {
    return kEdge ? hn::MaskedLoad(inside.low, kTag, from) : hn::LoadU(kTag, from);
  } else {
    const Vec low = kEdge ? hn::MaskedLoad(inside.low, kTag, from) : hn::LoadU(kTag, from);
    const Vec high =
        kEdge ? hn::MaskedLoad(inside.high, kTag, from + kLanes) : hn::LoadU(kTag, from + kLanes);
    return hn::ConcatEven(kTag, high, low);
  }
}

// Computes outputs [c, c + kLanes) of all rows.
template <int kTaps, int kStride, bool kEdge>
void convolve_strip(const portable::Convolution& conv, const Line& line, int64_t c, float* out) {
  const int64_t in_width = conv.in.size[2], width = conv.out.size[2];
  const int64_t x = c * kStride - conv.padding[2], count = width - c;
  const Inside inside[] = {Inside(x, in_width), Inside(x + 1, in_width), Inside(x + 2, in_width),
                           Inside(x + 3, in_width), Inside(x + 4, in_width)};
  Vec weights[kTaps * kTaps];
  for (int i = 0; i < kTaps * kTaps; ++i) weights[i] = hn::Set(kTag, line.weight[i]);
  for (int64_t b = 0; b < conv.out.size[1]; ++b) {
    const int64_t y = b * conv.stride[1] - conv.padding[1];
    Vec sum = hn::Set(kTag, line.bias);
    TAPER_UNROLL
    for (int j = 0; j < kTaps; ++j) {
      if (y + j < 0 || y + j >= conv.in.size[1]) continue;
      const float* row = line.plane + (y + j) * in_width + x;
      TAPER_UNROLL
      for (int k = 0; k < kTaps; ++k) {
        const Vec values = load_tap<kStride, kEdge>(row + k, inside[k]);
        sum = hn::MulAdd(weights[j * kTaps + k], values, sum);
      }
    }
    store_sums(sum, line.bounds, out + b * width + c, count);
  }
}

template <int kTaps, int kStride>
void convolve_square(const portable::Convolution& conv, const Line& line, float* out) {
  for (int64_t c = 0; c < conv.out.size[2]; c += kLanes) {
    const int64_t x = c * kStride - conv.padding[2];
    if (x >= 0 && x + kTaps - 1 + kStride * kLanes <= conv.in.size[2]) {
      convolve_strip<kTaps, kStride, false>(conv, line, c, out);
    } else {
      convolve_strip<kTaps, kStride, true>(conv, line, c, out);
    }
  }
}

#else  // HWY_MEM_OPS_MIGHT_FAULT

constexpr int64_t kBlock = 256;  // Outputs of a row that are computed from one copy.

// Copies of a part of the last input rows, between zeros. With steps of 2 the even and the odd
// elements of a row lie apart, so that what a tap reads for neighbouring outputs is contiguous.
template <int kTaps, int kStride>
class Copies {
 public:
  // Elements [x, ...) of rows, for `count` outputs.
  Copies(const portable::Convolution& conv, const float* plane, int64_t x, int64_t count)
      : plane_(plane), height_(conv.in.size[1]), width_(conv.in.size[2]), x_(x) {
    const int64_t most = ((count + kLanes - 1) / kLanes * kLanes + kTaps - 1) * kStride;
    read_ = (most + 2 * kLanes - 1) / (2 * kLanes) * (2 * kLanes);
  }

  // Row y; null if it lies outside the input. Rows are asked for from the top to the bottom, none
  // after kRows later ones.
  const float* row(int64_t y) {
    if (y < 0 || y >= height_) return nullptr;
    float* const to = rows_[y % kRows];
    if (y < next_) return to;
    next_ = y + 1;
    if constexpr (kStride == 1) {
      copy_between_zeros(y, to);
    } else {
      float line[kLength * kStride];
      copy_between_zeros(y, line);
      for (int64_t i = 0; i < read_; i += 2 * kLanes) {
        const Vec low = hn::LoadU(kTag, line + i), high = hn::LoadU(kTag, line + i + kLanes);
        hn::StoreU(hn::ConcatEven(kTag, high, low), kTag, to + i / 2);
        hn::StoreU(hn::ConcatOdd(kTag, high, low), kTag, to + kLength + i / 2);
      }
    }
    return to;
  }

  // Where in a row lies what the tap reads for the first output.
  static constexpr int64_t offset(int tap) { return tap % kStride * kLength + tap / kStride; }

 private:
  static constexpr int kRows = 8;
  static constexpr int64_t kLength = kBlock + 3 * kLanes + kTaps;  // At least what is written.
  static_assert(kTaps + kStride <= kRows);

  void copy_between_zeros(int64_t y, float* to) const {
    const float* const row = plane_ + y * width_ + x_;
    const int64_t begin = std::clamp(-x_, int64_t{0}, read_);
    const int64_t end = std::clamp(width_ - x_, begin, read_);
    int64_t i = 0;
    for (; i < begin; ++i) to[i] = 0;
    for (; i + kLanes <= end; i += kLanes) hn::StoreU(hn::LoadU(kTag, row + i), kTag, to + i);
    for (; i < end; ++i) to[i] = row[i];
    for (; i < read_; i += kLanes) hn::StoreU(hn::Zero(kTag), kTag, to + i);
  }

  const float* plane_;
  int64_t height_, width_, x_, read_;
  int64_t next_ = 0;  // Rows from here on were not copied yet.
  float rows_[kRows][kLength * kStride];
};

// Computes `count` outputs of kRows rows, `width` apart, from the input rows that they read.
template <int kTaps, int kStride, int kRows>
HWY_INLINE void convolve_rows(const float* const* inputs, const Vec* weights, const Line& line,
                              int64_t count, float* out, int64_t width) {
  for (int64_t c = 0; c < count; c += kLanes) {
    Vec sums[kRows];
    TAPER_UNROLL
    for (int i = 0; i < kRows; ++i) sums[i] = hn::Set(kTag, line.bias);
    TAPER_UNROLL
    for (int j = 0; j < kTaps + (kRows - 1) * kStride; ++j) {
      if (inputs[j] == nullptr) continue;
      TAPER_UNROLL
      for (int k = 0; k < kTaps; ++k) {
        const Vec values = hn::LoadU(kTag, inputs[j] + Copies<kTaps, kStride>::offset(k) + c);
        TAPER_UNROLL
        for (int i = 0; i < kRows; ++i) {
          const int tap = j - i * kStride;
          if (tap < 0 || tap >= kTaps) continue;
          sums[i] = hn::MulAdd(weights[tap * kTaps + k], values, sums[i]);
        }
      }
    }
    TAPER_UNROLL
    for (int i = 0; i < kRows; ++i) {
      store_sums(sums[i], line.bounds, out + i * width + c, count - c);
    }
  }
}

// Computes outputs [c, c + count) of all rows, two at a time, which share the loads.
template <int kTaps, int kStride>
void convolve_block(const portable::Convolution& conv, const Line& line, int64_t c, int64_t count,
                    float* out) {
  Copies<kTaps, kStride> copies(conv, line.plane, c * kStride - conv.padding[2], count);
  Vec weights[kTaps * kTaps];
  for (int i = 0; i < kTaps * kTaps; ++i) weights[i] = hn::Set(kTag, line.weight[i]);
  const int64_t height = conv.out.size[1], width = conv.out.size[2];
  for (int64_t b = 0; b < height; b += 2) {
    const float* inputs[kTaps + kStride];
    for (int j = 0; j < kTaps + kStride; ++j) {
      inputs[j] = copies.row(b * kStride - conv.padding[1] + j);
    }
    float* const to = out + b * width + c;
    if (b + 1 < height) {
      convolve_rows<kTaps, kStride, 2>(inputs, weights, line, count, to, width);
    } else {
      convolve_rows<kTaps, kStride, 1>(inputs, weights, line, count, to, width);
    }
  }
}

template <int kTaps, int kStride>
void convolve_square(const portable::Convolution& conv, const Line& line, float* out) {
  const int64_t width = conv.out.size[2];
  for (int64_t c = 0; c < width; c += kBlock) {
    convolve_block<kTaps, kStride>(conv, line, c, std::min(kBlock, width - c), out);
  }
}

#endif  // HWY_MEM_OPS_MIGHT_FAULT

using Channel = void (*)(const portable::Convolution&, const Line&, float*);

// The form for this kernel size and stride, or null if there is none.
Channel square_form(const portable::Convolution& conv) {
  const int64_t taps = conv.weight.size[2], stride = conv.stride[2];
  const bool is_fixed = HWY_MEM_OPS_MIGHT_FAULT;  // The steps down have to be those across.
  if ((is_fixed && conv.stride[1] != stride) || conv.in.size[0] != 1 || conv.weight.size[0] != 1 ||
      conv.out.size[0] != 1 || conv.weight.size[1] != taps || conv.dilation[1] != 1 ||
      conv.dilation[2] != 1 || conv.padding[0] != 0) {
    return nullptr;
  }
  if (taps == 3 && stride == 1) return convolve_square<3, 1>;
  if (taps == 3 && stride == 2) return convolve_square<3, 2>;
  if (taps == 5 && stride == 1) return convolve_square<5, 1>;
  if (taps == 5 && stride == 2) return convolve_square<5, 2>;
  return nullptr;
}

}  // namespace

// Computes channels [begin, end), counted over all images.
void depthwise_form(const portable::Convolution& conv, const Bounds& bounds, int64_t begin,
                    int64_t end) {
  const int64_t taps = conv.weight.taps();
  const Channel square = square_form(conv);
  const Channel channel_form = square != nullptr ? square : convolve_channel;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t n = i / conv.out.channels, channel = i % conv.out.channels;
    const float* in = static_cast<const float*>(conv.in.data) + n * conv.in.batch_stride;
    float* out = static_cast<float*>(conv.out.data) + n * conv.out.batch_stride;
    Line line = {};
    line.bounds = bounds;
    line.plane = in + channel / conv.group_out() * conv.in.channel_stride;
    line.weight = static_cast<const float*>(conv.weight.data) + channel * taps;
    line.bias = conv.bias != nullptr ? conv.bias->const_data_ptr<float>()[channel] : 0;
    channel_form(conv, line, out + channel * conv.out.channel_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

using DepthwiseForm = void (*)(const portable::Convolution&, const Bounds&, int64_t, int64_t);

bool convolve_planes(const portable::Convolution& conv, const Bounds& bounds,
                     const ThreadPool& pool) {
  const DepthwiseForm form = TAPER_CHOOSE(DepthwiseForm, depthwise_form);
  if (form == nullptr) return false;
  const int64_t work = conv.out.positions() * (1 + conv.weight.taps() / 8);
  for_parts(pool, conv.batch * conv.out.channels, work, 1,
            [&](int64_t begin, int64_t end) { form(conv, bounds, begin, end); });
  return true;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
