// llama::custom_sdpa.out, custom_quantized_sdpa.out and sdpa_with_kv_cache.out: attention of the
// newest positions over a cache of keys and values. attention.h says what is computed and how the
// tensors are laid out. The probability of dropout is ignored.

#include "kernels_portable/cores/attention.h"

namespace taper::portable {
namespace {

Status custom_sdpa_out(KernelContext&, const Tensor& query, const Tensor& key, const Tensor& value,
                       int64_t start_pos, const Tensor* attn_mask, double, bool is_causal,
                       std::optional<double> scale, Tensor& out) {
  return attend({{query}, {key}, {value}, start_pos, attn_mask, is_causal, scale}, out);
}

Status custom_quantized_sdpa_out(KernelContext&, const Tensor& query, const Tensor& key,
                                 const Tensor& value, int64_t start_pos, const Tensor* attn_mask,
                                 double, bool is_causal, std::optional<double> scale,
                                 const Tensor* q_zero_points, const Tensor* q_scales,
                                 const Tensor* k_zero_points, const Tensor* k_scales,
                                 const Tensor* v_zero_points, const Tensor* v_scales,
                                 bool is_seq_at_dim_2, Tensor& out) {
  return attend({{query, q_zero_points, q_scales},
                 {key, k_zero_points, k_scales},
                 {value, v_zero_points, v_scales},
                 start_pos,
                 attn_mask,
                 is_causal,
                 scale,
                 is_seq_at_dim_2},
                out);
}

Status sdpa_with_kv_cache_out(KernelContext&, const Tensor& query, const Tensor& key,
                              const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                              int64_t start_pos, int64_t seq_len, const Tensor* attn_mask, double,
                              bool is_causal, std::optional<double> scale, Tensor& out) {
  TAPER_REQUIRE(query.dim() == 4 && query.size(1) == seq_len, Error::kInvalidArgument,
                "sdpa_with_kv_cache: query must have seq_len positions");
  TAPER_TRY(update_cache(key, start_pos, key_cache));
  TAPER_TRY(update_cache(value, start_pos, value_cache));
  return attend({{query}, {key_cache}, {value_cache}, start_pos, attn_mask, is_causal, scale}, out);
}

}  // namespace

extern const Kernel kCustomSdpaOut;
const Kernel kCustomSdpaOut = make_kernel<custom_sdpa_out>("llama::custom_sdpa.out");
extern const Kernel kCustomQuantizedSdpaOut;
const Kernel kCustomQuantizedSdpaOut =
    make_kernel<custom_quantized_sdpa_out>("llama::custom_quantized_sdpa.out");
extern const Kernel kSdpaWithKvCacheOut;
const Kernel kSdpaWithKvCacheOut =
    make_kernel<sdpa_with_kv_cache_out>("llama::sdpa_with_kv_cache.out");

}  // namespace taper::portable
