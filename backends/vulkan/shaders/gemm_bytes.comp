#version 450
// Products of integers of 8 bits: the same as gemm.comp where one factor is bytes and the numbers of
// the other are known to stand for integers of 8 bits.
//
// A workgroup makes a tile of kM x kN elements, each thread 4 x 4 of them.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "product.glsl"
#include "byte_product.glsl"

const uint kAcross = kN / 4;  // Threads in a row.
// Rows are one longer than needed, so that a column does not lie in one bank.
const uint kARow = kM / 4 + 1, kBRow = kN / 4 + 1;
shared uvec4 a_tile[kWords * kARow];
shared uvec4 b_tile[kWords * kBRow];

void main() {
  begin_bytes();
  uint z = gl_WorkGroupID.z / PARTS;
  uint k_from = gl_WorkGroupID.z % PARTS * part;
  uint k_to = min(k, k_from + part);
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uvec2 corner = uvec2(gl_WorkGroupID.y * kM, gl_WorkGroupID.x * kN);
  uint thread = gl_LocalInvocationID.x;
  uint row = thread / kAcross, column = thread % kAcross;

  ivec3 origins[kBLoads];
  if (kIsImage) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
      uint ni = corner.y + b_place_of(i).x;
      origins[i] = origin_of(ni < n ? ni : 0);
    }
  }
  uint a_next[kALoads], b_next[kBLoads];
  ivec4 sums[4] = ivec4[](ivec4(0), ivec4(0), ivec4(0), ivec4(0));

  for (uint k0 = k_from; k0 < k_to + kWords * 4; k0 += kWords * 4) {
    // The tiles of k0 are loaded; those of the step before, which are in shared memory, are used.
    if (k0 < k_to) {
      [[unroll]] for (uint i = 0; i < kALoads; ++i) {
        uvec2 at = a_place_of(i);
        a_next[i] = a_word(i, load_a(a_base, corner.x + at.x, k0 + at.y * 4, k_to));
      }
      [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
        uvec2 at = b_place_of(i);
        b_next[i] = b_word(i, load_b(b_base, corner.y + at.x, k0 + at.y * 4, k_to, origins[i]));
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
        uvec2 at = a_place_of(i);
        a_tile[at.y * kARow + at.x / 4][at.x % 4] = a_next[i];
      }
      [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
        uvec2 at = b_place_of(i);
        b_tile[at.y * kBRow + at.x / 4][at.x % 4] = b_next[i];
      }
    }
    barrier();
  }
  add_up_bytes();

  [[unroll]] for (uint i = 0; i < 4; ++i) {
    [[unroll]] for (uint j = 0; j < 4; j += kPerWord) {
      int pair[2];
      [[unroll]] for (uint e = 0; e < kPerWord; ++e) pair[e] = sums[i][j + e];
      finish_bytes(corner, row * 4 + i, column * 4 + j, pair);
    }
  }
}
