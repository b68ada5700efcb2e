// Attention as attention.comp computes it.

#pragma once

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

// Where heads and rows of a tensor are, in elements; elements of a row are adjacent.
struct HeadStrides {
  int64_t batch = 0, head = 0, row = 0;
  int64_t first = 0;  // Where all of them begin; of the result: 0.
};

// out = softmax(q k^T * scale + mask) v, for each of `batch` x `heads`.
struct HeadProducts {
  Operand out, q, k, v, mask;
  bool has_mask = false;   // Floats are added to the scores, booleans choose the keys that count.
  bool in_half = false;    // Whether factors may be float16.
  bool is_causal = false;  // Query i looks at keys up to first + i; then there is no mask.
  int64_t batch = 1, heads = 1, group = 1;  // How many heads of q share one of k and v.
  int64_t queries = 0, keys = 0, depth = 0, width = 0, first = 0;
  int64_t most_keys = 0;  // If a number decides how many keys there are: how many there may be.
  double scale = 1;
  HeadStrides out_at, q_at, k_at, v_at, mask_at;
  int64_t mask_column = 0;
};

void attend(Call& call, const HeadProducts& p);

}  // namespace taper::vulkan
