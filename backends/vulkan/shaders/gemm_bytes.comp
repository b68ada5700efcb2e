#version 450
// Products of integers of 8 bits: the same as gemm.comp where one factor is bytes and the numbers of
// the other are known to stand for integers of 8 bits, for devices with VK_KHR_shader_integer_dot_product.
// Numbers become these integers on their way to shared memory, where a word holds four that follow
// each other along k. Sums are exact: they are multiplied by both scales at the end.
//
// A workgroup makes a tile of kM x kN elements, each thread 4 x 4 of them.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "product.glsl"

layout(constant_id = 12) const uint GRID = 0;   // 0: pushed, 1: scale and zero are tensors, and
                                                // the pushed zero is added to that.
layout(constant_id = 13) const uint kWords = 16;  // Of k at a time.

layout(binding = 1) readonly buffer ABytes { uint a_bytes_[]; };
layout(binding = 2) readonly buffer BBytes { uint b_bytes_[]; };
layout(binding = 5) readonly buffer Scales { float scales_[]; };
layout(binding = 6) readonly buffer GridScale { float grid_scale_[]; };
layout(binding = 7) readonly buffer GridZero { int grid_zero_[]; };

// OpSDot: the sum of products of four signed bytes; format 0 says that they are in words.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019],
                  id = 4450)
int dot_of_bytes(uint a, uint b, spirv_literal int format);

const bool kAHasBytes = A_KIND == BYTES || A_KIND == WIDE_BYTES;
const uint kALoads = kM * kWords / kThreads, kBLoads = kN * kWords / kThreads;  // Per thread.
const uint kAcross = kN / 4;  // Threads in a row.
// Rows are one longer than needed, so that a column does not lie in one bank.
const uint kARow = kM / 4 + 1, kBRow = kN / 4 + 1;
shared uvec4 a_tile[kWords * kARow];
shared uvec4 b_tile[kWords * kBRow];
// Sums of the bytes of each row of that factor.
shared int byte_sums[kAHasBytes ? kM : kN];

float inverse, scale;
int zero;

// Four numbers as the integers that they stand for.
uint integers_of(vec4 x) {
  ivec4 q = clamp(ivec4(roundEven(x * inverse)) + zero, -128, 127) & 255;
  return uint(q.x | q.y << 8 | q.z << 16 | q.w << 24);
}

// Which elements of a tile load number i of a thread is: (row or column, word of k). They follow each
// other along k, or along n.
uvec2 place_of(uint i, uint rows, bool is_along_k) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  return is_along_k ? uvec2(at / kWords, at % kWords) : uvec2(at % rows, at / rows);
}
const bool kBAlongK = B_KIND == BY_ROW || B_KIND == WIDE_BY_ROW || B_KIND == BYTES ||
                      B_KIND == WIDE_BYTES;

uint bytes_of_a(uint from, uint at, uint k_to) {
  if (A_KIND == WIDE_BYTES) return at < k_to ? a_bytes_[from / 4] : 0u;
  uint word = 0;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint byte_ = at + j < k_to ? a_bytes_[(from + j) / 4] >> 8 * ((from + j) % 4) & 255u : 0u;
    word |= byte_ << 8 * j;
  }
  return word;
}
uint bytes_of_b(uint from, uint at, uint k_to) {
  if (B_KIND == WIDE_BYTES) return at < k_to ? b_bytes_[from / 4] : 0u;
  uint word = 0;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint byte_ = at + j < k_to ? b_bytes_[(from + j) / 4] >> 8 * ((from + j) % 4) & 255u : 0u;
    word |= byte_ << 8 * j;
  }
  return word;
}

// Numbers beyond k are multiplied by bytes that are zero.
vec4 numbers_of_a(uint from, uint at, uint k_to) {
  if (A_KIND == WIDE_BY_ROW) return a_wide_[at < k_to ? from / 4 : 0];
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = uintBitsToFloat(a_[at + j < k_to ? from + j * a_k : 0]);
  }
  return x;
}
vec4 numbers_of_b(uint base, uint ni, uint at, uint k_to, ivec3 origin) {
  uint from = base + at * b_k + ni * b_n;
  if (B_KIND == WIDE_BY_ROW) return b_wide_[at < k_to ? from / 4 : 0];
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint pixel = kIsImage ? pixel_of(base, origin, window_of(at + j)) : from + j * b_k;
    bool is_inside = at + j < k_to && pixel != OUTSIDE;
    x[j] = is_inside ? uintBitsToFloat(b_[pixel]) : 0.0;
  }
  return x;
}

// Of rows and columns beyond m and n, which are not stored, the first one is read.
uint load_a(uint base, uint mi, uint at, uint k_to) {
  uint from = base + (mi < m ? mi : 0) * a_m + at * a_k;
  return kAHasBytes ? bytes_of_a(from, at, k_to) : integers_of(numbers_of_a(from, at, k_to));
}
uint load_b(uint base, uint ni, uint at, uint k_to, ivec3 origin) {
  uint column = ni < n ? ni : 0;
  if (!kAHasBytes) return bytes_of_b(base + at * b_k + column * b_n, at, k_to);
  return integers_of(numbers_of_b(base, column, at, k_to, origin));
}

void main() {
  inverse = GRID == 0u ? grid.inverse : 1.0 / grid_scale_[0];
  scale = GRID == 0u ? grid.scale : grid_scale_[0];
  zero = GRID == 0u ? grid.zero : grid.zero + grid_zero_[0];
  uint z = gl_WorkGroupID.z / PARTS;
  uint k_from = gl_WorkGroupID.z % PARTS * part;
  uint k_to = min(k, k_from + part);
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uint m0 = gl_WorkGroupID.y * kM, n0 = gl_WorkGroupID.x * kN;
  uint thread = gl_LocalInvocationID.x;
  uint row = thread / kAcross, column = thread % kAcross;
  for (uint i = thread; i < byte_sums.length(); i += kThreads) byte_sums[i] = 0;

  ivec3 origins[kBLoads];
  if (kIsImage) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
      uint ni = n0 + place_of(i, kN, kBAlongK).x;
      origins[i] = origin_of(ni < n ? ni : 0);
    }
  }
  uint a_next[kALoads], b_next[kBLoads];
  int sums_of_loads[kAHasBytes ? kALoads : kBLoads];
  [[unroll]] for (uint i = 0; i < sums_of_loads.length(); ++i) sums_of_loads[i] = 0;
  ivec4 sums[4] = ivec4[](ivec4(0), ivec4(0), ivec4(0), ivec4(0));

  for (uint k0 = k_from; k0 < k_to + kWords * 4; k0 += kWords * 4) {
    // The tiles of k0 are loaded; those of the step before, which are in shared memory, are used.
    if (k0 < k_to) {
      [[unroll]] for (uint i = 0; i < kALoads; ++i) {
        uvec2 at = place_of(i, kM, true);
        a_next[i] = load_a(a_base, m0 + at.x, k0 + at.y * 4, k_to);
      }
      [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
        uvec2 at = place_of(i, kN, kBAlongK);
        b_next[i] = load_b(b_base, n0 + at.x, k0 + at.y * 4, k_to, origins[i]);
      }
      [[unroll]] for (uint i = 0; i < sums_of_loads.length(); ++i) {
        sums_of_loads[i] += dot_of_bytes(kAHasBytes ? a_next[i] : b_next[i], 0x01010101u, 0);
      }
    }
    if (k0 != k_from) {
      [[unroll]] for (uint word = 0; word < kWords; ++word) {
        uvec4 as = a_tile[word * kARow + row];
        uvec4 bs = b_tile[word * kBRow + column];
        [[unroll]] for (uint i = 0; i < 4; ++i) {
          [[unroll]] for (uint j = 0; j < 4; ++j) sums[i][j] += dot_of_bytes(as[i], bs[j], 0);
        }
      }
    }
    barrier();
    if (k0 < k_to) {
      [[unroll]] for (uint i = 0; i < kALoads; ++i) {
        uvec2 at = place_of(i, kM, true);
        a_tile[at.y * kARow + at.x / 4][at.x % 4] = a_next[i];
      }
      [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
        uvec2 at = place_of(i, kN, kBAlongK);
        b_tile[at.y * kBRow + at.x / 4][at.x % 4] = b_next[i];
      }
    }
    barrier();
  }
  [[unroll]] for (uint i = 0; i < sums_of_loads.length(); ++i) {
    atomicAdd(byte_sums[place_of(i, kAHasBytes ? kM : kN, true).x], sums_of_loads[i]);
  }
  barrier();

  [[unroll]] for (uint i = 0; i < 4; ++i) {
    uint mi = m0 + row * 4 + i;
    [[unroll]] for (uint j = 0; j < 4; j += kPerWord) {
      uint ni = n0 + column * 4 + j;
      if (mi >= m || ni >= n) continue;
      float values[2];
      [[unroll]] for (uint e = 0; e < kPerWord; ++e) {
        int sum = sums[i][j + e] - zero * byte_sums[kAHasBytes ? row * 4 + i : column * 4 + j + e];
        float by = scale * scales_[kAHasBytes ? z % inner * m + mi : min(ni + e, n - 1)];
        values[e] = float(sum) * by;
      }
      finish(gl_WorkGroupID.z, mi, ni, values);
    }
  }
}
