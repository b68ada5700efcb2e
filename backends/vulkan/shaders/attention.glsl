// What shaders of attention share: tensors, sizes, masks and weights.

#include "halves.glsl"

layout(constant_id = 4) const uint MASK = 0;

const uint NO_MASK = 0u;
const uint ADDED = 1u;   // To the scores.
const uint CHOICE = 2u;  // Of the keys that count.
const uint CAUSAL = 3u;  // Keys up to the query's own place count.

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Queries { uint queries_[]; };
layout(binding = 2) readonly buffer Keys { uint keys_[]; };
layout(binding = 3) readonly buffer Values { uint values_[]; };
layout(binding = 4) readonly buffer Mask { uint mask_[]; };

layout(push_constant) uniform Push {
  uint queries, keys;
  uint depth, width;        // Elements of a key, of a value.
  uint heads, group;        // Heads of q; how many of them share one of k and v.
  uint first;               // The place of the first query, for CAUSAL.
  float scale;
  uint q_batch, q_head, q_row;  // Strides, in elements.
  uint k_batch, k_head, k_row;
  uint v_batch, v_head, v_row;
  uint out_batch, out_head, out_row;
  uint mask_batch, mask_head, mask_row, mask_column;
  uint part_keys;  // Of a workgroup, with SHARES.
  uint q_first, k_first, v_first;  // Where they begin.
};

float masked(float score, uint base, uint query, uint key) {
  if (key >= keys || query >= queries) return -INFINITY;
  if (MASK == CAUSAL) return key <= query + first ? score : -INFINITY;
  if (MASK == NO_MASK) return score;
  uint word = ELEMENT(mask_, 4, base + query * mask_row + key * mask_column);
  if (MASK == CHOICE) return word != 0u ? score : -INFINITY;
  return score + uintBitsToFloat(word);
}

// exp(score - top); NaN stays, and where all scores are -inf no weight is given.
float weight_of(float score, float top) {
  if (is_nan(score)) return score;
  return score == -INFINITY ? 0.0 : exp(score - top);
}
