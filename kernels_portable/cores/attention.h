// Attention over a cache of keys and values, as the operators in the namespace llama define it.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// The query, the key or the value: floats, or int8 with a zero point (int8) and a scale (float32)
// per row, so that a row is (data - zero point) * scale.
struct HeadRows {
  const Tensor& data;
  const Tensor* zero_points = nullptr;
  const Tensor* scales = nullptr;
};

// All tensors are contiguous: [batch, position, head, element], or [batch, head, position, element]
// if `heads_first`. Query head h reads key head h / (heads of query / heads of key).
struct Attention {
  HeadRows query;
  HeadRows key;
  HeadRows value;
  int64_t start;       // The position of the first query. Without a mask, only the keys before
                       // start + queries are read; with a mask it is not used.
  const Tensor* mask;  // Null, or [queries, all keys] to be added to the scores.
  bool causal;         // Query i sees only the keys up to and including start + i.
  std::optional<double> scale;  // 1 / sqrt(elements) if absent.
  bool heads_first = false;
};

// out = softmax(query x key^T * scale + mask) x value. A query that sees no key yields zeros.
Status attend(const Attention& attention, Tensor& out);

// Copies all positions of `value` into `cache`, from its position `start` on.
Status update_cache(const Tensor& value, int64_t start, Tensor& cache);

// Copies position i of batch b to position indices[b][i] of `cache`.
Status update_cache_at(const Tensor& value, const Tensor& indices, Tensor& cache);

}  // namespace taper::portable
