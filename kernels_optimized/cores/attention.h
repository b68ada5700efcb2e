// Attention of one head: out = softmax(scale * query key^T + mask) value, by blocks of queries. The
// scores of a block stay in the cache between the product with the keys, the softmax and the
// product with the values, and nobody else needs memory for them.

#pragma once

#include <cstdint>

#include "kernels_optimized/cores/gemm.h"

namespace taper::optimized {

struct AttentionHead {
  int64_t keys = 0;
  int64_t elements = 0;  // Of a query and of a key.
  int64_t width = 0;     // Of a value.
  float scale = 1;
  FloatMatrix query;  // [queries, elements], with contiguous rows.
  FloatMatrix key;    // [elements, keys]
  FloatMatrix value;  // [keys, width]
  FloatMatrix mask;   // [queries, keys]; null if there is none. A stride may be 0.
  float* out = nullptr;
  int64_t out_stride = 0;           // Of its rows, which are contiguous.
  Panels key_panels, value_panels;  // All keys and values, if it pays to pack them.
  // If not negative: query i sees only keys 0 to causal_start + i.
  int64_t causal_start = -1;
  // What queries get that see no key: zeros, or NaN as a softmax gives them.
  bool blind_is_zero = false;
};

// True if that many queries pay for packing keys and values.
bool attention_packs(int64_t queries);
// The queries of a block if there are `queries` in all.
int64_t attention_block(int64_t queries, int64_t keys);

// Computes queries [first, first + count). `scores` has count * keys floats; `scratch` is used for
// products that are not packed ahead and may be empty. Returns false, having written nothing, if
// this processor has no vector form.
bool attend(const AttentionHead& head, int64_t first, int64_t count, float* scores,
            Span<float> scratch);

}  // namespace taper::optimized
