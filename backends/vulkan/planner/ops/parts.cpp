// Operators that replace, shift, clear or repeat parts of a tensor at places that are known when a
// plan is made. Semantics: PyTorch.

#include <algorithm>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// The result is x with the part `to` replaced by `source`, whose sizes are those of the part.
void replace_part(Call& call, const Operand& x, const Operand& source, const Dims& sizes,
                  Walk part) {
  call.require(source.dtype == x.dtype && source.dims == sizes,
               "what it writes does not have the sizes or the dtype of the part");
  const bool is_in_place = call.writes_in_place(x);
  part.tensor = is_in_place ? x : call.half_result(x.dims, x.dtype);
  if (!is_in_place) copy(call, x.dims, dense(part.tensor), dense(x));
  copy(call, sizes, part, dense(source));
}

// slice_scatter(x, source, int dim, SymInt? start, SymInt? end, SymInt step)
void plan_slice_scatter(Call& call, int) {
  const Operand x = call.tensor(0), source = call.tensor(1);
  const size_t d = call.dim(2, x.dims.rank);
  int64_t start = call.integer(3, 0), end = call.integer(4, INT64_MAX);
  const int64_t step = call.integer(5, 1);
  if (!call.require(x.dims.rank > 0 && step >= 1, "it slices by no step")) return;
  const int64_t size = x.dims[d];
  const auto clamp = [size](int64_t at) {
    return std::min(std::max<int64_t>(at < 0 ? at + size : at, 0), size);
  };
  start = clamp(start);
  end = std::max(clamp(end), start);
  Dims sizes = x.dims;
  sizes[d] = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
  Walk part = dense(x);
  part.offset = start * part.strides[d];
  part.strides[d] *= std::min<int64_t>(step, std::max<int64_t>(size, 1));
  replace_part(call, x, source, sizes, part);
}

// select_scatter(x, source, int dim, SymInt index)
void plan_select_scatter(Call& call, int) {
  const Operand x = call.tensor(0), source = call.tensor(1);
  const size_t d = call.dim(2, x.dims.rank);
  int64_t index = call.integer(3);
  if (!call.require(x.dims.rank > 0, "it selects from a scalar")) return;
  if (index < 0) index += x.dims[d];
  if (!call.require(index >= 0 && index < x.dims[d], "its index is out of range")) return;
  const Dims own = contiguous_strides(x.dims);
  Dims sizes;
  Walk part = {x, index * own[d], {}};
  for (size_t i = 0; i < x.dims.rank; ++i) {
    if (i == d) continue;
    sizes.push_back(x.dims[i]);
    part.strides.push_back(own[i]);
  }
  replace_part(call, x, source, sizes, part);
}

// Copies x to the result with each dimension d rolled by shifts[d] elements, which is less than its
// size: what wraps around and what does not are two parts of each dimension.
void roll(Call& call, const Dims& sizes, const Dims& shifts, const Operand& out, const Operand& x) {
  const Dims strides = contiguous_strides(sizes);
  Dims rolled;
  for (size_t d = 0; d < sizes.rank; ++d) {
    if (shifts[d] != 0) rolled.push_back(static_cast<int64_t>(d));
  }
  for (size_t choice = 0; choice < size_t{1} << rolled.rank; ++choice) {
    Dims part = sizes;
    Walk to = {out, 0, strides}, from = {x, 0, strides};
    for (size_t i = 0; i < rolled.rank; ++i) {
      const auto d = static_cast<size_t>(rolled[i]);
      const bool wraps = (choice >> i & 1) != 0;
      const int64_t kept = sizes[d] - shifts[d];
      (wraps ? from : to).offset += (wraps ? kept : shifts[d]) * strides[d];
      part[d] = wraps ? shifts[d] : kept;
    }
    copy(call, part, to, from);
  }
}

int64_t positive_remainder(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

// roll(x, SymInt[] shifts, int[] dims): without dims, of all elements in order.
void plan_roll(Call& call, int) {
  const Operand x = call.tensor(0);
  const Dims given = call.integers(1);
  const Dims dims = call.is_none(2) ? Dims() : call.integers(2);
  const Operand out = call.result(x.dims, x.dtype);
  if (!call.require(given.rank == std::max<size_t>(dims.rank, 1),
                    "it has not a shift for each dim")) {
    return;
  }
  const int64_t count = x.dims.numel();
  if (count == 0) return;
  if (dims.rank == 0) {
    return roll(call, {1, {count}}, {1, {positive_remainder(given[0], count)}}, out, x);
  }
  Dims shifts;
  shifts.rank = x.dims.rank;
  const auto rank = static_cast<int64_t>(x.dims.rank);
  for (size_t i = 0; i < dims.rank; ++i) {
    const int64_t at = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (!call.require(at >= 0 && at < rank, "a dimension is out of range")) return;
    const auto d = static_cast<size_t>(at);
    shifts[d] = (shifts[d] + positive_remainder(given[i], x.dims[d])) % x.dims[d];
  }
  roll(call, x.dims, shifts, out, x);
}

// tril(x, int diagonal), triu
void plan_triangle(Call& call, int is_lower) {
  struct Push {
    uint32_t count;
    int32_t rows, columns, diagonal;
  } push;
  const Operand x = call.tensor(0);
  const int64_t diagonal = call.integer(1, 0);
  const size_t rank = x.dims.rank;
  if (!call.require(rank >= 2, "it has no matrix")) return;
  const int64_t rows = x.dims[rank - 2], columns = x.dims[rank - 1];
  if (!call.require(rows < INT32_MAX / 2 && columns < INT32_MAX / 2, "its matrix is too large")) {
    return;
  }
  const Operand out = call.result(x.dims, x.dtype);
  push = {static_cast<uint32_t>(x.dims.numel()), static_cast<int32_t>(rows),
          static_cast<int32_t>(columns),
          static_cast<int32_t>(std::min(std::max(diagonal, -rows), columns))};
  call.dispatch(Shader::triangle)
      .constant(is_lower != 0)
      .push(push)
      .writes(out)
      .reads(x)
      .groups_for(x.dims.numel(), 256);
}

// unfold_copy(x, int dim, int size, int step): windows of a dimension, as a last dimension.
void plan_unfold(Call& call, int) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  const int64_t size = call.integer(2), step = call.integer(3);
  if (!call.require(x.dims.rank > 0 && x.dims.rank < Dims::kMaxRank, "it unfolds a scalar")) return;
  if (!call.require(size >= 0 && size <= x.dims[d] && step > 0, "its windows are out of range")) {
    return;
  }
  Walk from = dense(x);
  from.strides.push_back(from.strides[d]);
  from.strides[d] *= std::min<int64_t>(step, std::max<int64_t>(x.dims[d], 1));
  Dims dims = x.dims;
  dims[d] = (x.dims[d] - size) / step + 1;
  dims.push_back(size);
  const Operand out = call.result(dims, x.dtype);
  copy(call, dims, dense(out), from);
}

// as_strided_copy(x, SymInt[] size, SymInt[] stride, SymInt? offset)
void plan_as_strided(Call& call, int) {
  const Operand x = call.tensor(0);
  const Dims dims = call.integers(1), strides = call.integers(2);
  const int64_t offset = call.integer(3, 0);
  call.require(dims.rank == strides.rank && offset >= 0, "its strides are out of range");
  const Operand out = call.result(dims, x.dtype);
  if (!call.ok()) return;
  int64_t last = offset;
  for (size_t d = 0; d < dims.rank && dims.numel() > 0; ++d) {
    int64_t reach = 0;
    const bool fits = strides[d] >= 0 && !__builtin_mul_overflow(strides[d], dims[d] - 1, &reach) &&
                      !__builtin_add_overflow(last, reach, &last);
    if (!call.require(fits, "its strides are out of range")) return;
  }
  call.require(dims.numel() == 0 || last < x.dims.numel(), "it reads beyond the tensor");
  copy(call, dims, dense(out), {x, offset, strides});
}

constexpr Operator kOperators[] = {
    {"aten.slice_scatter.default", "aten::slice_scatter.out", 6, plan_slice_scatter},
    {"aten.select_scatter.default", "aten::select_scatter.out", 4, plan_select_scatter},
    {"aten.roll.default", "aten::roll.out", 3, plan_roll},
    {"aten.tril.default", "aten::tril.out", 2, plan_triangle, 1},
    {"aten.triu.default", "aten::triu.out", 2, plan_triangle},
    {"aten.unfold_copy.default", "aten::unfold_copy.out", 4, plan_unfold},
    {"aten.as_strided_copy.default", "aten::as_strided_copy.out", 4, plan_as_strided},
};

}  // namespace

const Span<const Operator> kPartOperators = kOperators;

}  // namespace taper::vulkan
