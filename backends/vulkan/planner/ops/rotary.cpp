// Rotary embeddings. Semantics: the reference implementations of ExecuTorch's et_vk operators.

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// Where the tables have the numbers for an element of x: strides of all dimensions of x but the
// last, whose elements, or pairs of neighbours, are a step apart.
struct Table {
  Operand tensor;
  int64_t offset = 0, step = 1;
  Dims strides;
};

void rotate(Call& call, const Operand& out, const Operand& x, const Table& cos, const Table& sin,
            bool neighbours) {
  constexpr size_t kMaxRank = 3;
  struct Push {
    uint32_t count, width;
    int32_t cos_offset, cos_step, sin_offset, sin_step;
    int32_t sizes[kMaxRank], cos_strides[kMaxRank], sin_strides[kMaxRank];
  } push = {};
  call.require(x.dtype == ScalarType::kFloat && cos.tensor.dtype == ScalarType::kFloat &&
                   sin.tensor.dtype == ScalarType::kFloat,
               "it computes with a dtype other than float32");
  if (!call.ok() || out.dims.numel() == 0) return;
  const size_t last = x.dims.rank - 1;
  Dims sizes = x.dims;
  Dims strides[2] = {cos.strides, sin.strides};
  sizes.rank = strides[0].rank = strides[1].rank = last;
  collapse(sizes, strides, 2);
  if (!call.require(sizes.rank <= kMaxRank, "its tables broadcast along too many dimensions")) {
    return;
  }
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  push.count = static_cast<uint32_t>(out.dims.numel());
  push.width = static_cast<uint32_t>(x.dims[last]);
  push.cos_offset = i32(cos.offset);
  push.cos_step = i32(cos.step);
  push.sin_offset = i32(sin.offset);
  push.sin_step = i32(sin.step);
  narrow(push.sizes, sizes, sizes.rank);
  narrow(push.cos_strides, strides[0], sizes.rank);
  narrow(push.sin_strides, strides[1], sizes.rank);
  call.dispatch(Shader::rotate)
      .constant(static_cast<uint32_t>(sizes.rank))
      .constant(neighbours)
      .push(push)
      .writes(out)
      .reads(x)
      .reads(cos.tensor)
      .reads(sin.tensor)
      .groups_for(out.dims.numel(), 256);
}

bool require_pairs(Call& call, const Operand& x) {
  return call.require(x.dims.rank >= 2 && x.dims[x.dims.rank - 1] % 2 == 0,
                      "its input has no pairs");
}

// rotate(x, cos, sin): both tables broadcast to x; pairs are of both halves. fuse() makes it.
void plan_rotate(Call& call, int) {
  const Operand x = call.tensor(0);
  if (!require_pairs(call, x)) return;
  Table tables[2];
  for (size_t i = 0; i < 2; ++i) {
    tables[i].tensor = call.tensor(i + 1);
    const Dims& dims = tables[i].tensor.dims;
    call.require(broadcast(call, dims, x.dims) == x.dims, "its tables do not broadcast");
    if (!call.ok()) return;
    tables[i].strides = broadcast_strides(dims, x.dims);
    tables[i].step = tables[i].strides[x.dims.rank - 1];
  }
  rotate(call, call.result(x.dims, ScalarType::kFloat), x, tables[0], tables[1], false);
}

// apply_rotary_emb(xq, xk, cos, sin) of neighbours: x is [batch, length, heads, width], the tables
// are [length, width / 2]. apply_rotary_emb_hf(xq, xk, cos, sin, SymInt start) of halves: the
// tables are [longest, width], of which rows from `start` on count.
void plan_two(Call& call, int of_halves) {
  const int64_t start = of_halves != 0 ? call.integer(4) : 0;
  for (size_t k = 0; k < 2; ++k) {
    const Operand x = call.tensor(k);
    if (!require_pairs(call, x)) return;
    if (!call.require(x.dims.rank == 4, "its input has another rank")) return;
    const int64_t columns = of_halves != 0 ? x.dims[3] : x.dims[3] / 2;
    Table tables[2];
    for (size_t i = 0; i < 2; ++i) {
      Table& table = tables[i];
      table.tensor = call.tensor(i + 2);
      const Dims& dims = table.tensor.dims;
      const bool fits = dims.rank == 2 && dims[1] == columns && start >= 0 && start <= dims[0] &&
                        x.dims[1] <= dims[0] - start;
      if (!call.require(fits, "its tables do not fit its input")) return;
      table.offset = start * columns;
      table.strides = {4, {0, columns, 0, 1}};
    }
    rotate(call, call.result(k, x.dims, ScalarType::kFloat), x, tables[0], tables[1],
           of_halves == 0);
  }
}

// apply_rotary_emb_interleaved(x, table): x is [batch, length, width], the table has a cosine and a
// sine for each pair.
void plan_interleaved(Call& call, int) {
  const Operand x = call.tensor(0), table = call.tensor(1);
  if (!require_pairs(call, x)) return;
  const bool fits = x.dims.rank == 3 && table.dims.numel() == x.dims[1] * x.dims[2];
  if (!call.require(fits, "its table does not fit its input")) return;
  const Table cos = {table, 0, 2, {3, {0, x.dims[2], 1}}};
  const Table sin = {table, 1, 2, {3, {0, x.dims[2], 1}}};
  rotate(call, call.result(x.dims, ScalarType::kFloat), x, cos, sin, true);
}

constexpr Operator kOperators[] = {
    {"taper.rotate.default", "vulkan::rotate", 3, plan_rotate},
    {"et_vk.apply_rotary_emb.default", "vulkan::apply_rotary_emb", 4, plan_two, 0},
    {"et_vk.apply_rotary_emb_hf.default", "vulkan::apply_rotary_emb_hf", 5, plan_two, 1},
    {"et_vk.apply_rotary_emb_interleaved.default", "vulkan::apply_rotary_emb_interleaved", 2,
     plan_interleaved},
};

}  // namespace

const Span<const Operator> kRotaryOperators = kOperators;

}  // namespace taper::vulkan
