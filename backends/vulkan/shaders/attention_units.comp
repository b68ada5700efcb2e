#version 450
// Attention by matrix units: the same as attention.comp with ROUNDS, for devices with
// VK_KHR_cooperative_matrix and heads of at most 128 elements.
//
// A subgroup computes 16 queries of a head, a workgroup those of its subgroups. It goes over the
// keys kK at a time. A fragment does not say which of its elements an invocation has, so scores go
// through shared memory: kLanes lanes have a row of them each, and keep the largest score so far
// and a part of the sum of its weights. Where a larger score comes, the sums of values are
// multiplied by a fragment whose rows hold by how much they shrink.

#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "attention.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kThreads = 128;
layout(constant_id = 1) const uint kSubgroups = 4;
layout(constant_id = 2) const uint kDepth = 64;  // Of keys, a multiple of 16.
layout(constant_id = 3) const uint kWidth = 64;  // Of values.
layout(constant_id = 5) const uint WIDE = 0;     // Whether rows are read four elements at a time.
layout(binding = 1) readonly buffer QueriesWide { vec4 queries_wide_[]; };
layout(binding = 2) readonly buffer KeysWide { vec4 keys_wide_[]; };
layout(binding = 3) readonly buffer ValuesWide { vec4 values_wide_[]; };
layout(binding = 1) readonly buffer QueriesPacked { uvec2 queries_packed_[]; };
layout(binding = 2) readonly buffer KeysPacked { uvec2 keys_packed_[]; };
layout(binding = 3) readonly buffer ValuesPacked { uvec2 values_packed_[]; };

const uint kK = 32;
const uint kQ = 16 * kSubgroups;
const uint kLanes = kThreads / kSubgroups / 16;  // Of a row of scores.
const uint kKeys = kK / kLanes;                  // Of a lane.
// Rows of float16, eight in each element, are longer than needed so that they lie in other banks.
const uint kKeyRow = kDepth / 8 + 1, kValueRow = kWidth / 8 + 1, kWeightRow = kK / 8 + 1;
const uint kScoreRow = kK / 4 + 1;  // Four in each.
const uint kMasks = kQ * kK / kThreads;  // That a thread reads.
const bool kHasMask = MASK == ADDED || MASK == CHOICE;

shared uvec4 weights[kQ * (kKeyRow > kWeightRow ? kKeyRow : kWeightRow)];  // At first, of queries.
shared uvec4 k_tile[kK * kKeyRow];
shared uvec4 v_tile[kK * kValueRow];
shared vec4 scores[kQ * kScoreRow];
shared float masks[kHasMask ? kQ * (kK + 4) : 1];  // What is added to scores.
shared float of_lanes[kThreads];
shared uint some_key_counts;

uvec4 halves_of(float x[8]) {
  return uvec4(packed(vec4(x[0], x[1], x[2], x[3])), packed(vec4(x[4], x[5], x[6], x[7])));
}

// Fills a tile of `rows` rows with elements of a tensor, from row r0 on; what is beyond its `count`
// rows of `length` elements is zero. All loads are under way at once.
#define LOAD(tile, rows, columns, from, binding_, base, row, r0, count, length)                \
  [[unroll]] for (uint first_ = 0; first_ < (rows) * ((columns) / 8); first_ += kThreads) {    \
    uint e = first_ + gl_LocalInvocationID.x;                                                  \
    uint r = e / ((columns) / 8), c = e % ((columns) / 8) * 8;                                 \
    bool inside = (r0) + r < (count);                                                          \
    uint at = (base) + (inside ? (r0) + r : 0u) * (row) + c;                                   \
    uvec4 eight;                                                                               \
    if (WIDE != 0u) {                                                                          \
      uint low = c < (length) ? at / 4 : 0u, high = c + 4 < (length) ? at / 4 + 1 : 0u;        \
      if (IS_HALF(binding_)) {                                                                 \
        eight = uvec4(from##packed_[low], from##packed_[high]);                                \
      } else {                                                                                 \
        eight = uvec4(packed(from##wide_[low]), packed(from##wide_[high]));                    \
      }                                                                                        \
      if (c >= (length)) eight.xy = uvec2(0);                                                  \
      if (c + 4 >= (length)) eight.zw = uvec2(0);                                              \
    } else {                                                                                   \
      float x[8];                                                                              \
      [[unroll]] for (uint j = 0; j < 8; ++j) {                                                \
        x[j] = c + j < (length) ? FLOAT(from, binding_, at + j) : 0.0;                         \
      }                                                                                        \
      eight = halves_of(x);                                                                    \
    }                                                                                          \
    if (e < (rows) * ((columns) / 8)) {                                                        \
      tile[r * ((columns) / 8 + 1) + e % ((columns) / 8)] = inside ? eight : uvec4(0);         \
    }                                                                                          \
  }

void main() {
  uint z = gl_WorkGroupID.y, batch = z / heads, head = z % heads;
  uint q0 = gl_WorkGroupID.x * kQ;
  uint q_base = q_first + batch * q_batch + head * q_head;
  uint k_base = k_first + batch * k_batch + head / group * k_head;
  uint v_base = v_first + batch * v_batch + head / group * v_head;
  uint mask_base = batch * mask_batch + head * mask_head;
  uint row0 = gl_SubgroupID * 16;
  uint row = row0 + gl_SubgroupInvocationID / kLanes;  // Of this lane, with the keys from:
  uint key0 = gl_SubgroupInvocationID % kLanes * kKeys;
  uint query = q0 + row;
  uint lane0 = gl_SubgroupID * 16 * kLanes + gl_SubgroupInvocationID / kLanes * kLanes;
  uint lane = lane0 + gl_SubgroupInvocationID % kLanes;

  LOAD(weights, kQ, kDepth, queries_, 1, q_base, q_row, q0, queries, depth)
  barrier();
  coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> qs[kDepth / 16];
  [[unroll]] for (uint d = 0; d < kDepth / 16; ++d) {
    coopMatLoad(qs[d], weights, row0 * kKeyRow + d * 2, kKeyRow, gl_CooperativeMatrixLayoutRowMajor);
  }
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sums[kWidth / 16];
  [[unroll]] for (uint i = 0; i < kWidth / 16; ++i) {
    sums[i] = coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
  }
  float top = -INFINITY, total = 0.0;

  uint end = MASK == CAUSAL ? min(keys, q0 + kQ + first) : keys;
  for (uint k0 = 0; k0 < end; k0 += kK) {
    barrier();
    // Blocks that the mask leaves out are not read.
    if (kHasMask) {
      if (gl_LocalInvocationID.x == 0) some_key_counts = 0u;
      barrier();
      uint words[kMasks];
      [[unroll]] for (uint i = 0; i < kMasks; ++i) {
        uint e = i * kThreads + gl_LocalInvocationID.x;
        words[i] = ELEMENT(mask_, 4, mask_base + min(q0 + e / kK, queries - 1) * mask_row +
                                         min(k0 + e % kK, keys - 1) * mask_column);
      }
      bool counts = false;
      [[unroll]] for (uint i = 0; i < kMasks; ++i) {
        uint e = i * kThreads + gl_LocalInvocationID.x;
        float mask = MASK == ADDED ? uintBitsToFloat(words[i]) : words[i] != 0u ? 0.0 : -INFINITY;
        if (q0 + e / kK >= queries || k0 + e % kK >= keys) mask = -INFINITY;
        masks[e / kK * (kK + 4) + e % kK] = mask;
        counts = counts || mask != -INFINITY;
      }
      if (counts) some_key_counts = 1u;
      barrier();
      if (some_key_counts == 0u) continue;
    }
    LOAD(k_tile, kK, kDepth, keys_, 2, k_base, k_row, k0, keys, depth)
    LOAD(v_tile, kK, kWidth, values_, 3, v_base, v_row, k0, keys, width)
    barrier();

    [[unroll]] for (uint j = 0; j < kK / 16; ++j) {
      coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> products =
          coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
      [[unroll]] for (uint d = 0; d < kDepth / 16; ++d) {
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> ks;
        coopMatLoad(ks, k_tile, j * 16 * kKeyRow + d * 2, kKeyRow,
                    gl_CooperativeMatrixLayoutColumnMajor);
        products = coopMatMulAdd(qs[d], ks, products);
      }
      coopMatStore(products, scores, row0 * kScoreRow + j * 4, kScoreRow,
                   gl_CooperativeMatrixLayoutRowMajor);
    }
    subgroupBarrier();

    float s[kKeys];
    float most = top;
    [[unroll]] for (uint j = 0; j < kKeys; ++j) {
      float score = scores[row * kScoreRow + (key0 + j) / 4][j % 4] * scale;
      if (kHasMask) {  // A score that does not count may be NaN.
        float mask = masks[row * (kK + 4) + key0 + j];
        s[j] = MASK == CHOICE && mask != 0.0 ? -INFINITY : score + mask;
      } else {
        s[j] = masked(score, mask_base, query, k0 + key0 + j);
      }
      most = max(most, s[j]);
    }
    of_lanes[lane] = most;
    subgroupBarrier();
    [[unroll]] for (uint i = 0; i < kLanes; ++i) most = max(most, of_lanes[lane0 + i]);
    float shrink = top == -INFINITY ? 0.0 : exp(top - most);
    top = most;
    total *= shrink;
    [[unroll]] for (uint j = 0; j < kKeys; j += 8) {
      float x[8];
      [[unroll]] for (uint i = 0; i < 8; ++i) x[i] = weight_of(s[j + i], top);
      uvec4 eight = halves_of(x);
      vec4 low = unpacked(eight.xy), high = unpacked(eight.zw);
      total += dot(low + high, vec4(1.0));
      weights[row * kWeightRow + (key0 + j) / 8] = eight;
    }
    // All scores have been read.
    [[unroll]] for (uint i = 0; i < 4 / kLanes; ++i) {
      scores[row * kScoreRow + gl_SubgroupInvocationID % kLanes * (4 / kLanes) + i] = vec4(shrink);
    }
    subgroupBarrier();

    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> shrinks;
    coopMatLoad(shrinks, scores, row0 * kScoreRow, kScoreRow, gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint i = 0; i < kWidth / 16; ++i) sums[i] = sums[i] * shrinks;
    [[unroll]] for (uint j = 0; j < kK / 16; ++j) {
      coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> ws;
      coopMatLoad(ws, weights, row0 * kWeightRow + j * 2, kWeightRow,
                  gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint i = 0; i < kWidth / 16; ++i) {
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> vs;
        coopMatLoad(vs, v_tile, j * 16 * kValueRow + i * 2, kValueRow,
                    gl_CooperativeMatrixLayoutRowMajor);
        sums[i] = coopMatMulAdd(ws, vs, sums[i]);
      }
    }
    subgroupBarrier();
  }

  of_lanes[lane] = total;
  subgroupBarrier();
  [[unroll]] for (uint i = 1; i < kLanes; ++i) {
    total += of_lanes[lane0 + (gl_SubgroupInvocationID + i) % kLanes];
  }
  // A query that may look at no key gets zeros; without a mask all scores of -inf give NaN.
  bool is_empty = total == 0.0 && (MASK != NO_MASK || keys == 0u);
  bool in_quads = ((width | out_batch | out_head | out_row) & 3u) == 0u;
  uint to = batch * out_batch + head * out_head + query * out_row;
  [[unroll]] for (uint i = 0; i < kWidth / 16; ++i) {
    subgroupBarrier();
    coopMatStore(sums[i], scores, row0 * kScoreRow, kScoreRow, gl_CooperativeMatrixLayoutRowMajor);
    subgroupBarrier();
    [[unroll]] for (uint j = 0; j < 4 / kLanes; ++j) {
      uint c = gl_SubgroupInvocationID % kLanes * (4 / kLanes) + j;
      vec4 four = scores[row * kScoreRow + c];
      four = is_empty ? vec4(0.0) : four / total;
      uint at = i * 16 + c * 4;
      if (query >= queries || at >= width) continue;
      if (IS_HALF(0) && in_quads) {
        uvec2 halves = packed(four);
        out_[(to + at) / 2] = halves.x;
        out_[(to + at) / 2 + 1] = halves.y;
        continue;
      }
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        if (at + e < width) STORE(out_, 0, to + at + e, floatBitsToUint(four[e]))
      }
    }
  }
}
