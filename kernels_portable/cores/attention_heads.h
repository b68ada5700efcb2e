// taper::attention.out: what it computes, and how its operands lie.
//
//     out = softmax(scale * query key^T + mask) value          for each head
//
//   Inputs    query [..., heads, queries, elements], key [..., key heads, keys, elements],
//             value [..., key heads, keys, width], all float32. Head h of the query
//             reads key head h / (heads / key heads). Tensors of two dimensions are one head.
//             mask broadcasts to [..., heads, queries, keys], or none. causal: query i sees only
//             keys 0 to i; not with a mask.
//   Result    [..., heads, queries, width]. A query that sees no key, because of the mask or since
//             there are none, yields zeros; without a mask, NaN if all its scores are -inf.
//   Semantics torch.nn.functional.scaled_dot_product_attention.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

struct AttentionHeads {
  int64_t matrices = 1;  // Heads of the query, over all leading dimensions.
  int64_t sharing = 1;   // How many consecutive ones share keys and values.
  int64_t queries = 0, keys = 0, elements = 0, width = 0;
  // Of the mask, if there is one: the steps of queries and of keys, 0 where it repeats.
  int64_t mask_row = 0, mask_column = 0;
};

// Checks the operands, resizes `out`, and sets `heads`.
Status check_heads(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                   bool causal, Tensor& out, AttentionHeads* heads);

// The element of the mask at which the rows of matrix `matrix` of the query begin.
int64_t mask_offset(const Tensor& mask, const Tensor& query, int64_t matrix);

}  // namespace taper::portable
