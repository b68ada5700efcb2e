#include "backends/vulkan/planner/ops/rows.h"

#include <algorithm>

#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kThreads = 256;    // Of a workgroup.
constexpr int64_t kPerLane = 4;      // Elements that are worth a thread.
constexpr int64_t kNeighbours = 32;  // Results side by side that read memory well.
constexpr int64_t kEnoughThreads = 65536;

// Threads for each result, a power of two.
int64_t lanes_for(int64_t results, int64_t n, int64_t inner) {
  int64_t most = kThreads;
  if (inner > 1) {
    int64_t neighbours = 1;
    while (neighbours < std::min(inner, kNeighbours)) neighbours *= 2;
    most /= neighbours;
  }
  int64_t lanes = 1;
  while (lanes < most && n > lanes * kPerLane && (inner == 1 || results * lanes < kEnoughThreads)) {
    lanes *= 2;
  }
  return lanes;
}

// Whether nothing that stays lies between dimensions of the set. Dimensions of size 1 are nowhere
// if `skips_ones`.
bool is_one_block(const Dims& dims, const Dims& set, bool skips_ones) {
  bool in_set = false, after_set = false;
  for (size_t d = 0; d < dims.rank; ++d) {
    if (skips_ones && dims[d] == 1) continue;
    if (set[d] != 0 && after_set) return false;
    after_set = after_set || (in_set && set[d] == 0);
    in_set = set[d] != 0;
  }
  return true;
}

}  // namespace

Rows rows_along(const Operand& x, size_t d) {
  if (x.dims.rank == 0) return {x, 1, 1, 1};
  return {x, x.dims.product(0, d), x.dims[d], x.dims.product(d + 1, x.dims.rank)};
}

Rows rows_over(Call& call, const Operand& x, const Dims& set) {
  Rows rows;
  rows.x = x;
  if (!call.ok()) return rows;
  const Dims strides = contiguous_strides(x.dims);
  Walk from = {x, 0, {}};
  Dims sizes;
  for (const bool chosen : {false, true}) {
    for (size_t d = 0; d < x.dims.rank; ++d) {
      if ((set[d] != 0) != chosen) continue;
      sizes.push_back(x.dims[d]);
      from.strides.push_back(strides[d]);
      (chosen ? rows.n : rows.outer) *= x.dims[d];
    }
  }
  // The memory is the same for all sizes, so what asks for it does not look at them.
  const bool may_move = !is_one_block(x.dims, set, false);
  if (may_move) rows.x = call.temporary(x.dims.numel());
  if (may_move && !is_one_block(x.dims, set, true)) {
    rows.x.dims = sizes;
    copy(call, sizes, dense(rows.x), from);
    return rows;
  }
  rows.x = x;
  size_t last = x.dims.rank;
  while (last > 0 && (set[last - 1] == 0 || x.dims[last - 1] == 1)) --last;
  if (last == 0) return rows;  // No more than one element in a row.
  for (size_t d = last; d < x.dims.rank; ++d) {
    if (set[d] == 0) rows.inner *= x.dims[d];
  }
  rows.outer = 1;
  for (size_t d = 0; d < last; ++d) {
    if (set[d] == 0) rows.outer *= x.dims[d];
  }
  return rows;
}

Call& dispatch_rows(Call& call, Shader shader, int64_t results, int64_t n, int64_t inner) {
  const int64_t lanes = lanes_for(results, n, inner);
  return call.dispatch(shader)
      .constant(static_cast<uint32_t>(lanes))
      .constant(inner == 1)
      .groups_for(results, kThreads / lanes);
}

Dims without(const Dims& dims, const Dims& set, bool keepdim) {
  Dims left;
  for (size_t d = 0; d < dims.rank; ++d) {
    if (set[d] == 0) left.push_back(dims[d]);
    if (set[d] != 0 && keepdim) left.push_back(1);
  }
  return left;
}

}  // namespace taper::vulkan
