// Caches of keys and values, as the operators in the namespace llama have them: buffers of the
// program [batch, longest, heads, width], into which a call writes from a position on.

#include <cmath>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/attention.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// Tensors of [batch, position, head, element].
HeadStrides heads_of(const Operand& x) {
  const Dims strides = contiguous_strides(x.dims);
  HeadStrides at;
  at.batch = strides[0];
  at.row = strides[1];
  at.head = strides[2];
  return at;
}

// Argument `cache` gets the rows of argument `value` from position `start` on.
Operand update(Call& call, size_t value, size_t cache, int64_t start) {
  const Operand rows = call.tensor(value), to = call.state(cache);
  const bool fits = rows.dims.rank == 4 && to.dims.rank == 4 && rows.dtype == to.dtype &&
                    rows.dims[0] == to.dims[0] && rows.dims[2] == to.dims[2] &&
                    rows.dims[3] == to.dims[3];
  call.require(fits, "what it writes does not fit the cache");
  call.require(call.ok() && start >= 0 && start <= to.dims[1] - rows.dims[1],
               "its position is out of range");
  if (!call.ok() || rows.dims.numel() == 0) return to;
  Walk part = dense(to);
  part.offset = start * part.strides[1];
  copy(call, rows.dims, part, dense(rows));
  return to;
}

// update_cache(value, cache, SymInt start): its result has no meaning.
void plan_update(Call& call, int) {
  update(call, 0, 1, call.integer(2));
  const Operand out = call.result({1, {1}}, call.stated_dtype());
  if (call.ok()) fill(call, out, 0, 0);
}

struct Options {
  size_t mask, causal, scale;
};

// Attention of argument 0 over keys and values, of which no more than start + queries count.
void attend_to_cache(Call& call, const Operand& k, const Operand& v, int64_t start,
                     const Options& at) {
  HeadProducts p;
  p.q = call.tensor(0);
  p.k = k;
  p.v = v;
  const Dims& q = p.q.dims;
  const bool are_heads = q.rank == 4 && k.dims.rank == 4 && v.dims == k.dims &&
                         p.q.dtype == ScalarType::kFloat && k.dtype == ScalarType::kFloat &&
                         v.dtype == ScalarType::kFloat && q[0] == k.dims[0] && q[3] == k.dims[3];
  if (!call.require(are_heads, "its tensors are no heads of float32 that fit together")) return;
  const bool is_shared = k.dims[2] > 0 && q[2] % k.dims[2] == 0;
  call.require(is_shared, "its heads do not fit together");
  call.require(call.is_none(at.mask), "it has a mask over a cache");
  call.require(start >= 0 && start <= k.dims[1] - q[1], "its position is out of range");
  if (!call.ok()) return;
  p.batch = q[0];
  p.heads = q[2];
  p.group = q[2] / k.dims[2];
  p.queries = q[1];
  p.depth = p.width = q[3];
  p.is_causal = call.flag(at.causal);
  p.first = start;
  p.keys = start + q[1];
  p.scale = call.number(at.scale, p.depth > 0 ? 1 / std::sqrt(static_cast<double>(p.depth)) : 1);
  p.q_at = p.out_at = heads_of(p.q);
  p.k_at = heads_of(k);
  p.v_at = heads_of(v);
  p.out = call.half_result(q, ScalarType::kFloat);
  p.most_keys = k.dims[1];
  attend(call, p);
}

// custom_sdpa(q, k, v, SymInt start, mask?, float dropout, bool is_causal, float? scale)
void plan_attention(Call& call, int) {
  const Operand k = call.tensor(1), v = call.tensor(2);
  call.require(call.number(5, 0) == 0, "it drops elements");
  attend_to_cache(call, k, v, call.integer(3), {4, 6, 7});
}

// sdpa_with_kv_cache(q, k, v, k_cache, v_cache, SymInt start, SymInt length, mask?, float dropout,
// bool is_causal, float? scale): keys and values go into the caches first.
void plan_attention_with_update(Call& call, int) {
  const int64_t start = call.integer(5);
  call.require(call.number(8, 0) == 0, "it drops elements");
  const Operand k = update(call, 1, 3, start), v = update(call, 2, 4, start);
  if (call.ok()) attend_to_cache(call, k, v, start, {7, 9, 10});
}

constexpr Operator kOperators[] = {
    with_writes({"update_cache.default", "llama::update_cache.out", 3, plan_update}, 1, 1),
    with_writes({"llama.update_cache.default", "llama::update_cache.out", 3, plan_update}, 1, 1),
    {"custom_sdpa.default", "llama::custom_sdpa.out", 8, plan_attention},
    {"llama.custom_sdpa.default", "llama::custom_sdpa.out", 8, plan_attention},
    with_writes({"sdpa_with_kv_cache.default", "vulkan::sdpa_with_kv_cache", 11,
                 plan_attention_with_update},
                3, 2),
    with_writes({"llama.sdpa_with_kv_cache.default", "vulkan::sdpa_with_kv_cache", 11,
                 plan_attention_with_update},
                3, 2),
};

}  // namespace

const Span<const Operator> kCacheOperators = kOperators;

}  // namespace taper::vulkan
