#version 450
// Products of matrices: out[z] = activation(a[z] * b[z] + bias + residual[z]), for linear, mm, bmm
// and convolutions.
//
// A workgroup makes a tile of kM x kN elements, each thread 4 x 4 of them. Tiles of `a` and `b`, kK
// deep, go through shared memory; the next ones are loaded while a thread computes with the last.
//
// Where there are few tiles, several workgroups share one: each adds up a part of k, and
// sum_parts.comp adds up the parts.

#extension GL_EXT_control_flow_attributes : require
#include "bytes.glsl"
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "product.glsl"

layout(constant_id = 12) const uint ROUNDS = 0;  // Whether factors are rounded to float16.

layout(binding = 1) readonly buffer APacked { uvec2 a_packed_[]; };
layout(binding = 2) readonly buffer BPacked { uvec2 b_packed_[]; };
layout(binding = 1) readonly buffer ABytes { uint a_bytes_[]; };
layout(binding = 2) readonly buffer BBytes { uint b_bytes_[]; };
layout(binding = 5) readonly buffer Scales { float scales_[]; };

const uint kK = 16;
const uint kALoads = kM * kK / kThreads, kBLoads = kN * kK / kThreads;  // Elements per thread.
const uint kAcross = kN / 4;                                            // Threads in a row.
// Along k.
const bool kAIsWide = A_KIND == WIDE_BY_ROW || A_KIND == PACKED || A_KIND == WIDE_BYTES;
const bool kBIsWide = B_KIND == WIDE_BY_ROW || B_KIND == PACKED || B_KIND == WIDE_BYTES;
const bool kAIsByRow = A_KIND == BY_ROW || A_KIND == BYTES;
const bool kBIsByRow = B_KIND == BY_ROW || B_KIND == BYTES;

// Rows are one longer than needed, so that a column does not lie in one bank.
const uint kARow = kM / 4 + 1, kBRow = kN / 4 + 1;
shared vec4 a_tile[kK * kARow];
shared vec4 b_tile[kK * kBRow];

float rounded(float x) { return ROUNDS != 0u ? as_half(x) : x; }
vec4 rounded(vec4 x) { return ROUNDS != 0u ? as_half(x) : x; }

float a_at(uint at) {
  return A_KIND == BYTES ? signed_byte(a_bytes_[at / 4], at % 4) : rounded(FLOAT(a_, 1, at));
}
float b_at(uint at) {
  return B_KIND == BYTES ? signed_byte(b_bytes_[at / 4], at % 4) : rounded(FLOAT(b_, 2, at));
}
// Four elements that follow each other.
vec4 a_quad(uint at) {
  if (A_KIND == WIDE_BYTES) return signed_bytes(a_bytes_[at / 4]);
  return A_KIND == PACKED || IS_HALF(1) ? unpacked(a_packed_[at / 4]) : rounded(a_wide_[at / 4]);
}
vec4 b_quad(uint at) {
  if (B_KIND == WIDE_BYTES) return signed_bytes(b_bytes_[at / 4]);
  return B_KIND == PACKED || IS_HALF(2) ? unpacked(b_packed_[at / 4]) : rounded(b_wide_[at / 4]);
}

// Which elements of a tile load number i of a thread is: (row or column, k). A wide load begins
// there.
uvec2 a_place(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  if (kAIsWide) return uvec2(at / (kK / 4), at % (kK / 4) * 4);
  return kAIsByRow ? uvec2(at / kK, at % kK) : uvec2(at % kM, at / kM);
}
uvec2 b_place(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  if (kBIsWide) return uvec2(at / (kK / 4), at % (kK / 4) * 4);
  if (B_KIND == WIDE_BY_COLUMN) return uvec2(at % (kN / 4) * 4, at / (kN / 4));
  return kBIsByRow ? uvec2(at / kK, at % kK) : uvec2(at % kN, at / kN);
}

void load_a(uint base, uvec2 corner, uint k_to, out float next[kALoads]) {
  if (kAIsWide) {
    [[unroll]] for (uint i = 0; i < kALoads / 4; ++i) {
      uvec2 at = a_place(i) + corner;
      vec4 v = at.x < m && at.y < k_to ? a_quad(base + at.x * a_m + at.y) : vec4(0.0);
      [[unroll]] for (uint j = 0; j < 4; ++j) next[i * 4 + j] = v[j];
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = a_place(i) + corner;
    next[i] = at.x < m && at.y < k_to ? a_at(base + at.x * a_m + at.y * a_k) : 0.0;
  }
}

void load_b(uint base, uvec2 corner, uint k_to, ivec3 origins[kBLoads],
            out float next[kBLoads]) {
  if (kBIsWide || B_KIND == WIDE_BY_COLUMN) {
    [[unroll]] for (uint i = 0; i < kBLoads / 4; ++i) {
      uvec2 at = b_place(i) + corner;
      vec4 v = at.x < n && at.y < k_to ? b_quad(base + at.y * b_k + at.x * b_n) : vec4(0.0);
      [[unroll]] for (uint j = 0; j < 4; ++j) next[i * 4 + j] = v[j];
    }
    return;
  }
  [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
    uvec2 at = b_place(i) + corner;
    next[i] = 0.0;
    if (at.x < n && at.y < k_to) {
      uint from = kIsImage ? pixel_of(base, origins[i], window_of(at.y))
                           : base + at.y * b_k + at.x * b_n;
      if (from != OUTSIDE) next[i] = b_at(from);
    }
  }
}

void store_a(float next[kALoads]) {
  if (kAIsWide) {
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
    uvec2 at = kBIsWide ? b_place(i / 4) + uvec2(0, i % 4) : b_place(i);
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
    [[unroll]] for (uint j = 0; j < 4; j += kPerWord) {
      uint ni = n0 + column * 4 + j;
      if (mi >= m || ni >= n) continue;
      float values[2];
      [[unroll]] for (uint e = 0; e < kPerWord; ++e) {
        float sum = sums[i][j + e];
        if (A_KIND == BYTES || A_KIND == WIDE_BYTES) sum *= scales_[z % inner * m + mi];
        if (B_KIND == BYTES || B_KIND == WIDE_BYTES) sum *= scales_[min(ni + e, n - 1)];
        values[e] = sum;
      }
      finish(gl_WorkGroupID.z, mi, ni, values);
    }
  }
}
