#version 450
// Products of matrices: out[z] = activation(a[z] * b[z] + bias + residual[z]), for linear, mm, bmm
// and convolutions.
//
// A workgroup makes a tile of kM x kN elements; each thread makes (kM / 16) x (kN / 16) of them.
// Tiles of `a` and `b`, kK deep, go through shared memory. For a convolution `b` is the image as a
// matrix that is never stored: row k is an offset in the window, column n an output pixel.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kM = 64;
layout(constant_id = 1) const uint kN = 64;
layout(constant_id = 2) const uint A_BY_ROW = 1;  // Whether consecutive k are adjacent in `a`.
layout(constant_id = 3) const uint B_KIND = 0;    // One of the following.
layout(constant_id = 4) const uint BIAS = 0;      // 0: none, 1: of columns, 2: of rows.
layout(constant_id = 5) const uint ACTIVATION = 0;
layout(constant_id = 6) const uint RESIDUAL = 0;  // 0: none, 1: before the activation, 2: after it.
layout(constant_id = 7) const uint WINDOW_H = 1;
layout(constant_id = 8) const uint WINDOW_W = 1;
layout(constant_id = 9) const uint WINDOW = 1;    // All elements of a window.

const uint BY_COLUMN = 0u;   // Consecutive n are adjacent.
const uint BY_ROW = 1u;      // Consecutive k are adjacent.
const uint IMAGE = 2u;       // A convolution.
const uint TRANSPOSED = 3u;  // A transposed convolution.

const uint kK = 16;
const uint kThreads = 256;
const uint kRows = kM / 16, kColumns = kN / 16;
const uint kAStride = kM + 1, kBStride = kN + 1;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer A { float a_[]; };
layout(binding = 2) readonly buffer B { float b_[]; };
layout(binding = 3) readonly buffer Bias { float bias_[]; };
layout(binding = 4) readonly buffer Residual { float residual_[]; };

layout(push_constant) uniform Push {
  uint m, n, k;
  uint a_m, a_k, b_k, b_n;  // Strides.
  uint inner;               // Matrix z is number z / inner, z % inner.
  uint a_outer, a_inner, b_outer, b_inner;
  float least, most;
  int depth, height, width;          // Of the image.
  int out_height, out_width;
  uint strides, pads, dilations;     // Ten bits each: depth, height, width.
};

shared float a_tile[kK * kAStride];
shared float b_tile[kK * kBStride];

ivec3 unpack(uint packed) {
  return ivec3(packed & 1023u, packed >> 10 & 1023u, packed >> 20);
}

// Where the window of output pixel n begins in the image; for a transposed convolution, what its
// window index is subtracted from.
ivec3 origin_of(uint n_at) {
  int w = int(n_at) % out_width;
  int rest = int(n_at) / out_width;
  ivec3 at = ivec3(rest / out_height, rest % out_height, w);
  return B_KIND == TRANSPOSED ? at + unpack(pads) : at * unpack(strides) - unpack(pads);
}

float image_at(uint base, ivec3 origin, uint k_at) {
  uint channel = k_at / WINDOW;
  uint in_window = k_at % WINDOW;
  ivec3 offset = ivec3(in_window / (WINDOW_H * WINDOW_W), in_window / WINDOW_W % WINDOW_H,
                       in_window % WINDOW_W) * unpack(dilations);
  ivec3 at = origin + offset;
  if (B_KIND == TRANSPOSED) {
    ivec3 by = unpack(strides);
    ivec3 from = origin - offset;
    at = from / by;
    if (any(lessThan(from, ivec3(0))) || at * by != from) return 0.0;
  }
  ivec3 sizes = ivec3(depth, height, width);
  if (any(lessThan(at, ivec3(0))) || any(greaterThanEqual(at, sizes))) return 0.0;
  return b_[base + ((channel * depth + at.x) * height + at.y) * width + at.z];
}

void main() {
  uint z = gl_WorkGroupID.z;
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uint m0 = gl_WorkGroupID.y * kM, n0 = gl_WorkGroupID.x * kN;
  uint thread = gl_LocalInvocationID.x;
  uint column = thread % 16, row = thread / 16;

  float sums[kRows * kColumns];
  [[unroll]] for (uint i = 0; i < kRows * kColumns; ++i) sums[i] = 0.0;
  ivec3 origin = ivec3(0);
  if (B_KIND >= IMAGE) origin = origin_of(n0 + thread % kN);

  for (uint k0 = 0; k0 < k; k0 += kK) {
    [[unroll]] for (uint e = 0; e < kM * kK; e += kThreads) {
      uint at = e + thread;
      uint mi = A_BY_ROW != 0u ? at / kK : at % kM;
      uint ki = A_BY_ROW != 0u ? at % kK : at / kM;
      if (kM * kK >= kThreads || at < kM * kK) {
        bool inside = m0 + mi < m && k0 + ki < k;
        a_tile[ki * kAStride + mi] =
            inside ? a_[a_base + (m0 + mi) * a_m + (k0 + ki) * a_k] : 0.0;
      }
    }
    [[unroll]] for (uint e = 0; e < kN * kK; e += kThreads) {
      uint at = e + thread;
      uint ni = B_KIND == BY_ROW ? at / kK : at % kN;
      uint ki = B_KIND == BY_ROW ? at % kK : at / kN;
      bool inside = n0 + ni < n && k0 + ki < k;
      float value = 0.0;
      if (inside) {
        value = B_KIND >= IMAGE ? image_at(b_base, origin, k0 + ki)
                                : b_[b_base + (k0 + ki) * b_k + (n0 + ni) * b_n];
      }
      b_tile[ki * kBStride + ni] = value;
    }
    barrier();
    [[unroll]] for (uint ki = 0; ki < kK; ++ki) {
      float as[kRows];
      [[unroll]] for (uint i = 0; i < kRows; ++i) as[i] = a_tile[ki * kAStride + row + 16 * i];
      [[unroll]] for (uint j = 0; j < kColumns; ++j) {
        float b = b_tile[ki * kBStride + column + 16 * j];
        [[unroll]] for (uint i = 0; i < kRows; ++i) {
          sums[i * kColumns + j] = fma(as[i], b, sums[i * kColumns + j]);
        }
      }
    }
    barrier();
  }

  [[unroll]] for (uint i = 0; i < kRows; ++i) {
    uint mi = m0 + row + 16 * i;
    if (mi >= m) break;
    [[unroll]] for (uint j = 0; j < kColumns; ++j) {
      uint ni = n0 + column + 16 * j;
      if (ni >= n) break;
      uint at = (z * m + mi) * n + ni;
      float value = sums[i * kColumns + j];
      if (BIAS == 1u) value += bias_[ni];
      if (BIAS == 2u) value += bias_[z % inner * m + mi];
      if (RESIDUAL == 1u) value += residual_[at];
      value = activate(ACTIVATION, value, least, most);
      if (RESIDUAL == 2u) value += residual_[at];
      out_[at] = value;
    }
  }
}
