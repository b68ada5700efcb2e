#version 450
// A product with few rows in `x`, whose weights are integers of 4 or 8 bits with a scale for each
// group of a row: out = activation(x * transposed(weights * scales) + bias + residual). LANES
// threads add up COLUMNS elements of the result. Each reads AT_ONCE words of weights before it
// computes with them, since reading takes far longer.
//
// 4 bits hold a weight + 8, the even one in the low half of a byte; 8 bits are signed. Where rows
// of weights and groups are whole words, a thread reads a word at a time.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "packed.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint BIAS = 0;
layout(constant_id = 2) const uint ACTIVATION = 0;
layout(constant_id = 3) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 4) const uint WIDE = 0;      // Whether words are read at a time.
layout(constant_id = 5) const uint COLUMNS = 1;
layout(constant_id = 6) const uint K = 1;
layout(constant_id = 7) const uint GROUP = 1;
layout(constant_id = 8) const uint LANES = 32;    // A power of two.
layout(constant_id = 9) const uint AT_ONCE = 4;
layout(constant_id = 10) const uint NORM = 0;     // Whether x is normalised first, as an RMS norm.

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer X { uint x_[]; };
layout(binding = 2) readonly buffer Weights { uint weights_[]; };
layout(binding = 3) readonly buffer Scales { float scales_[]; };
layout(binding = 4) readonly buffer Bias { float bias_[]; };
layout(binding = 5) readonly buffer Residual { uint residual_[]; };
layout(binding = 1) readonly buffer XWide { vec4 x_wide_[]; };
layout(binding = 1) readonly buffer XHalves { uvec2 x_halves_[]; };
layout(binding = 4) readonly buffer Norm { float norm_[]; };  // Its weights; then there is no bias.
layout(binding = 4) readonly buffer NormWide { vec4 norm_wide_[]; };

layout(push_constant) uniform Push {
  uint n, row_bytes;
  uint scale_row, scale_group;  // Strides of the scales.
  Ending ending;
  float eps;  // Of the norm.
};

shared float sums_[256 * COLUMNS];

vec4 x_quad(uint at) { return IS_HALF(1) ? unpacked(x_halves_[at]) : x_wide_[at]; }

float dot_of(uint word, vec4 a, vec4 b) {
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < 4; ++i) sum = fma(weight_of(word, i), a[i], sum);
  if (BITS == 4u) {
    [[unroll]] for (uint i = 0; i < 4; ++i) sum = fma(weight_of(word, 4 + i), b[i], sum);
  }
  return sum;
}

// 1 / the root of the mean square of a row, as an RMS norm takes it.
float scale_of_row(uint row) {
  vec4 squares = vec4(0.0);
  for (uint i = gl_LocalInvocationID.x; i < K / 4; i += 256) {
    vec4 x = x_quad(row * (K / 4) + i);
    squares = fma(x, x, squares);
  }
  sums_[gl_LocalInvocationID.x] = squares.x + squares.y + squares.z + squares.w;
  barrier();
  [[unroll]] for (uint half_ = 128; half_ > 0; half_ /= 2) {
    if (gl_LocalInvocationID.x < half_) {
      sums_[gl_LocalInvocationID.x] += sums_[gl_LocalInvocationID.x + half_];
    }
    barrier();
  }
  float sum = sums_[0];
  barrier();
  return 1.0 / sqrt(sum / float(K) + eps);
}

uint read_[AT_ONCE * COLUMNS];
float read_scales_[AT_ONCE * COLUMNS];

// The words of this thread from `begin` on.
void read_words(uint begin, uint lane, uint first) {
  [[unroll]] for (uint j = 0; j < AT_ONCE; ++j) {
    uint i = min(begin + j * LANES + lane, K / PER_WORD - 1);
    [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
      uint column = min(first + c, n - 1);
      read_[j * COLUMNS + c] = weights_[column * (row_bytes / 4) + i];
      read_scales_[j * COLUMNS + c] =
          scales_[column * scale_row + i * PER_WORD / GROUP * scale_group];
    }
  }
}

void main() {
  uint thread = gl_LocalInvocationID.x, lane = thread % LANES;
  uint first = (FLAT_GROUP * (256 / LANES) + thread / LANES) * COLUMNS;
  uint row = gl_WorkGroupID.z;
  float sums[COLUMNS];
  [[unroll]] for (uint c = 0; c < COLUMNS; ++c) sums[c] = 0.0;
  if (WIDE != 0u) read_words(0, lane, first);
  float scale = NORM != 0u ? scale_of_row(row) : 1.0;
  if (WIDE != 0u) {
    const uint words = K / PER_WORD;
    for (uint begin = 0; begin < words; begin += LANES * AT_ONCE) {
      if (begin != 0) read_words(begin, lane, first);
      [[unroll]] for (uint j = 0; j < AT_ONCE; ++j) {
        uint i = begin + j * LANES + lane;
        if (i >= words) break;
        uint at = (row * K + i * PER_WORD) / 4;
        vec4 a = x_quad(at), b = BITS == 4u ? x_quad(at + 1) : vec4(0.0);
        if (NORM != 0u) {
          a *= scale * norm_wide_[i * PER_WORD / 4];
          if (BITS == 4u) b *= scale * norm_wide_[i * PER_WORD / 4 + 1];
        }
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
          uint e = j * COLUMNS + c;
          sums[c] = fma(read_scales_[e], dot_of(read_[e], a, b), sums[c]);
        }
      }
    }
  } else {
    for (uint i = lane; i < K; i += LANES) {
      float x = FLOAT(x_, 1, row * K + i) * scale;
      if (NORM != 0u) x *= norm_[i];
      [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
        uint column = min(first + c, n - 1);
        uint byte_ = column * row_bytes + i * BITS / 8;
        uint part = BITS == 4u ? byte_ % 4 * 2 + i % 2 : byte_ % 4;
        float by = scales_[column * scale_row + i / GROUP * scale_group];
        sums[c] = fma(weight_of(weights_[byte_ / 4], part) * by, x, sums[c]);
      }
    }
  }
  [[unroll]] for (uint c = 0; c < COLUMNS; ++c) sums_[c * 256 + thread] = sums[c];
  barrier();
  [[unroll]] for (uint half_ = LANES / 2; half_ > 0; half_ /= 2) {
    if (lane < half_) {
      [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
        sums_[c * 256 + thread] += sums_[c * 256 + thread + half_];
      }
    }
    barrier();
  }
  // A lane for each column; there are no more columns than lanes.
  uint column = first + lane;
  if (lane >= COLUMNS || column >= n) return;
  float value = sums_[lane * 256 + thread - lane];
  uint at = row * n + column;
  if (BIAS != 0u) value += bias_[column];
  float other = RESIDUAL != 0u ? FLOAT(residual_, 5, at) : 0.0;
  STORE(out_, 0, at, result_word(ACTIVATION, RESIDUAL, value, other, ending))
}
