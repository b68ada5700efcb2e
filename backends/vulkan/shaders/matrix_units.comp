#version 450
// Products of matrices by matrix units: the same as gemm.comp with ROUNDS, for devices with
// VK_KHR_cooperative_matrix. Factors are float16, sums are float32.
//
// A workgroup makes a tile of kM x kN elements. Tiles of both factors, kK deep, become float16 on
// their way to shared memory, which holds two of each: while one is computed with, the next is
// loaded. A subgroup makes kDown x kAcross fragments of 16 x 16. A fragment does not say which of its
// elements an invocation has, so sums are finished by way of shared memory, where the tile of the
// first factor was: 256 words for each subgroup, which it has room for.

#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "halves.glsl"
#include "product.glsl"

layout(constant_id = 12) const uint kK = 32;
layout(constant_id = 13) const uint kDown = 2;
layout(constant_id = 14) const uint kAcross = 2;
layout(constant_id = 15) const uint kSubgroups = 4;  // kM * kN / (256 * kDown * kAcross)

layout(binding = 1) readonly buffer APacked { uvec4 a_packed_[]; };
layout(binding = 2) readonly buffer BPacked { uvec4 b_packed_[]; };
layout(binding = 1) readonly buffer AHalves { uvec2 a_halves_[]; };
layout(binding = 2) readonly buffer BHalves { uvec2 b_halves_[]; };

// Elements go to shared memory eight at a time where they follow each other along k, and four at a
// time along n. Rows are eight longer than needed, so that fragments do not lie in few banks.
const bool kBAlongK = B_KIND == BY_ROW || B_KIND == WIDE_BY_ROW || B_KIND == PACKED;
const uint kRow = kK / 8 + 1, kBRow = kN / 4 + 2;
const uint kALoads = kM * kK / 8 / kThreads;  // Per thread.
const uint kBLoads = kBAlongK ? kN * kK / 8 / kThreads : 1;
const uint kBQuads = kBAlongK ? 1 : kN * kK / 4 / kThreads;  // Eight at most.
// What eight elements along k take, in four words each.
const uint kAWords = A_KIND == PACKED ? 1 : 2, kBWords = B_KIND == PACKED ? 1 : 2;

shared uvec4 a_tile[2 * kM * kRow];
shared uvec4 b_tile[kBAlongK ? 2 * kN * kRow : 1];
shared uvec2 b_quads[kBAlongK ? 1 : 2 * kK * kBRow];

// What a thread has loaded for the next step, as it came: it waits for memory only when it needs it,
// so all accesses are under way at once. Places outside a matrix are replaced by the first one.
struct Next {
  uvec4 a[kALoads * kAWords];
  uvec4 b[kBLoads * kBWords];
  vec4 quads[kBQuads];
  uint inside;  // Of the image: a bit for each element.
};

// Which (row, k) load number i of a thread is, of elements along k.
uvec2 place_of(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  return uvec2(at / (kK / 8), at % (kK / 8) * 8);
}
// Which (column, k), of elements along n. The column is the same for all i.
uvec2 quad_place_of(uint i) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  return uvec2(at % (kN / 4) * 4, at / (kN / 4));
}

// Four elements that follow each other.
uvec4 a_quad(uint at) {
  return floatBitsToUint(IS_HALF(1) ? unpacked(a_halves_[at]) : a_wide_[at]);
}
uvec4 b_quad(uint at) {
  return floatBitsToUint(IS_HALF(2) ? unpacked(b_halves_[at]) : b_wide_[at]);
}

// Eight elements along k, of a row that begins at `row`.
void load_a(uint row, uint at, uint k_to, uint i, inout Next next) {
  uint from = row + at * a_k;
  if (A_KIND == PACKED) {
    next.a[i] = a_packed_[at < k_to ? from / 8 : 0];
  } else if (A_KIND == WIDE_BY_ROW) {
    next.a[i * 2] = a_quad(at < k_to ? from / 4 : 0);
    next.a[i * 2 + 1] = a_quad(at + 4 < k_to ? from / 4 + 1 : 0);
  } else {
    [[unroll]] for (uint j = 0; j < 8; ++j) {
      next.a[i * 2 + j / 4][j % 4] = ELEMENT(a_, 1, at + j < k_to ? from + j * a_k : 0);
    }
  }
}
void load_b(uint row, uint at, uint k_to, uint i, inout Next next) {
  uint from = row + at * b_k;
  if (B_KIND == PACKED) {
    next.b[i] = b_packed_[at < k_to ? from / 8 : 0];
  } else if (B_KIND == WIDE_BY_ROW) {
    next.b[i * 2] = b_quad(at < k_to ? from / 4 : 0);
    next.b[i * 2 + 1] = b_quad(at + 4 < k_to ? from / 4 + 1 : 0);
  } else {
    [[unroll]] for (uint j = 0; j < 8; ++j) {
      next.b[i * 2 + j / 4][j % 4] = ELEMENT(b_, 2, at + j < k_to ? from + j * b_k : 0);
    }
  }
}

// Four elements along n.
void load_quad(uint base, uint ni, uint at, uint k_to, ivec3 origins[4], uint i,
               inout Next next) {
  uint from = base + at * b_k + ni * b_n;
  if (B_KIND == WIDE_BY_COLUMN) {
    next.quads[i] = uintBitsToFloat(b_quad(at < k_to && ni < n ? from / 4 : 0));
  } else if (kIsImage) {
    ivec4 in_window = window_of(at);
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      uint pixel = pixel_of(base, origins[j], in_window);
      bool inside = pixel != OUTSIDE && at < k_to;
      next.quads[i][j] = FLOAT(b_, 2, inside ? pixel : 0);
      next.inside = bitfieldInsert(next.inside, uint(inside), int(i * 4 + j), 1);
    }
  } else {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      next.quads[i][j] = FLOAT(b_, 2, at < k_to && ni + j < n ? from + j * b_n : 0);
    }
  }
}

void load(uint a_base, uint b_base, uvec2 corner, uint k0, uint k_to, ivec3 origins[4],
          out Next next) {
  next.inside = 0;
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = place_of(i) + uvec2(corner.x, k0);
    load_a(a_base + min(at.x, m - 1) * a_m, at.y, k_to, i, next);
  }
  if (kBAlongK) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
      uvec2 at = place_of(i) + uvec2(corner.y, k0);
      load_b(b_base + min(at.x, n - 1) * b_n, at.y, k_to, i, next);
    }
  } else {
    [[unroll]] for (uint i = 0; i < kBQuads; ++i) {
      uvec2 at = quad_place_of(i) + uvec2(corner.y, k0);
      load_quad(b_base, at.x, at.y, k_to, origins, i, next);
    }
  }
}

// Eight elements of which those from k_to on are zero.
uvec4 packed_up_to(uint k_to, uint at, uvec4 low, uvec4 high) {
  vec4 x = uintBitsToFloat(low), y = uintBitsToFloat(high);
  if (at + 8 > k_to) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (at + j >= k_to) x[j] = 0.0;
      if (at + 4 + j >= k_to) y[j] = 0.0;
    }
  }
  return uvec4(packed(x), packed(y));
}

// Products of what is beyond k are zero; rows and columns beyond m and n come to nothing.
void store(uint which, uint k0, uint k_to, Next next) {
  [[unroll]] for (uint i = 0; i < kALoads; ++i) {
    uvec2 at = place_of(i);
    uint k_at = k0 + at.y;
    a_tile[(which * kM + at.x) * kRow + at.y / 8] =
        A_KIND == PACKED ? (k_at < k_to ? next.a[i] : uvec4(0))
                         : packed_up_to(k_to, k_at, next.a[i * kAWords],
                                        next.a[i * kAWords + kAWords - 1]);
  }
  if (kBAlongK) {
    [[unroll]] for (uint i = 0; i < kBLoads; ++i) {
      uvec2 at = place_of(i);
      uint k_at = k0 + at.y;
      b_tile[(which * kN + at.x) * kRow + at.y / 8] =
          B_KIND == PACKED ? (k_at < k_to ? next.b[i] : uvec4(0))
                           : packed_up_to(k_to, k_at, next.b[i * kBWords],
                                          next.b[i * kBWords + kBWords - 1]);
    }
  } else {
    [[unroll]] for (uint i = 0; i < kBQuads; ++i) {
      uvec2 at = quad_place_of(i);
      bool in_k = k0 + at.y < k_to;
      vec4 x = next.quads[i];
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        if (kIsImage ? bitfieldExtract(next.inside, int(i * 4 + j), 1) == 0u : !in_k) x[j] = 0.0;
      }
      b_quads[(which * kK + at.y) * kBRow + at.x / 4] = packed(x);
    }
  }
}

void main() {
  uint z = gl_WorkGroupID.z / PARTS;
  uint k_from = gl_WorkGroupID.z % PARTS * part;
  uint k_to = min(k, k_from + part);
  uint a_base = z / inner * a_outer + z % inner * a_inner;
  uint b_base = z / inner * b_outer + z % inner * b_inner;
  uvec2 corner = uvec2(gl_WorkGroupID.y * kM, gl_WorkGroupID.x * kN);
  const uint kSubgroupsAcross = kN / (16 * kAcross);
  uint row0 = gl_SubgroupID / kSubgroupsAcross * 16 * kDown;
  uint column0 = gl_SubgroupID % kSubgroupsAcross * 16 * kAcross;

  ivec3 origins[4];
  if (kIsImage) {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      origins[j] = origin_of(corner.y + quad_place_of(0).x + j);
    }
  }
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sums[kDown * kAcross];
  [[unroll]] for (uint i = 0; i < kDown * kAcross; ++i) {
    sums[i] = coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
  }
  Next next;
  load(a_base, b_base, corner, k_from, k_to, origins, next);
  store(0, k_from, k_to, next);
  barrier();
  uint which = 0;
  for (uint k0 = k_from; k0 < k_to; k0 += kK) {
    bool goes_on = k0 + kK < k_to;
    if (goes_on) load(a_base, b_base, corner, k0 + kK, k_to, origins, next);
    [[unroll]] for (uint at = 0; at < kK; at += 16) {
      coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> as[kDown];
      [[unroll]] for (uint i = 0; i < kDown; ++i) {
        coopMatLoad(as[i], a_tile, (which * kM + row0 + i * 16) * kRow + at / 8, kRow,
                    gl_CooperativeMatrixLayoutRowMajor);
      }
      [[unroll]] for (uint j = 0; j < kAcross; ++j) {
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b;
        if (kBAlongK) {
          coopMatLoad(b, b_tile, (which * kN + column0 + j * 16) * kRow + at / 8, kRow,
                      gl_CooperativeMatrixLayoutColumnMajor);
        } else {
          coopMatLoad(b, b_quads, (which * kK + at) * kBRow + (column0 + j * 16) / 4, kBRow,
                      gl_CooperativeMatrixLayoutRowMajor);
        }
        [[unroll]] for (uint i = 0; i < kDown; ++i) {
          sums[i * kAcross + j] = coopMatMulAdd(as[i], b, sums[i * kAcross + j]);
        }
      }
    }
    which = 1 - which;
    if (goes_on) store(which, k0 + kK, k_to, next);
    barrier();
  }

  uint staging = gl_SubgroupID * 64;
  [[unroll]] for (uint i = 0; i < kDown * kAcross; ++i) {
    coopMatStore(sums[i], a_tile, staging, 4, gl_CooperativeMatrixLayoutRowMajor);
    subgroupBarrier();
    uint m0 = corner.x + row0 + i / kAcross * 16, n0 = corner.y + column0 + i % kAcross * 16;
    for (uint at = gl_SubgroupInvocationID; at < 256 / kPerWord; at += gl_SubgroupSize) {
      uint e = at * kPerWord, mi = m0 + e / 16, ni = n0 + e % 16;
      if (mi >= m || ni >= n) continue;
      float values[2];
      [[unroll]] for (uint j = 0; j < kPerWord; ++j) {
        values[j] = uintBitsToFloat(a_tile[staging + e / 4][e % 4 + j]);
      }
      finish(gl_WorkGroupID.z, mi, ni, values);
    }
    subgroupBarrier();
  }
}
