// Scaled dot product attention. Semantics: aten::scaled_dot_product_attention, for float32.

#include "backends/vulkan/planner/ops/attention.h"

#include <algorithm>
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

// Where a head has no more queries than this, workgroups share its keys: no fewer than so many
// each, and so many workgroups in all.
constexpr int64_t kFewQueries = 16;
constexpr int64_t kFewestKeys = 32;
constexpr int64_t kEnoughParts = 256;
constexpr int64_t kKeysAtOnce = 32;  // As the shader has it.

constexpr int64_t kMostUnitDepth = 128;     // Of heads, for attention_units.comp.
constexpr int64_t kQueriesOfSubgroup = 16;  // As the shader has it.

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

int64_t parts_of(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The heads of a tensor [batch..., heads, rows, columns], of two to four dimensions.
HeadStrides heads_of(const Dims& strides, int64_t first) {
  HeadStrides heads;
  heads.first = first;
  heads.row = strides[strides.rank - 2];
  if (strides.rank >= 3) heads.head = strides[strides.rank - 3];
  if (strides.rank >= 4) heads.batch = strides[strides.rank - 4];
  return heads;
}

// Argument i: as a view where the elements of its rows are adjacent.
Operand read_heads_of(Call& call, size_t i, HeadStrides& heads) {
  const View view = call.view(i);
  const Dims& strides = view.walk.strides;
  bool fits = view.dims.rank >= 2 && strides[strides.rank - 1] == 1;
  for (size_t d = 0; d < strides.rank; ++d) fits = fits && strides[d] >= 0;
  if (!fits) {
    const Operand stored = call.tensor(i);
    if (stored.dims.rank >= 2) heads = heads_of(contiguous_strides(stored.dims), 0);
    return stored;
  }
  heads = heads_of(strides, view.walk.offset);
  return {view.walk.tensor.id, view.dtype, view.dims};
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
  p.q = read_heads_of(call, 0, p.q_at);
  p.k = read_heads_of(call, 1, p.k_at);
  p.v = read_heads_of(call, 2, p.v_at);
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
  p.out_at = heads_of(contiguous_strides(dims), 0);
  p.out = call.half_result(dims, ScalarType::kFloat);
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
  p.in_half = true;
  p.scale = scale_for(call, 6, p);
  attend(call, p);
}

// sdpa(q, k, v, mask?, float? scale)
void plan_sdpa(Call& call, int) {
  HeadProducts p;
  read_heads(call, true, p);
  read_mask(call, 3, p);
  p.in_half = true;
  p.scale = scale_for(call, 4, p);
  attend(call, p);
}

MaskUse mask_use(const HeadProducts& p) {
  if (p.is_causal) return MaskUse::kCausal;
  if (!p.has_mask) return MaskUse::kNone;
  return p.mask.dtype == ScalarType::kBool ? MaskUse::kChoice : MaskUse::kAdded;
}

// With one query, the heads that share keys and values are as good as queries of one head.
HeadProducts with_heads_as_queries(HeadProducts p) {
  const int64_t group = p.group;
  if (group < 1 || p.heads % group != 0) return p;
  if (p.is_causal) {
    p.keys = std::min(p.keys, p.first + 1);
    p.is_causal = false;
  }
  p.queries = group;
  p.heads /= group;
  p.group = 1;
  for (HeadStrides* each : {&p.q_at, &p.out_at, &p.mask_at}) {
    each->row = each->head;
    each->head *= group;
  }
  return p;
}

int64_t heads_in_all(const HeadProducts& p) { return p.heads * p.batch; }

// How many workgroups share the keys of a head.
int64_t key_parts(const HeadProducts& p) {
  if (p.queries > kFewQueries) return 1;
  const int64_t wanted = parts_of(kEnoughParts, std::max<int64_t>(heads_in_all(p), 1));
  return std::max<int64_t>(std::min(wanted, p.keys / kFewestKeys), 1);
}

// No less than any plan needs whose sizes are not larger, as key_parts() decides.
int64_t most_shared_elements(const HeadProducts& p) {
  const int64_t most = std::max(p.keys, p.most_keys) / kFewestKeys, heads = heads_in_all(p);
  if (most <= 1 || heads > INT32_MAX) return 0;
  const int64_t rows = p.queries == 1 ? std::min(p.group, kFewQueries) : kFewQueries;
  return std::min(most * heads, kEnoughParts + heads) * rows * (p.width + 2);
}

// The push constants of attention.glsl.
struct AttentionPush {
  uint32_t queries, keys, depth, width, heads, group, first;
  float scale;
  uint32_t q[3], k[3], v[3], out[3], mask[4], part_keys, q_first, k_first, v_first;
};

AttentionPush push_of(const HeadProducts& p, int64_t parts) {
  const auto strides = [](const HeadStrides& at, uint32_t* to) {
    to[0] = u32(at.batch);
    to[1] = u32(at.head);
    to[2] = u32(at.row);
  };
  AttentionPush push = {u32(p.queries),
                        u32(p.keys),
                        u32(p.depth),
                        u32(p.width),
                        u32(p.heads),
                        u32(p.group),
                        u32(p.first),
                        static_cast<float>(p.scale),
                        {},
                        {},
                        {},
                        {},
                        {},
                        0,
                        u32(p.q_at.first),
                        u32(p.k_at.first),
                        u32(p.v_at.first)};
  strides(p.q_at, push.q);
  strides(p.k_at, push.k);
  strides(p.v_at, push.v);
  strides(p.out_at, push.out);
  strides(p.mask_at, push.mask);
  push.mask[3] = u32(p.mask_column);
  push.part_keys = u32(parts_of(parts_of(p.keys, parts), kKeysAtOnce) * kKeysAtOnce);
  return push;
}

void bind_heads(Call& call, const HeadProducts& p, const Operand& out) {
  call.writes(out).reads(p.q).reads(p.k).reads(p.v);
  if (p.has_mask) call.reads(p.mask);
}

// Writes the result to `out`, or with several parts what put_together() takes.
void attend_to_keys(Call& call, const HeadProducts& p, const Operand& out, int64_t parts) {
  const bool is_large = parts_of(p.queries, kTiles[0].queries) * heads_in_all(p) >= kEnoughGroups;
  const Tile& tile = kTiles[is_large ? 0 : 1];
  call.dispatch(Shader::attention)
      .constant(u32(tile.queries))
      .constant(u32(tile.depth))
      .constant(u32(parts_of(p.depth, tile.depth)))
      .constant(u32(parts_of(p.width, tile.depth)))
      .constant(static_cast<uint32_t>(mask_use(p)))
      .constant(parts > 1)
      .constant(p.in_half)
      .push(push_of(p, parts));
  bind_heads(call, p, out);
  call.groups(parts_of(p.queries, tile.queries), heads_in_all(p), parts);
}

bool may_use_units(const Call& call, const HeadProducts& p) {
  const uint32_t lanes = call.limits().subgroup;
  return p.in_half && call.limits().matrix_units && (lanes == 16 || lanes == 32 || lanes == 64) &&
         p.queries > kFewQueries && p.depth <= kMostUnitDepth && p.width <= kMostUnitDepth;
}

// Whether rows can be read four elements at a time.
bool are_wide(const HeadProducts& p) {
  int64_t odd = p.depth | p.width;
  for (const HeadStrides& at : {p.q_at, p.k_at, p.v_at}) {
    odd |= at.batch | at.head | at.row | at.first;
  }
  return odd % 4 == 0;
}

void attend_by_units(Call& call, const HeadProducts& p) {
  // So that 48 KiB of shared memory are enough.
  const int64_t subgroups = std::max(p.depth, p.width) > 64 ? 2 : 4;
  const int64_t queries = kQueriesOfSubgroup * subgroups;
  const auto sixteens = [](int64_t size) { return u32(parts_of(size, 16) * 16); };
  call.dispatch(Shader::attention_units)
      .constant(u32(subgroups * call.limits().subgroup))
      .constant(u32(subgroups))
      .constant(sixteens(p.depth))
      .constant(sixteens(p.width))
      .constant(static_cast<uint32_t>(mask_use(p)))
      .constant(are_wide(p))
      .push(push_of(p, 1));
  bind_heads(call, p, p.out);
  call.groups(parts_of(p.queries, queries), heads_in_all(p));
}

void put_together(Call& call, const HeadProducts& p, const Operand& shared, int64_t parts) {
  struct Push {
    uint32_t count, parts, queries, width, heads, out[3];
  };
  const int64_t count = p.out.dims.numel();
  const Push push = {u32(count),     u32(parts),
                     u32(p.queries), u32(p.width),
                     u32(p.heads),   {u32(p.out_at.batch), u32(p.out_at.head), u32(p.out_at.row)}};
  call.dispatch(Shader::attention_parts)
      .constant(mask_use(p) != MaskUse::kNone)
      .push(push)
      .writes(p.out)
      .reads(shared)
      .groups_for(count, 256);
}

constexpr Operator kOperators[] = {
    with_factors(
        {"aten.scaled_dot_product_attention.default", "vulkan::attention", 8, plan_attention}, 0,
        3),
    with_factors({"et_vk.sdpa.default", "vulkan::sdpa", 5, plan_sdpa}, 0, 3),
};

}  // namespace

void attend(Call& call, const HeadProducts& given) {
  HeadProducts p = given.queries == 1 ? with_heads_as_queries(given) : given;
  p.in_half = p.in_half && call.in_half();
  call.require(p.depth <= kMostDepth && p.width <= kMostDepth, "its heads are too wide");
  call.require(!p.is_causal || !p.has_mask, "it is causal and has a mask");
  call.require(p.first >= 0 && p.first < INT32_MAX / 2, "its first place is out of range");
  if (!call.ok()) return;
  // A plan for other sizes has the same temporaries, so there is always one.
  Operand shared = call.temporary(most_shared_elements(given));
  if (p.in_half) call.note_rounding();
  if (p.out.dims.numel() == 0) return;
  if (may_use_units(call, p)) return attend_by_units(call, p);
  const int64_t parts = key_parts(p);
  if (parts == 1) return attend_to_keys(call, p, p.out, 1);
  attend_to_keys(call, p, shared, parts);
  put_together(call, p, shared, parts);
}

const Span<const Operator> kAttentionOperators = kOperators;

}  // namespace taper::vulkan
