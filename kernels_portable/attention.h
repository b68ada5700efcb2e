// Attention over a cache of keys and values, as the operators of the namespace llama define it.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// All tensors are [batch, position, head, element] and contiguous. Query head h reads key head
// h / (heads of query / heads of key).
struct Attention {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  int64_t start;       // The position of the first query; keys [0, start + queries) are there.
  const Tensor* mask;  // Null, or [queries, keys] to be added to the scores.
  bool causal;         // Query i sees keys up to start + i alone.
  std::optional<double> scale;  // 1 / sqrt(elements) if absent.
};

// out = softmax(query x key^T * scale + mask) x value. A query that sees nothing yields zeros.
Status attend(const Attention& attention, Tensor& out);

// Copies the positions of `value` into `cache`, from position `start` on.
Status update_cache(const Tensor& value, int64_t start, Tensor& cache);

}  // namespace taper::portable
