// llama::custom_sdpa.out, sdpa_with_kv_cache.out and update_cache.out: attention of the newest
// positions over a cache of keys and values, and the writing of that cache. attention.h says how
// the tensors lie.

#include "kernels_portable/attention.h"

namespace taper::portable {
namespace {

Status check_dropout(double dropout) {
  TAPER_REQUIRE(dropout == 0, Error::kNotSupported, "attention: there is no dropout");
  return {};
}

Status custom_sdpa_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                       int64_t start_pos, const Tensor* attn_mask, double dropout_p, bool is_causal,
                       std::optional<double> scale, Tensor& out) {
  TAPER_TRY(check_dropout(dropout_p));
  return attend({query, key, value, start_pos, attn_mask, is_causal, scale}, out);
}

Status sdpa_with_kv_cache_out(KernelContext&, const Tensor& query, const Tensor& key,
                              const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                              int64_t start_pos, int64_t seq_len, const Tensor* attn_mask,
                              double dropout_p, bool is_causal, std::optional<double> scale,
                              Tensor& out) {
  TAPER_TRY(check_dropout(dropout_p));
  TAPER_REQUIRE(query.dim() == 4 && query.size(1) == seq_len, Error::kInvalidArgument,
                "sdpa_with_kv_cache: query must have seq_len positions");
  TAPER_TRY(update_cache(key, start_pos, key_cache));
  TAPER_TRY(update_cache(value, start_pos, value_cache));
  return attend({query, key_cache, value_cache, start_pos, attn_mask, is_causal, scale}, out);
}

// `out` stands for the cache in the graph; nobody reads it.
Status update_cache_out(KernelContext&, const Tensor& value, Tensor& cache, int64_t start_pos,
                        Tensor&) {
  return update_cache(value, start_pos, cache);
}

}  // namespace

extern const Kernel kCustomSdpaOut;
const Kernel kCustomSdpaOut = make_kernel<custom_sdpa_out>("llama::custom_sdpa.out");
extern const Kernel kSdpaWithKvCacheOut;
const Kernel kSdpaWithKvCacheOut =
    make_kernel<sdpa_with_kv_cache_out>("llama::sdpa_with_kv_cache.out");
extern const Kernel kUpdateCacheOut;
const Kernel kUpdateCacheOut = make_kernel<update_cache_out>("llama::update_cache.out");

}  // namespace taper::portable
