// Depthwise convolution: a vector of neighbouring outputs at a time, summed over the taps. Zeros
// stand for what lies outside the input (conv_rows.h), so edges are vectors too.

#include "kernels_optimized/conv_planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/conv_depthwise.cpp"
#include "kernels_optimized/dispatch.h"
// After the choice of targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/conv_rows.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

struct Line {
  const float* plane;   // The input channel.
  const float* weight;  // Of the output channel, taps together.
  float bias;
  int64_t a, b;  // Which row of the output.
};

HWY_INLINE Vec add_taps(const portable::Convolution& conv, const float* row, const float* weight,
                        int64_t x, Vec sum) {
  const int64_t width = conv.in.size[2], stride = conv.stride[2];
  for (int64_t k = 0; k < conv.weight.size[2]; ++k, x += conv.dilation[2]) {
    const Vec values = load_steps(row, x, stride, width);
    sum = hn::MulAdd(hn::Set(kTag, weight[k]), values, sum);
  }
  return sum;
}

// Outputs [c, c + kLanes) of a line.
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

void convolve_channel(const portable::Convolution& conv, Line line, float* out) {
  const int64_t width = conv.out.size[2];
  for (line.a = 0; line.a < conv.out.size[0]; ++line.a) {
    for (line.b = 0; line.b < conv.out.size[1]; ++line.b, out += width) {
      for (int64_t c = 0; c < width; c += kLanes) {
        store_count(sum_taps(conv, line, c), out + c, width - c);
      }
    }
  }
}

}  // namespace

void depthwise_form(const portable::Convolution& conv) {
  const int64_t taps = conv.weight.taps();
  for (int64_t n = 0; n < conv.batch; ++n) {
    const float* in = static_cast<const float*>(conv.in.data) + n * conv.in.batch_stride;
    float* out = static_cast<float*>(conv.out.data) + n * conv.out.batch_stride;
    for (int64_t channel = 0; channel < conv.out.channels; ++channel) {
      Line line = {};
      line.plane = in + channel / conv.group_out() * conv.in.channel_stride;
      line.weight = static_cast<const float*>(conv.weight.data) + channel * taps;
      line.bias = conv.bias != nullptr ? conv.bias->const_data_ptr<float>()[channel] : 0;
      convolve_channel(conv, line, out + channel * conv.out.channel_stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

using DepthwiseForm = void (*)(const portable::Convolution&);

bool convolve_planes(const portable::Convolution& conv) {
  const DepthwiseForm form = TAPER_CHOOSE(DepthwiseForm, depthwise_form);
  if (form != nullptr) form(conv);
  return form != nullptr;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
