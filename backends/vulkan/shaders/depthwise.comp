#version 450
// Convolutions of few channels per group, depthwise ones first of all: a thread computes one
// element of the result.

#include "bytes.glsl"
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint WINDOW_D = 1;
layout(constant_id = 1) const uint WINDOW_H = 3;
layout(constant_id = 2) const uint WINDOW_W = 3;
layout(constant_id = 3) const uint BIAS = 0;
layout(constant_id = 4) const uint ACTIVATION = 0;
layout(constant_id = 5) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 6) const uint BYTES = 0;     // Whether weights are bytes with a scale each row.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Image { uint image_[]; };
layout(binding = 2) readonly buffer Weights { float weights_[]; };
layout(binding = 3) readonly buffer Bias { float bias_[]; };
layout(binding = 4) readonly buffer Residual { uint residual_[]; };
layout(binding = 2) readonly buffer WeightBytes { uint weight_bytes_[]; };
layout(binding = 5) readonly buffer Scales { float scales_[]; };

layout(push_constant) uniform Push {
  uint count;
  int out_channels, group_in, group_out;  // The latter two per group.
  int in_channels;
  int depth, height, width;               // Of the image.
  int out_depth, out_height, out_width;
  int stride_d, stride_h, stride_w;
  int pad_d, pad_h, pad_w;
  int dilation_d, dilation_h, dilation_w;
  uint row, plane_, step_;                // Strides of the weights: a row is an output channel.
  Ending ending;
};

float weight_at(uint at) {
  return BYTES != 0u ? signed_byte(weight_bytes_[at / 4], at % 4) : weights_[at];
}

uint element(uint index) {
  int rest = int(index);
  int x = rest % out_width; rest /= out_width;
  int y = rest % out_height; rest /= out_height;
  int d = rest % out_depth; rest /= out_depth;
  int channel = rest % out_channels;
  int image = rest / out_channels;

  float sum = BIAS != 0u ? bias_[channel] : 0.0;
  int first_in = channel / group_out * group_in;
  uint window = uint(channel) * row;
  float scale = BYTES != 0u ? scales_[channel] : 1.0;
  for (int c = 0; c < group_in; ++c) {
    int plane = (image * in_channels + first_in + c) * depth;
    for (int kd = 0; kd < int(WINDOW_D); ++kd) {
      int id = d * stride_d - pad_d + kd * dilation_d;
      for (int kh = 0; kh < int(WINDOW_H); ++kh) {
        int ih = y * stride_h - pad_h + kh * dilation_h;
        for (int kw = 0; kw < int(WINDOW_W); ++kw) {
          int iw = x * stride_w - pad_w + kw * dilation_w;
          bool inside = id >= 0 && id < depth && ih >= 0 && ih < height && iw >= 0 && iw < width;
          int from = ((plane + id) * height + ih) * width + iw;
          float pixel = inside ? FLOAT(image_, 1, from) : 0.0;
          uint place = uint((kd * int(WINDOW_H) + kh) * int(WINDOW_W) + kw);
          sum = fma(pixel, weight_at(window + place * step_) * scale, sum);
        }
      }
    }
    window += plane_;
  }
  float other = RESIDUAL != 0u ? FLOAT(residual_, 4, index) : 0.0;
  return result_word(ACTIVATION, RESIDUAL, sum, other, ending);
}

void main() { STORE_ALL(out_, count, element) }
