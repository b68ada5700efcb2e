// Scaled dot product attention. Semantics: aten::scaled_dot_product_attention, for float32.

#include "backends/vulkan/planner/ops/attention.h"

#include <cmath>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kMostDepth = 256;  // Of heads.

// Queries of a workgroup, and how much of a key it holds at once: 16 KiB hold both, with 32 keys.
struct Tile {
  int64_t queries, depth;
};
constexpr Tile kTiles[] = {{32, 32}, {16, 64}};
constexpr int64_t kEnoughGroups = 512;

// How attention.comp takes the mask; the shader has the numbers.
enum class MaskUse : uint32_t { kNone, kAdded, kChoice, kCausal };

int64_t parts_of(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The heads of a tensor [batch..., heads, rows, columns], of two to four dimensions.
HeadStrides heads_of(const Dims& dims) {
  const Dims strides = contiguous_strides(dims);
  HeadStrides heads;
  heads.row = strides[dims.rank - 2];
  if (dims.rank >= 3) heads.head = strides[dims.rank - 3];
  if (dims.rank >= 4) heads.batch = strides[dims.rank - 4];
  return heads;
}

int64_t size_from_end(const Dims& dims, size_t i) {
  return dims.rank < i ? 1 : dims[dims.rank - i];
}

// Argument `at` is none, or a mask that broadcasts to the scores.
void read_mask(Call& call, size_t at, HeadProducts& p) {
  if (call.is_none(at)) return;
  p.has_mask = true;
  p.mask = call.tensor(at);
  call.require(p.mask.dtype == ScalarType::kFloat || p.mask.dtype == ScalarType::kBool,
               "its mask is neither float32 nor bool");
  Dims scores = p.q.dims;
  if (!call.ok()) return;
  scores[scores.rank - 1] = p.keys;
  const bool fits =
      p.mask.dims.rank <= scores.rank && broadcast(call, p.mask.dims, scores) == scores;
  if (!call.require(fits, "its mask does not broadcast to the scores")) return;
  const Dims strides = broadcast_strides(p.mask.dims, scores);
  const size_t rank = scores.rank;
  p.mask_column = strides[rank - 1];
  p.mask_at.row = strides[rank - 2];
  if (rank >= 3) p.mask_at.head = strides[rank - 3];
  if (rank >= 4) p.mask_at.batch = strides[rank - 4];
}

// Arguments 0 to 2 are q, k and v.
void read_heads(Call& call, bool shares_heads, HeadProducts& p) {
  p.q = call.tensor(0);
  p.k = call.tensor(1);
  p.v = call.tensor(2);
  const Dims &q = p.q.dims, &k = p.k.dims, &v = p.v.dims;
  call.require(p.q.dtype == ScalarType::kFloat && p.k.dtype == ScalarType::kFloat &&
                   p.v.dtype == ScalarType::kFloat,
               "it multiplies a dtype other than float32");
  if (!call.require(q.rank >= 2 && q.rank <= 4 && k.rank == q.rank && v.rank == q.rank,
                    "its tensors have different ranks, or more than four dimensions")) {
    return;
  }
  p.queries = size_from_end(q, 2);
  p.keys = size_from_end(k, 2);
  p.depth = size_from_end(q, 1);
  p.width = size_from_end(v, 1);
  p.batch = size_from_end(q, 4);
  p.heads = size_from_end(q, 3);
  const int64_t shared = size_from_end(k, 3);
  const bool fits =
      size_from_end(k, 1) == p.depth && size_from_end(v, 2) == p.keys &&
      size_from_end(k, 4) == p.batch && size_from_end(v, 4) == p.batch &&
      size_from_end(v, 3) == shared &&
      (shared == p.heads || (shares_heads && shared > 0 && p.heads > 0 && p.heads % shared == 0));
  if (!call.require(fits, "its sizes do not fit together")) return;
  p.group = shared > 0 ? p.heads / shared : 1;
  Dims dims = q;
  dims[dims.rank - 1] = p.width;
  p.q_at = heads_of(q);
  p.k_at = heads_of(k);
  p.v_at = heads_of(v);
  p.out_at = heads_of(dims);
  p.out = call.result(dims, ScalarType::kFloat);
}

double scale_for(Call& call, size_t at, const HeadProducts& p) {
  return call.number(at, p.depth > 0 ? 1 / std::sqrt(static_cast<double>(p.depth)) : 1);
}

// scaled_dot_product_attention(q, k, v, mask?, float dropout, bool is_causal, float? scale,
//                              bool enable_gqa)
void plan_attention(Call& call, int) {
  HeadProducts p;
  read_heads(call, call.flag(7), p);
  read_mask(call, 3, p);
  call.require(call.number(4, 0) == 0, "it drops elements");
  p.is_causal = call.flag(5);
  p.scale = scale_for(call, 6, p);
  attend(call, p);
}

// sdpa(q, k, v, mask?, float? scale)
void plan_sdpa(Call& call, int) {
  HeadProducts p;
  read_heads(call, true, p);
  read_mask(call, 3, p);
  p.scale = scale_for(call, 4, p);
  attend(call, p);
}

constexpr Operator kOperators[] = {
    {"aten.scaled_dot_product_attention.default", nullptr, 8, plan_attention},
    {"et_vk.sdpa.default", nullptr, 5, plan_sdpa},
};

}  // namespace

void attend(Call& call, const HeadProducts& p) {
  struct Push {
    uint32_t queries, keys, depth, width, heads, group, first;
    float scale;
    uint32_t q[3], k[3], v[3], out[3], mask[4];
  };
  call.require(p.depth <= kMostDepth && p.width <= kMostDepth, "its heads are too wide");
  call.require(!p.is_causal || !p.has_mask, "it is causal and has a mask");
  call.require(p.first >= 0 && p.first < INT32_MAX, "its first place is out of range");
  if (!call.ok() || p.out.dims.numel() == 0) return;
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  const Push push = {
      u32(p.queries),
      u32(p.keys),
      u32(p.depth),
      u32(p.width),
      u32(p.heads),
      u32(p.group),
      u32(p.first),
      static_cast<float>(p.scale),
      {u32(p.q_at.batch), u32(p.q_at.head), u32(p.q_at.row)},
      {u32(p.k_at.batch), u32(p.k_at.head), u32(p.k_at.row)},
      {u32(p.v_at.batch), u32(p.v_at.head), u32(p.v_at.row)},
      {u32(p.out_at.batch), u32(p.out_at.head), u32(p.out_at.row)},
      {u32(p.mask_at.batch), u32(p.mask_at.head), u32(p.mask_at.row), u32(p.mask_column)}};
  const bool is_large = parts_of(p.queries, kTiles[0].queries) * p.heads * p.batch >= kEnoughGroups;
  const Tile& tile = kTiles[is_large ? 0 : 1];
  const MaskUse use = p.is_causal                         ? MaskUse::kCausal
                      : !p.has_mask                       ? MaskUse::kNone
                      : p.mask.dtype == ScalarType::kBool ? MaskUse::kChoice
                                                          : MaskUse::kAdded;
  call.dispatch(Shader::attention)
      .constant(u32(tile.queries))
      .constant(u32(tile.depth))
      .constant(u32(parts_of(p.depth, tile.depth)))
      .constant(u32(parts_of(p.width, tile.depth)))
      .constant(static_cast<uint32_t>(use))
      .push(push)
      .writes(p.out)
      .reads(p.q)
      .reads(p.k)
      .reads(p.v);
  if (p.has_mask) call.reads(p.mask);
  call.groups(parts_of(p.queries, tile.queries), p.heads * p.batch);
}

const Span<const Operator> kAttentionOperators = kOperators;

}  // namespace taper::vulkan
