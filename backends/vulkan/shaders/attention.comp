#version 450
// Attention: softmax(q k^T * scale + mask) v, for every head, without storing the scores.
//
// A workgroup computes a tile of kQ queries of one head. It goes over the keys kK at a time and
// keeps for each query the largest score so far, the sum of the weights relative to it, and the
// weighted sum of values: where a larger score comes, both sums are scaled down. Thread (row,
// column) of 16 x 16 has the queries row + 16 i, the keys column + 16 j, and the values column + 16
// j.
//
// Where there are few queries, several workgroups share the keys of a head: each stores its sums,
// its largest scores and its totals, which attention_parts.comp puts together.
//
// With ROUNDS the factors of both products are rounded to float16.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "attention.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kQ = 16;
layout(constant_id = 1) const uint kDepth = 64;    // How much of a key or a value is held at once.
layout(constant_id = 2) const uint kKeyParts = 1;  // Of kDepth elements.
layout(constant_id = 3) const uint kValueParts = 1;
layout(constant_id = 5) const uint SHARES = 0;     // Whether keys are shared; out is then the parts.
layout(constant_id = 6) const uint ROUNDS = 0;

const uint kK = 32;
const uint kThreads = 256;
const uint kRows = kQ / 16, kColumns = kK / 16;
const uint kWidth = kDepth / 16;  // Elements of a part per thread.
const uint kStride = kDepth + 1, kScoreStride = kK + 1;

shared float q_tile[kQ * kStride];
shared float k_tile[kK * kStride];  // Of keys, then of values.
shared float scores[kQ * kScoreStride];
shared uint some_key_counts;

float rounded(float x) { return ROUNDS != 0u ? as_half(x) : x; }

void load_queries(uint base, uint q0, uint from) {
  [[unroll]] for (uint e = 0; e < kQ * kDepth; e += kThreads) {
    uint at = e + gl_LocalInvocationID.x, r = at / kDepth, c = at % kDepth;
    bool inside = q0 + r < queries && from + c < depth;
    float x = inside ? FLOAT(queries_, 1, base + (q0 + r) * q_row + from + c) : 0.0;
    q_tile[r * kStride + c] = rounded(x);
  }
}

void load_keys(uint base, uint k0, uint from) {
  [[unroll]] for (uint e = 0; e < kK * kDepth; e += kThreads) {
    uint at = e + gl_LocalInvocationID.x, r = at / kDepth, c = at % kDepth;
    bool inside = k0 + r < keys && from + c < depth;
    float x = inside ? FLOAT(keys_, 2, base + (k0 + r) * k_row + from + c) : 0.0;
    k_tile[r * kStride + c] = rounded(x);
  }
}

void load_values(uint base, uint k0, uint from) {
  [[unroll]] for (uint e = 0; e < kK * kDepth; e += kThreads) {
    uint at = e + gl_LocalInvocationID.x, r = at / kDepth, c = at % kDepth;
    bool inside = k0 + r < keys && from + c < width;
    float x = inside ? FLOAT(values_, 3, base + (k0 + r) * v_row + from + c) : 0.0;
    k_tile[r * kStride + c] = rounded(x);
  }
}

// Whether the mask lets a query of this tile look at one of the keys from k0 on. Others are not
// read, such as places of a cache that are not filled yet.
bool is_block_seen(uint base, uint q0, uint k0) {
  if (MASK != ADDED && MASK != CHOICE) return true;
  barrier();
  if (gl_LocalInvocationID.x == 0) some_key_counts = 0u;
  barrier();
  uint column = gl_LocalInvocationID.x % 16, row = gl_LocalInvocationID.x / 16;
  [[unroll]] for (uint i = 0; i < kRows * kColumns; ++i) {
    uint query = q0 + row + 16 * (i / kColumns), key = k0 + column + 16 * (i % kColumns);
    if (masked(0.0, base, query, key) != -INFINITY) some_key_counts = 1u;
  }
  barrier();
  return some_key_counts != 0u;
}

void main() {
  uint z = gl_WorkGroupID.y, batch = z / heads, head = z % heads;
  uint q0 = gl_WorkGroupID.x * kQ;
  uint q_base = q_first + batch * q_batch + head * q_head;
  uint k_base = k_first + batch * k_batch + head / group * k_head;
  uint v_base = v_first + batch * v_batch + head / group * v_head;
  uint mask_base = batch * mask_batch + head * mask_head;
  uint column = gl_LocalInvocationID.x % 16, row = gl_LocalInvocationID.x / 16;

  float sums[kRows * kValueParts * kWidth];
  [[unroll]] for (uint i = 0; i < kRows * kValueParts * kWidth; ++i) sums[i] = 0.0;
  float tops[kRows], totals[kRows];
  [[unroll]] for (uint i = 0; i < kRows; ++i) {
    tops[i] = -INFINITY;
    totals[i] = 0.0;
  }

  uint end = MASK == CAUSAL ? min(keys, q0 + kQ + first) : keys;
  uint begin = SHARES != 0u ? gl_WorkGroupID.z * part_keys : 0u;
  if (SHARES != 0u) end = min(end, begin + part_keys);
  bool has_queries = false;
  for (uint k0 = begin; k0 < end; k0 += kK) {
    if (!is_block_seen(mask_base, q0, k0)) continue;
    float s[kRows * kColumns];
    [[unroll]] for (uint i = 0; i < kRows * kColumns; ++i) s[i] = 0.0;
    for (uint part = 0; part < kKeyParts; ++part) {
      barrier();
      if (kKeyParts > 1 || !has_queries) load_queries(q_base, q0, part * kDepth);
      load_keys(k_base, k0, part * kDepth);
      has_queries = true;
      barrier();
      [[unroll]] for (uint c = 0; c < kDepth; ++c) {
        float qs[kRows];
        [[unroll]] for (uint i = 0; i < kRows; ++i) qs[i] = q_tile[(row + 16 * i) * kStride + c];
        [[unroll]] for (uint j = 0; j < kColumns; ++j) {
          float k = k_tile[(column + 16 * j) * kStride + c];
          [[unroll]] for (uint i = 0; i < kRows; ++i) {
            s[i * kColumns + j] = fma(qs[i], k, s[i * kColumns + j]);
          }
        }
      }
    }

    [[unroll]] for (uint i = 0; i < kRows; ++i) {
      [[unroll]] for (uint j = 0; j < kColumns; ++j) {
        float score = masked(s[i * kColumns + j] * scale, mask_base, q0 + row + 16 * i,
                             k0 + column + 16 * j);
        s[i * kColumns + j] = score;
        scores[(row + 16 * i) * kScoreStride + column + 16 * j] = score;
      }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < kRows; ++i) {
      float top = tops[i];
      [[unroll]] for (uint k = 0; k < kK; ++k) {
        top = max(top, scores[(row + 16 * i) * kScoreStride + k]);
      }
      float shrink = tops[i] == -INFINITY ? 0.0 : exp(tops[i] - top);
      tops[i] = top;
      totals[i] *= shrink;
      [[unroll]] for (uint j = 0; j < kValueParts * kWidth; ++j) {
        sums[i * kValueParts * kWidth + j] *= shrink;
      }
      [[unroll]] for (uint j = 0; j < kColumns; ++j) {
        s[i * kColumns + j] = rounded(weight_of(s[i * kColumns + j], top));
      }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < kRows; ++i) {
      [[unroll]] for (uint j = 0; j < kColumns; ++j) {
        scores[(row + 16 * i) * kScoreStride + column + 16 * j] = s[i * kColumns + j];
      }
    }

    [[unroll]] for (uint part = 0; part < kValueParts; ++part) {
      if (part > 0) barrier();
      load_values(v_base, k0, part * kDepth);
      barrier();
      [[unroll]] for (uint k = 0; k < kK; ++k) {
        float weights[kRows];
        [[unroll]] for (uint i = 0; i < kRows; ++i) {
          weights[i] = scores[(row + 16 * i) * kScoreStride + k];
          if (part == 0) totals[i] += weights[i];
        }
        [[unroll]] for (uint j = 0; j < kWidth; ++j) {
          float v = k_tile[k * kStride + column + 16 * j];
          [[unroll]] for (uint i = 0; i < kRows; ++i) {
            uint at = (i * kValueParts + part) * kWidth + j;
            sums[at] = fma(weights[i], v, sums[at]);
          }
        }
      }
    }
  }

  [[unroll]] for (uint i = 0; i < kRows; ++i) {
    uint query = q0 + row + 16 * i;
    if (query >= queries) break;
    if (SHARES != 0u) {
      uint to = ((z * gl_NumWorkGroups.z + gl_WorkGroupID.z) * queries + query) * (width + 2);
      [[unroll]] for (uint j = 0; j < kValueParts * kWidth; ++j) {
        uint c = j / kWidth * kDepth + column + 16 * (j % kWidth);
        if (c < width) out_[to + c] = floatBitsToUint(sums[i * kValueParts * kWidth + j]);
      }
      if (column == 0) out_[to + width] = floatBitsToUint(tops[i]);
      if (column == 0) out_[to + width + 1] = floatBitsToUint(totals[i]);
      continue;
    }
    // A query that may look at no key gets zeros; without a mask all scores of -inf give NaN.
    bool is_empty = totals[i] == 0.0 && (MASK != NO_MASK || keys == 0u);
    uint to = batch * out_batch + head * out_head + query * out_row;
    [[unroll]] for (uint j = 0; j < kValueParts * kWidth; ++j) {
      uint c = j / kWidth * kDepth + column + 16 * (j % kWidth);
      float sum = sums[i * kValueParts * kWidth + j];
      if (c >= width) continue;
      STORE(out_, 0, to + c, floatBitsToUint(is_empty ? 0.0 : sum / totals[i]))
    }
  }
}
