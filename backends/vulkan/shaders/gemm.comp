#version 450
// Products of matrices: out[z] = activation(a[z] * b[z] + bias + residual[z]), for linear, mm, bmm
// and convolutions.
//
// A workgroup makes a tile of kM x kN elements, each thread 4 x 4 of them. Tiles of `a` and `b`, kK
// deep, go through shared memory; the next ones are loaded while a thread computes with the last.
// For a convolution `b` is the image as a matrix that is never stored: row k is an offset in the
// window, column n an output pixel.
//
// Where there are few tiles, several workgroups share one: each adds up a part of k, and
// sum_parts.comp adds up the parts.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"

layout(local_size_x_id = 10) in;
layout(constant_id = 0) const uint kM = 64;
layout(constant_id = 1) const uint kN = 64;
layout(constant_id = 2) const uint A_KIND = 1;    // BY_COLUMN, BY_ROW or WIDE_BY_ROW.
layout(constant_id = 3) const uint B_KIND = 0;    // Any of the following.
layout(constant_id = 4) const uint BIAS = 0;      // 0: none, 1: of columns, 2: of rows.
layout(constant_id = 5) const uint ACTIVATION = 0;
layout(constant_id = 6) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 7) const uint WINDOW_H = 1;
layout(constant_id = 8) const uint WINDOW_W = 1;
layout(constant_id = 9) const uint WINDOW = 1;     // All elements of a window.
layout(constant_id = 10) const uint kThreads = 256;  // kM / 4 * kN / 4.
layout(constant_id = 11) const uint PARTS = 1;       // Workgroups that share a tile.

const uint BY_COLUMN = 0u;       // Consecutive m or n are adjacent.
const uint BY_ROW = 1u;          // Consecutive k are adjacent.
const uint IMAGE = 2u;           // A convolution.
const uint TRANSPOSED = 3u;      // A transposed convolution.
const uint WIDE_BY_COLUMN = 4u;  // The same as above, four elements at a time.
const uint WIDE_BY_ROW = 5u;

const bool kIsImage = B_KIND == IMAGE || B_KIND == TRANSPOSED;
const uint kK = 16;
const uint kALoads = kM * kK / kThreads, kBLoads = kN * kK / kThreads;  // Elements per thread.
const uint kAcross = kN / 4;                                            // Threads in a row.

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer A { float a_[]; };
layout(binding = 2) readonly buffer B { float b_[]; };
layout(binding = 1) readonly buffer AWide { vec4 a_wide_[]; };
layout(binding = 2) readonly buffer BWide { vec4 b_wide_[]; };
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
  uint part;                         // How much of k a workgroup adds up.
};

// Rows are one longer than needed, so that a column does not lie in one bank.
const uint kARow = kM / 4 + 1, kBRow = kN / 4 + 1;
shared vec4 a_tile[kK * kARow];
shared vec4 b_tile[kK * kBRow];

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

// Which elements of a tile load number i of a thread is: (row or column, k). A wide load begins
// there.
uvec2 a_place(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  if (A_KIND == WIDE_BY_ROW) return uvec2(at / (kK / 4), at % (kK / 4) * 4);
  return A_KIND == BY_ROW ? uvec2(at / kK, at % kK) : uvec2(at % kM, at / kM);
}
uvec2 b_place(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  if (B_KIND == WIDE_BY_ROW) return uvec2(at / (kK / 4), at % (kK / 4) * 4);
  if (B_KIND == WIDE_BY_COLUMN) return uvec2(at % (kN / 4) * 4, at / (kN / 4));
  return B_KIND == BY_ROW ? uvec2(at / kK, at % kK) : uvec2(at % kN, at / kN);
}

void load_a(uint base, uvec2 corner, uint k_to, out float next[kALoads]) {
  if (A_KIND == WIDE_BY_ROW) {
    [[unroll]] for (uint i = 0; i < kALoads / 4; ++i) {
      uvec2 at = a_place(i) + corner;
      vec4 v = at.x < m && at.y < k_to ? a_wide_[(base + at.x * a_m + at.y) / 4] : vec4(0.0);
      [[unroll]] for (uint j = 0; j < 4; ++j) next[i * 4 + j] = v[j];
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = a_place(i) + corner;
    next[i] = at.x < m && at.y < k_to ? a_[base + at.x * a_m + at.y * a_k] : 0.0;
  }
}

void load_b(uint base, uvec2 corner, uint k_to, ivec3 origins[kBLoads],
            out float next[kBLoads]) {
  if (B_KIND == WIDE_BY_ROW || B_KIND == WIDE_BY_COLUMN) {
    [[unroll]] for (uint i = 0; i < kBLoads / 4; ++i) {
      uvec2 at = b_place(i) + corner;
      vec4 v = at.x < n && at.y < k_to ? b_wide_[(base + at.y * b_k + at.x * b_n) / 4] : vec4(0.0);
      [[unroll]] for (uint j = 0; j < 4; ++j) next[i * 4 + j] = v[j];
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
    uvec2 at = b_place(i) + corner;
    next[i] = 0.0;
    if (at.x < n && at.y < k_to) {
      next[i] = kIsImage ? image_at(base, origins[i], at.y) : b_[base + at.y * b_k + at.x * b_n];
    }
  }
}

void store_a(float next[kALoads]) {
  if (A_KIND == WIDE_BY_ROW) {
    [[unroll]] for (uint i = 0; i < kALoads; ++i) {
      uvec2 at = a_place(i / 4) + uvec2(0, i % 4);
      a_tile[at.y * kARow + at.x / 4][at.x % 4] = next[i];
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = a_place(i);
    a_tile[at.y * kARow + at.x / 4][at.x % 4] = next[i];
  }
}

void store_b(float next[kBLoads]) {
  if (B_KIND == WIDE_BY_COLUMN) {
    [[unroll]] for (uint i = 0; i < kBLoads / 4; ++i) {
      uvec2 at = b_place(i);
      b_tile[at.y * kBRow + at.x / 4] =
          vec4(next[i * 4], next[i * 4 + 1], next[i * 4 + 2], next[i * 4 + 3]);
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
    uvec2 at = B_KIND == WIDE_BY_ROW ? b_place(i / 4) + uvec2(0, i % 4) : b_place(i);
    b_tile[at.y * kBRow + at.x / 4][at.x % 4] = next[i];
  }
}

void main() {
  uint z = gl_WorkGroupID.z / PARTS;
  uint k_from = gl_WorkGroupID.z % PARTS * part;
  uint k_to = min(k, k_from + part);
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uint m0 = gl_WorkGroupID.y * kM, n0 = gl_WorkGroupID.x * kN;
  uint thread = gl_LocalInvocationID.x;
  uint column = thread % kAcross, row = thread / kAcross;

  vec4 sums[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
  ivec3 origins[kBLoads];
  if (kIsImage) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) origins[i] = origin_of(n0 + b_place(i).x);
  }
  float a_next[kALoads];
  float b_next[kBLoads];

  for (uint k0 = k_from; k0 < k_to + kK; k0 += kK) {
    // The tiles of k0 are loaded; those of the step before, which are in shared memory, are used.
    if (k0 < k_to) {
      load_a(a_base, uvec2(m0, k0), k_to, a_next);
      load_b(b_base, uvec2(n0, k0), k_to, origins, b_next);
    }
    if (k0 != k_from) {
      [[unroll]] for (uint ki = 0; ki < kK; ++ki) {
        vec4 as = a_tile[ki * kARow + row];
        vec4 bs = b_tile[ki * kBRow + column];
        sums[0] = fma(vec4(as.x), bs, sums[0]);
        sums[1] = fma(vec4(as.y), bs, sums[1]);
        sums[2] = fma(vec4(as.z), bs, sums[2]);
        sums[3] = fma(vec4(as.w), bs, sums[3]);
      }
    }
    barrier();
    if (k0 < k_to) {
      store_a(a_next);
      store_b(b_next);
    }
    barrier();
  }

  [[unroll]] for (uint i = 0; i < 4; ++i) {
    uint mi = m0 + row * 4 + i;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      uint ni = n0 + column * 4 + j;
      if (mi >= m || ni >= n) continue;
      float value = sums[i][j];
      if (PARTS > 1u) {
        out_[(gl_WorkGroupID.z * m + mi) * n + ni] = value;
        continue;
      }
      uint at = (z * m + mi) * n + ni;
      if (BIAS == 1u) value += bias_[ni];
      if (BIAS == 2u) value += bias_[z % inner * m + mi];
      if (RESIDUAL == 1u) value += residual_[at];
      value = activate(ACTIVATION, value, least, most);
      if (RESIDUAL == 2u) value += residual_[at];
      if (RESIDUAL == 3u) value *= residual_[at];
      out_[at] = value;
    }
  }
}
