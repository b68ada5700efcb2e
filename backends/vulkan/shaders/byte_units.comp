#version 450
// Products of integers of 8 bits by matrix units: the same numbers as those of gemm_bytes.comp, for
// devices with VK_KHR_cooperative_matrix for signed bytes and sums of int32.
//
// A workgroup makes a tile of kM x kN elements. Shared memory holds two tiles of each factor: while
// one is computed with, the next is loaded. A subgroup makes one fragment, whose size is the device's.
// Sums are finished by way of shared memory, as in matrix_units.comp.

#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "product.glsl"
#include "byte_product.glsl"

layout(constant_id = 14) const uint FRAGMENT = 0x201010;  // m, n and k, eight bits each.

const uint kFragmentM = FRAGMENT & 255u, kFragmentN = FRAGMENT >> 8 & 255u;
const uint kFragmentK = FRAGMENT >> 16;  // A multiple of 16.

#define A_FRAGMENT coopmat<int8_t, gl_ScopeSubgroup, kFragmentM, kFragmentK, gl_MatrixUseA>
#define B_FRAGMENT coopmat<int8_t, gl_ScopeSubgroup, kFragmentK, kFragmentN, gl_MatrixUseB>
#define SUMS coopmat<int, gl_ScopeSubgroup, kFragmentM, kFragmentN, gl_MatrixUseAccumulator>

// Rows of both lie along k, 16 bytes longer than needed, so that fragments do not lie in few banks.
const uint kRow = kWords / 4 + 1;
const uint kBegin = 2 * kM * kRow;  // Of the second factor.
shared uvec4 tiles[kBegin + 2 * kN * kRow];

// What a thread has loaded for the next step, as it came: it waits for memory only when it needs it.
struct Next {
  uvec4 a[kALoads], b[kBLoads];
};

void load(uint a_base, uint b_base, uvec2 corner, uint k0, uint k_to, ivec3 origins[kBLoads],
          out Next next) {
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = a_place_of(i);
    next.a[i] = load_a(a_base, corner.x + at.x, k0 + at.y * 4, k_to);
  }
  [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
    uvec2 at = b_place_of(i);
    next.b[i] = load_b(b_base, corner.y + at.x, k0 + at.y * 4, k_to, origins[i]);
  }
}

void store(uint which, Next next) {
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = a_place_of(i);
    tiles[(which * kM + at.x) * kRow + at.y / 4][at.y % 4] = a_word(i, next.a[i]);
  }
  [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
    uvec2 at = b_place_of(i);
    tiles[kBegin + (which * kN + at.x) * kRow + at.y / 4][at.y % 4] = b_word(i, next.b[i]);
  }
}

void main() {
  begin_bytes();
  uint z = gl_WorkGroupID.z / PARTS;
  uint k_from = gl_WorkGroupID.z % PARTS * part;
  uint k_to = min(k, k_from + part);
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uvec2 corner = uvec2(gl_WorkGroupID.y * kM, gl_WorkGroupID.x * kN);
  const uint kAcross = kN / kFragmentN;  // Subgroups in a row.
  uint row0 = gl_SubgroupID / kAcross * kFragmentM;
  uint column0 = gl_SubgroupID % kAcross * kFragmentN;

  ivec3 origins[kBLoads];
  if (kIsImage) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
      uint ni = corner.y + b_place_of(i).x;
      origins[i] = origin_of(ni < n ? ni : 0);
    }
  }
  SUMS sums = SUMS(0);
  Next next;
  load(a_base, b_base, corner, k_from, k_to, origins, next);
  store(0, next);
  barrier();
  uint which = 0;
  for (uint k0 = k_from; k0 < k_to; k0 += kWords * 4) {
    bool goes_on = k0 + kWords * 4 < k_to;
    if (goes_on) load(a_base, b_base, corner, k0 + kWords * 4, k_to, origins, next);
    [[unroll]] for (uint at = 0; at < kWords * 4; at += kFragmentK) {
      A_FRAGMENT a;
      B_FRAGMENT b;
      coopMatLoad(a, tiles, (which * kM + row0) * kRow + at / 16, kRow,
                  gl_CooperativeMatrixLayoutRowMajor);
      coopMatLoad(b, tiles, kBegin + (which * kN + column0) * kRow + at / 16, kRow,
                  gl_CooperativeMatrixLayoutColumnMajor);
      sums = coopMatMulAdd(a, b, sums);
    }
    which = 1 - which;
    if (goes_on) store(which, next);
    barrier();
  }
  add_up_bytes();

  const uint kElements = kFragmentM * kFragmentN;
  uint staging = gl_SubgroupID * kElements / 4;
  coopMatStore(sums, tiles, staging, kFragmentN / 4, gl_CooperativeMatrixLayoutRowMajor);
  subgroupBarrier();
  for (uint at = gl_SubgroupInvocationID; at < kElements / kPerWord; at += gl_SubgroupSize) {
    uint e = at * kPerWord;
    int pair[2];
    [[unroll]] for (uint j = 0; j < kPerWord; ++j) {
      pair[j] = int(tiles[staging + e / 4][e % 4 + j]);
    }
    finish_bytes(corner, row0 + e / kFragmentN, column0 + e % kFragmentN, pair);
  }
}
