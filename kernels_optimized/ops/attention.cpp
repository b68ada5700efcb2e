// Attention of floats, head by head (cores/attention.h): llama::custom_sdpa.out and
// sdpa_with_kv_cache.out, whose rows are accessed in place, through strides, and
// taper::attention.out. Scores are in scratch memory.

#include "kernels_portable/cores/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels_optimized/cores/attention.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/attention_heads.h"
#include "kernels_portable/engine/dims.h"

namespace taper::optimized {
namespace {

constexpr int64_t kScoreFloats = int64_t{64} << 10;
constexpr int64_t kMostQueries = 64;  // The size of a block.
constexpr int64_t kMostElements = 512;

// Checked operands: [batch, position, head, element].
struct Heads {
  const float *query, *key, *value, *mask;
  float* out;
  int64_t batches, queries, heads, elements;
  int64_t keys, key_heads;
  int64_t start;
  bool causal;
  float scale;

  // How many keys query `position` sees.
  int64_t visible(int64_t position) const {
    if (mask != nullptr) return keys;
    return start + (causal ? position + 1 : queries);
  }
};

struct Scratch {
  float* scores;
  Span<float> product;
};

bool is_four(const Tensor& tensor) { return tensor.dim() == 4 && tensor.is_contiguous(); }

bool fits(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
          bool causal, const Tensor& out) {
  if (!are_float(query, key, value, out) || !is_four(query) || !is_four(key) || !is_four(value) ||
      !is_four(out) || !portable::same_sizes(key, value)) {
    return false;
  }
  const bool related = query.size(0) == key.size(0) && query.size(3) == key.size(3) &&
                       key.size(2) > 0 && query.size(2) % key.size(2) == 0 && query.size(3) > 0 &&
                       query.size(3) <= kMostElements;
  if (!related || key.size(1) > kScoreFloats || query.numel() == 0) return false;
  if (mask == nullptr) return true;
  return !causal && are_float(*mask) && mask->dim() == 2 && mask->is_contiguous() &&
         mask->size(0) == query.size(1) && mask->size(1) == key.size(1);
}

AttentionHead head_of(const Heads& h, int64_t batch, int64_t head) {
  const int64_t step = h.heads * h.elements, key_step = h.key_heads * h.elements;
  const int64_t at = batch * h.queries * step + head * h.elements;
  const int64_t key_head = head / (h.heads / h.key_heads);
  const int64_t keys_at = batch * h.keys * key_step + key_head * h.elements;
  AttentionHead one;
  one.keys = h.mask != nullptr ? h.keys : h.visible(h.queries - 1);
  one.elements = one.width = h.elements;
  one.scale = h.scale;
  one.query = {h.query + at, step, 1};
  one.key = {h.key + keys_at, 1, key_step};
  one.value = {h.value + keys_at, key_step, 1};
  if (h.mask != nullptr) one.mask = {h.mask, h.keys, 1};
  if (h.mask == nullptr && h.causal) one.causal_start = h.start;
  one.blind_is_zero = true;
  one.out = h.out + at;
  one.out_stride = step;
  return one;
}

bool attend_heads(const Heads& h, int64_t begin, int64_t end, const Scratch& scratch) {
  const int64_t block = std::min(kMostQueries, kScoreFloats / h.keys);
  for (int64_t i = begin; i < end; ++i) {
    const AttentionHead head = head_of(h, i / h.heads, i % h.heads);
    for (int64_t first = 0; first < h.queries; first += block) {
      const int64_t count = std::min(block, h.queries - first);
      if (!attend(head, first, count, scratch.scores, scratch.product)) return false;
    }
  }
  return true;
}

bool attend_all(KernelContext& context, const Heads& h) {
  const int64_t keys = h.visible(h.queries - 1);
  const int64_t work = 2 * h.queries * keys * h.elements / kMultiplicationsPerUnit;
  std::atomic<bool> done{true};
  for_parts_with_scratch(
      context, h.batches * h.heads, work, kScoreFloats + kGemmScratchFloats,
      [&](int64_t begin, int64_t end, Span<float> scratch) {
        const bool has_room = scratch.size() != 0;
        const Scratch own = {
            scratch.data(), has_room ? scratch.subspan(kScoreFloats, kGemmScratchFloats) : scratch};
        if (!has_room || !attend_heads(h, begin, end, own)) done = false;
      });
  return done;
}

bool fast_custom_sdpa(KernelContext& context, const Tensor& query, const Tensor& key,
                      const Tensor& value, int64_t start_pos, const Tensor* attn_mask, double,
                      bool is_causal, std::optional<double> scale, Tensor& out) {
  if (!has_vectors() || !fits(query, key, value, attn_mask, is_causal, out)) return false;
  Heads h = {};
  h.batches = query.size(0);
  h.queries = query.size(1);
  h.heads = query.size(2);
  h.elements = query.size(3);
  h.keys = key.size(1);
  h.key_heads = key.size(2);
  h.start = start_pos;
  h.causal = is_causal;
  h.scale = static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(h.elements))));
  const bool inside = start_pos >= 0 && start_pos <= h.keys - h.queries;
  if ((attn_mask == nullptr && !inside) || h.keys == 0) return false;
  if (!out.resize(query.sizes()).ok()) return false;
  h.query = query.const_data_ptr<float>();
  h.key = key.const_data_ptr<float>();
  h.value = value.const_data_ptr<float>();
  h.mask = attn_mask != nullptr ? attn_mask->const_data_ptr<float>() : nullptr;
  h.out = out.mutable_data_ptr<float>();
  return attend_all(context, h);
}

// Returning false after the caches are updated does no harm: the portable kernel writes the same
// positions again.
bool fast_sdpa_with_kv_cache(KernelContext& context, const Tensor& query, const Tensor& key,
                             const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                             int64_t start_pos, int64_t seq_len, const Tensor* attn_mask,
                             double dropout, bool is_causal, std::optional<double> scale,
                             Tensor& out) {
  if (!has_vectors() || !fits(query, key_cache, value_cache, attn_mask, is_causal, out) ||
      query.size(1) != seq_len || !portable::update_cache(key, start_pos, key_cache).ok() ||
      !portable::update_cache(value, start_pos, value_cache).ok()) {
    return false;
  }
  return fast_custom_sdpa(context, query, key_cache, value_cache, start_pos, attn_mask, dropout,
                          is_causal, scale, out);
}

// ---- taper::attention.out ----

// A head of contiguous tensors.
AttentionHead head_at(const portable::AttentionHeads& h, const Tensor& query, const Tensor& key,
                      const Tensor& value, const Tensor* mask, const Tensor& out, int64_t matrix) {
  const int64_t shared = matrix / h.sharing;
  AttentionHead one;
  one.keys = h.keys;
  one.elements = h.elements;
  one.width = one.out_stride = h.width;
  one.query = {query.const_data_ptr<float>() + matrix * h.queries * h.elements, h.elements, 1};
  one.key = {key.const_data_ptr<float>() + shared * h.keys * h.elements, 1, h.elements};
  one.value = {value.const_data_ptr<float>() + shared * h.keys * h.width, h.width, 1};
  if (mask != nullptr) {
    one.mask = {mask->const_data_ptr<float>() + portable::mask_offset(*mask, query, matrix),
                h.mask_row, h.mask_column};
    one.blind_is_zero = true;
  }
  one.out = out.mutable_data_ptr<float>() + matrix * h.queries * h.width;
  return one;
}

// Memory for the work on one head: a block of scores, then the panels of keys and values, or what
// products that do not use them need.
struct HeadMemory {
  explicit HeadMemory(const portable::AttentionHeads& h)
      : block(attention_block(h.queries, h.keys)),
        scores(block * h.keys),
        packs(attention_packs(h.queries)),
        keys(packs ? panel_floats(h.elements, h.keys) : 0),
        values(packs ? panel_floats(h.keys, h.width) : kGemmScratchFloats) {}
  int64_t floats() const { return scores + keys + values; }

  int64_t block, scores;
  bool packs;
  int64_t keys, values;
};

void attend_head(AttentionHead& head, int64_t queries, const HeadMemory& memory,
                 Span<float> scratch) {
  float* const keys = scratch.data() + memory.scores;
  float* const values = keys + memory.keys;
  if (memory.packs) {
    head.key_panels = pack_panels(head.key, head.elements, head.keys, keys);
    head.value_panels = pack_panels(head.value, head.keys, head.width, values);
  }
  for (int64_t first = 0; first < queries; first += memory.block) {
    attend(head, first, std::min(memory.block, queries - first), scratch.data(),
           {values, static_cast<size_t>(memory.values)});
  }
}

bool fast_attention(KernelContext& context, const Tensor& query, const Tensor& key,
                    const Tensor& value, const Tensor* mask, double scale, bool causal,
                    Tensor& out) {
  portable::AttentionHeads h;
  if (!has_vectors() || !are_float(query, out) ||
      !portable::check_heads(query, key, value, mask, causal, out, &h).ok() || h.keys == 0) {
    return false;
  }
  const HeadMemory memory(h);
  const int64_t work = 2 * h.queries * h.keys * h.elements / kMultiplicationsPerUnit;
  std::atomic<bool> done{true};
  for_parts_with_scratch(context, h.matrices, work, memory.floats(),
                         [&](int64_t begin, int64_t end, Span<float> scratch) {
                           if (scratch.size() == 0) {
                             done = false;
                             return;
                           }
                           for (int64_t i = begin; i < end; ++i) {
                             AttentionHead head = head_at(h, query, key, value, mask, out, i);
                             head.scale = static_cast<float>(scale);
                             if (causal) head.causal_start = 0;
                             attend_head(head, h.queries, memory, scratch);
                           }
                         });
  return done;
}

}  // namespace

extern const Kernel kAttentionOut;
const Kernel kAttentionOut =
    overlay<fast_attention, portable::kAttentionOut>("taper::attention.out");
extern const Kernel kCustomSdpaOut, kSdpaWithKvCacheOut;
const Kernel kCustomSdpaOut =
    overlay<fast_custom_sdpa, portable::kCustomSdpaOut>("llama::custom_sdpa.out");
const Kernel kSdpaWithKvCacheOut = overlay<fast_sdpa_with_kv_cache, portable::kSdpaWithKvCacheOut>(
    "llama::sdpa_with_kv_cache.out");

}  // namespace taper::optimized
