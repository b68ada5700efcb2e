// Blocks of queries of one head; see attention.h.

#include "kernels_optimized/cores/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels_optimized/cores/softmax.h"

namespace taper::optimized {
namespace {

// The scores of a block fill half of a small L2 cache; its rows fill the tiles of all forms.
constexpr int64_t kScoreFloats = int64_t{32} << 10;
constexpr int64_t kRowStep = 24, kMostRows = 96;

int64_t visible(const AttentionHead& h, int64_t query) {
  return h.causal_start < 0 ? h.keys : std::min(h.keys, h.causal_start + query + 1);
}

// Turns a row of scores into factors of the values. Returns what the sums are to be multiplied by.
float weigh(const AttentionHead& h, float* row, int64_t seen, int64_t count) {
  std::fill(row + seen, row + count, 0.0f);
  const auto is_hidden = [](float score) { return score == -INFINITY; };
  if (h.blind_is_zero && std::all_of(row, row + seen, is_hidden)) {
    std::fill_n(row, seen, 0.0f);
    return 0;
  }
  return 1 / softmax_terms(row, seen);
}

}  // namespace

bool attention_packs(int64_t queries) { return queries > 8; }

int64_t attention_block(int64_t queries, int64_t keys) {
  const int64_t most = kScoreFloats / std::max<int64_t>(1, keys) / kRowStep * kRowStep;
  return std::min(queries, std::clamp(most, kRowStep, kMostRows));
}

bool attend(const AttentionHead& h, int64_t first, int64_t count, float* scores,
            Span<float> scratch) {
  Gemm products;
  products.rows = count;
  products.columns = visible(h, first + count - 1);
  products.depth = h.elements;
  products.left = h.query;
  products.left.data += first * h.query.row_stride;
  products.right = h.key;
  products.panels = h.key_panels;
  products.alpha = h.scale;
  products.added = h.mask;
  if (h.mask.data != nullptr) products.added.data += first * h.mask.row_stride;
  products.out = scores;
  products.out_stride = h.keys;
  if (!gemm(products, scratch)) return false;
  float factors[kMostRows];
  for (int64_t i = 0; i < count; ++i) {
    factors[i] = weigh(h, scores + i * h.keys, visible(h, first + i), products.columns);
  }
  Gemm sums;
  sums.rows = count;
  sums.columns = h.width;
  sums.depth = products.columns;
  sums.left = {scores, h.keys, 1};
  sums.right = h.value;
  sums.panels = h.value_panels;
  sums.out = h.out + first * h.out_stride;
  sums.out_stride = h.out_stride;
  gemm(sums, scratch);
  for (int64_t i = 0; i < count; ++i) {
    float* row = sums.out + i * h.out_stride;
    for (int64_t j = 0; j < h.width; ++j) row[j] *= factors[i];
  }
  return true;
}

}  // namespace taper::optimized
