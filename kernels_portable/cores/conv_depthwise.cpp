// Depthwise convolution in float. Every output channel reads a single input channel, so a matrix
// product does not apply; the loops instead run along the dimension that is contiguous in memory.

#include <algorithm>

#include "kernels_portable/cores/conv.h"

namespace taper::portable {
namespace {

constexpr int64_t kChannels = 64;  // Channels summed at once when they are contiguous.
constexpr int64_t kMaxTaps = 32;   // The weights of that many taps are kept on the stack.

// The output coordinates [low, high) whose tap `t` falls inside the input.
struct Range {
  int64_t low;
  int64_t high;
};
Range inside(const Convolution& conv, int d, int64_t t) {
  const int64_t stride = conv.stride[d];
  const int64_t shift = t * conv.dilation[d] - conv.padding[d];
  const int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t room = conv.in.size[d] - shift;
  const int64_t high = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {std::min(low, conv.out.size[d]), std::min(high, conv.out.size[d])};
}

// to[i] += factor * from[i * stride]
void add_scaled(float factor, const float* from, int64_t stride, int64_t count, float* to) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i * stride];
  }
}

float bias_of(const Convolution& conv, int64_t channel) {
  return conv.bias != nullptr ? conv.bias->const_data_ptr<float>()[channel] : 0.0f;
}

// Adds the taps to one row of one output channel, which already holds the bias.
void add_row(const Convolution& conv, const float* plane, const float* weight, int64_t a, int64_t b,
             float* row) {
  const ConvWeight& w = conv.weight;
  for (int64_t i = 0; i < w.size[0]; ++i) {
    const int64_t x0 = a * conv.stride[0] - conv.padding[0] + i * conv.dilation[0];
    if (x0 < 0 || x0 >= conv.in.size[0]) continue;
    for (int64_t j = 0; j < w.size[1]; ++j) {
      const int64_t x1 = b * conv.stride[1] - conv.padding[1] + j * conv.dilation[1];
      if (x1 < 0 || x1 >= conv.in.size[1]) continue;
      const float* from = plane + x0 * conv.in.stride[0] + x1 * conv.in.stride[1];
      for (int64_t k = 0; k < w.size[2]; ++k) {
        const Range range = inside(conv, 2, k);
        if (range.high <= range.low) continue;
        const int64_t x2 = range.low * conv.stride[2] - conv.padding[2] + k * conv.dilation[2];
        add_scaled(weight[w.tap_offset(i, j, k)], from + x2, conv.stride[2], range.high - range.low,
                   row + range.low);
      }
    }
  }
}

// The form for contiguous positions: computes row by row.
void convolve_planes(const Convolution& conv) {
  const float* in = static_cast<const float*>(conv.in.data);
  const float* weight = static_cast<const float*>(conv.weight.data);
  float* out = static_cast<float*>(conv.out.data);
  const int64_t width = conv.out.size[2];
  for (int64_t n = 0; n < conv.batch; ++n) {
    for (int64_t channel = 0; channel < conv.out.channels; ++channel) {
      const float* plane =
          in + n * conv.in.batch_stride + channel / conv.group_out() * conv.in.channel_stride;
      float* row = out + n * conv.out.batch_stride + channel * conv.out.channel_stride;
      for (int64_t a = 0; a < conv.out.size[0]; ++a) {
        for (int64_t b = 0; b < conv.out.size[1]; ++b, row += width) {
          std::fill_n(row, width, bias_of(conv, channel));
          add_row(conv, plane, weight + channel * conv.weight.out_stride, a, b, row);
        }
      }
    }
  }
}

// The weights of up to kChannels channels, ordered by tap.
struct Filters {
  float bias[kChannels];
  float weight[kMaxTaps][kChannels];
};

void load_filters(const Convolution& conv, int64_t first, int64_t count, Filters* filters) {
  const ConvWeight& w = conv.weight;
  const float* from = static_cast<const float*>(w.data) + first * w.out_stride;
  for (int64_t c = 0; c < count; ++c) {
    filters->bias[c] = bias_of(conv, first + c);
    int64_t tap = 0;
    for (int64_t i = 0; i < w.size[0]; ++i) {
      for (int64_t j = 0; j < w.size[1]; ++j) {
        for (int64_t k = 0; k < w.size[2]; ++k) {
          filters->weight[tap++][c] = from[c * w.out_stride + w.tap_offset(i, j, k)];
        }
      }
    }
  }
}

// Computes `count` channels at output position `y`; `in` is the image at the first of them.
void sum_position(const Convolution& conv, const Filters& filters, const int64_t (&y)[kSpatial],
                  const float* in, int64_t count, float* out) {
  float sums[kChannels];
  std::copy_n(filters.bias, kChannels, sums);
  int64_t tap = 0;
  for (int64_t i = 0; i < conv.weight.size[0]; ++i) {
    const int64_t x0 = y[0] * conv.stride[0] - conv.padding[0] + i * conv.dilation[0];
    for (int64_t j = 0; j < conv.weight.size[1]; ++j) {
      const int64_t x1 = y[1] * conv.stride[1] - conv.padding[1] + j * conv.dilation[1];
      for (int64_t k = 0; k < conv.weight.size[2]; ++k, ++tap) {
        const int64_t x2 = y[2] * conv.stride[2] - conv.padding[2] + k * conv.dilation[2];
        if (x0 < 0 || x0 >= conv.in.size[0] || x1 < 0 || x1 >= conv.in.size[1] || x2 < 0 ||
            x2 >= conv.in.size[2]) {
          continue;
        }
        const float* from =
            in + x0 * conv.in.stride[0] + x1 * conv.in.stride[1] + x2 * conv.in.stride[2];
        const float* weight = filters.weight[tap];
        for (int64_t c = 0; c < count; ++c) sums[c] += weight[c] * from[c];
      }
    }
  }
  std::copy_n(sums, count, out);
}

// The form for contiguous channels: computes position by position.
void convolve_points(const Convolution& conv) {
  const float* in = static_cast<const float*>(conv.in.data);
  float* out = static_cast<float*>(conv.out.data);
  Filters filters = {};
  for (int64_t first = 0; first < conv.out.channels; first += kChannels) {
    const int64_t count = std::min(kChannels, conv.out.channels - first);
    load_filters(conv, first, count, &filters);
    for (int64_t n = 0; n < conv.batch; ++n) {
      const float* image = in + n * conv.in.batch_stride + first;
      float* to = out + n * conv.out.batch_stride + first;
      int64_t y[kSpatial];
      for (y[0] = 0; y[0] < conv.out.size[0]; ++y[0]) {
        for (y[1] = 0; y[1] < conv.out.size[1]; ++y[1]) {
          for (y[2] = 0; y[2] < conv.out.size[2]; ++y[2], to += conv.out.position_stride()) {
            sum_position(conv, filters, y, image, count, to);
          }
        }
      }
    }
  }
}

}  // namespace

bool convolve_depthwise(const Convolution& conv) {
  if (conv.in.type != ScalarType::kFloat || conv.transposed || conv.group_in() != 1) return false;
  const int64_t step = conv.out.position_stride();
  if (step == 1 && (conv.in.stride[2] == 1 || conv.in.size[2] == 1)) {
    convolve_planes(conv);
    return true;
  }
  const bool points = conv.group_out() == 1 && conv.out.channel_stride == 1 &&
                      conv.in.channel_stride == 1 && conv.weight.taps() <= kMaxTaps;
  if (points) convolve_points(conv);
  return points;
}

}  // namespace taper::portable
