// Operators that move elements and those that make them from numbers. A view of other sizes is the
// same memory; all else is a copy by strides.

#include <algorithm>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// The strides by which sizes `to` walk what sizes `from` walk by `strides`. False if there are
// none. Dimensions that follow each other in memory are taken together, and must be the product of
// some of `to`.
bool restride(const Dims& from, const Dims& strides, const Dims& to, Dims& found) {
  if (from.rank == 0 || from.numel() == 0 || from.numel() != to.numel()) return false;
  found.rank = to.rank;
  size_t left = to.rank;  // Dimensions of `to` that have no stride yet.
  int64_t old_size = 1, new_size = 1, step = strides[from.rank - 1];
  for (size_t d = from.rank; d-- > 0;) {
    old_size *= from[d];
    const bool goes_on = d > 0 && (from[d - 1] == 1 || strides[d - 1] == old_size * step);
    if (goes_on) continue;
    while (left > 0 && (new_size < old_size || to[left - 1] == 1)) {
      found[--left] = new_size * step;
      new_size *= to[left];
    }
    if (new_size != old_size) return false;
    old_size = new_size = 1;
    if (d > 0) step = strides[d - 1];
  }
  return left == 0;
}

// Argument 0, which `x` is, with other sizes.
void reshape(Call& call, const View& x, const Dims& dims) {
  Dims strides;
  if (!x.is_stored && call.ok() && restride(x.dims, x.walk.strides, dims, strides)) {
    return call.stay_view(0, dims, {x.walk.tensor, x.walk.offset, strides});
  }
  if (call.may_alias(true)) return call.alias(call.tensor(0), dims);
  call.require(x.dims.numel() == dims.numel(), "a view has another number of elements");
  const Operand out = call.half_result(dims, x.dtype);
  copy(call, x.dims, {out, 0, contiguous_strides(x.dims)}, x.walk);
}

// (x, ...): the same elements with the same sizes.
void plan_same(Call& call, int) {
  const View x = call.view(0);
  reshape(call, x, x.dims);
}

// view_copy(x, SymInt[] size)
void plan_view(Call& call, int) {
  const View x = call.view(0);
  Dims dims = call.integers(1);
  int64_t known = 1;
  size_t open = dims.rank;
  for (size_t d = 0; d < dims.rank; ++d) {
    if (dims[d] == -1 && open == dims.rank) {
      open = d;
    } else {
      call.require(dims[d] >= 0 && !__builtin_mul_overflow(known, dims[d], &known),
                   "a size of a view is out of range");
    }
  }
  if (!call.ok()) return;
  if (open < dims.rank) dims[open] = known == 0 ? 0 : x.dims.numel() / known;
  reshape(call, x, dims);
}

// squeeze_copy(x), squeeze_copy.dim(x, d), squeeze_copy.dims(x, d[])
void plan_squeeze(Call& call, int has_dims) {
  const View x = call.view(0);
  const Dims chosen = has_dims != 0 ? call.dim_set(1, x.dims.rank) : Dims();
  if (!call.ok()) return;
  Dims dims;
  for (size_t d = 0; d < x.dims.rank; ++d) {
    const bool goes = x.dims[d] == 1 && (has_dims == 0 || chosen[d] != 0);
    if (!goes) dims.push_back(x.dims[d]);
  }
  reshape(call, x, dims);
}

// unsqueeze_copy(x, d)
void plan_unsqueeze(Call& call, int) {
  const View x = call.view(0);
  const size_t at = call.dim(1, x.dims.rank + 1);
  if (!call.require(x.dims.rank < Dims::kMaxRank, "it has too many dimensions")) return;
  Dims dims;
  for (size_t d = 0; d <= x.dims.rank; ++d) {
    if (d == at) dims.push_back(1);
    if (d < x.dims.rank) dims.push_back(x.dims[d]);
  }
  reshape(call, x, dims);
}

void permute(Call& call, const View& x, const Dims& order) {
  const Dims& strides = x.walk.strides;
  Dims dims, walk;
  bool seen[Dims::kMaxRank] = {};
  for (size_t d = 0; d < order.rank; ++d) {
    const auto rank = static_cast<int64_t>(x.dims.rank);
    const int64_t from = order[d] < 0 ? order[d] + rank : order[d];
    const bool fits = from >= 0 && from < rank && !seen[static_cast<size_t>(from) % Dims::kMaxRank];
    if (!call.require(fits, "its dimensions are not a permutation")) return;
    seen[from] = true;
    dims.push_back(x.dims[static_cast<size_t>(from)]);
    walk.push_back(strides[static_cast<size_t>(from)]);
  }
  call.require(order.rank == x.dims.rank, "its dimensions are not a permutation");
  int64_t last = INT64_MAX;  // Where only dimensions of size 1 move, no element does.
  bool stays = x.is_stored;
  for (size_t d = 0; d < dims.rank; ++d) {
    if (dims[d] == 1) continue;
    stays = stays && walk[d] <= last;
    last = walk[d];
  }
  if (call.may_alias(stays && call.ok())) return call.alias(x.walk.tensor, dims);
  call.stay_view(0, dims, {x.walk.tensor, x.walk.offset, walk});
}

// permute_copy(x, int[] dims)
void plan_permute(Call& call, int) {
  const View x = call.view(0);
  const Dims order = call.integers(1);
  permute(call, x, order);
}

// transpose_copy.int(x, a, b), t_copy(x)
void plan_transpose(Call& call, int has_dims) {
  const View x = call.view(0);
  const size_t a = has_dims != 0 ? call.dim(1, x.dims.rank) : 0;
  const size_t b = has_dims != 0 ? call.dim(2, x.dims.rank) : x.dims.rank - 1;
  if (!call.require(has_dims != 0 || x.dims.rank <= 2, "it transposes more than two dimensions")) {
    return;
  }
  Dims order;
  for (size_t d = 0; d < x.dims.rank; ++d) order.push_back(static_cast<int64_t>(d));
  if (x.dims.rank > 0) std::swap(order[a], order[b]);
  permute(call, x, order);
}

// expand_copy(x, SymInt[] size, bool implicit)
void plan_expand(Call& call, int) {
  const View x = call.view(0);
  Dims dims = call.integers(1);
  if (!call.require(dims.rank >= x.dims.rank, "it expands to fewer dimensions")) return;
  const Dims own = x.walk.strides;
  Dims strides;
  strides.rank = dims.rank;
  for (size_t d = 0; d < x.dims.rank; ++d) {
    const size_t at = d + dims.rank - x.dims.rank;
    if (dims[at] == -1) dims[at] = x.dims[d];
    call.require(x.dims[d] == dims[at] || x.dims[d] == 1, "sizes do not broadcast");
    strides[at] = x.dims[d] == 1 ? 0 : own[d];
  }
  call.stay_view(0, dims, {x.walk.tensor, x.walk.offset, strides});
}

// repeat(x, SymInt[] repeats)
void plan_repeat(Call& call, int) {
  const Operand x = call.tensor(0);
  const Dims repeats = call.integers(1);
  if (!call.require(repeats.rank >= x.dims.rank && repeats.rank * 2 <= Dims::kMaxRank,
                    "it repeats more than four dimensions")) {
    return;
  }
  const Dims own = contiguous_strides(x.dims);
  Dims dims, sizes, strides;  // Each dimension is walked as (which repetition, where in it).
  for (size_t d = 0; d < repeats.rank; ++d) {
    const bool is_new = d + x.dims.rank < repeats.rank;
    const size_t from = d + x.dims.rank - repeats.rank;
    const int64_t size = is_new ? 1 : x.dims[from];
    int64_t whole = 0;
    call.require(repeats[d] >= 0 && !__builtin_mul_overflow(repeats[d], size, &whole),
                 "it repeats too often");
    dims.push_back(whole);
    sizes.push_back(repeats[d]);
    strides.push_back(0);
    sizes.push_back(size);
    strides.push_back(is_new ? 0 : own[from]);
  }
  const Operand out = call.half_result(dims, x.dtype);
  copy(call, sizes, {out, 0, contiguous_strides(sizes)}, {x, 0, strides});
}

// repeat_interleave.self_int(x, SymInt repeats, int? dim, SymInt? output_size): each element, or
// each part along dim, stands `repeats` times in a row.
void plan_repeat_interleave(Call& call, int) {
  const Operand x = call.tensor(0);
  const int64_t repeats = call.integer(1);
  const bool is_flat = call.is_none(2);
  const size_t d = is_flat ? 0 : call.dim(2, x.dims.rank);
  Dims dims = x.dims;
  if (is_flat || dims.rank == 0) dims = {1, {x.dims.numel()}};
  const int64_t outer = dims.product(0, d), n = dims[d], inner = dims.product(d + 1, dims.rank);
  const bool fits = repeats >= 0 && !__builtin_mul_overflow(n, repeats, &dims[d]);
  if (!call.require(fits, "it repeats too often")) return;
  call.require(call.is_none(3) || call.integer(3) == dims[d], "its output has another size");
  const Operand out = call.half_result(dims, x.dtype);
  const Dims sizes = {4, {outer, n, repeats, inner}};
  copy(call, sizes, {out, 0, contiguous_strides(sizes)}, {x, 0, {4, {n * inner, inner, 0, 1}}});
}

// copy(x, source, bool non_blocking): the elements of the source, broadcast to the sizes of x.
void plan_copy(Call& call, int) {
  const Operand x = call.tensor(0), source = call.tensor(1);
  call.require(source.dtype == x.dtype, "it converts what it copies");
  const bool fits =
      source.dims.rank <= x.dims.rank && broadcast(call, source.dims, x.dims) == x.dims;
  if (!call.require(fits, "what it copies does not broadcast")) return;
  const Operand out = call.writes_in_place(x) ? x : call.half_result(x.dims, x.dtype);
  copy(call, x.dims, dense(out), {source, 0, broadcast_strides(source.dims, x.dims)});
}

// slice_copy.Tensor(x, dim, start, end, step)
void plan_slice(Call& call, int) {
  const View x = call.view(0);
  const size_t d = call.dim(1, x.dims.rank);
  int64_t start = call.integer(2, 0), end = call.integer(3, INT64_MAX);
  const int64_t step = call.integer(4, 1);
  if (!call.require(x.dims.rank > 0 && step >= 1, "it slices by no step")) return;
  const int64_t size = x.dims[d];
  const auto clamp = [size](int64_t at) {
    return std::min(std::max<int64_t>(at < 0 ? at + size : at, 0), size);
  };
  start = clamp(start);
  end = std::max(clamp(end), start);
  Dims dims = x.dims;
  dims[d] = (end - start) / step + ((end - start) % step != 0 ? 1 : 0);
  Dims strides = x.walk.strides;
  const int64_t offset = start * strides[d];
  strides[d] *= std::min(step, std::max<int64_t>(size, 1));
  call.stay_view(0, dims, {x.walk.tensor, x.walk.offset + offset, strides});
}

// select_copy.int(x, dim, index)
void plan_select(Call& call, int) {
  const View x = call.view(0);
  const size_t d = call.dim(1, x.dims.rank);
  int64_t index = call.integer(2);
  if (!call.require(x.dims.rank > 0, "it selects from a scalar")) return;
  if (index < 0) index += x.dims[d];
  if (!call.require(index >= 0 && index < x.dims[d], "its index is out of range")) return;
  const Dims own = x.walk.strides;
  Dims dims, strides;
  for (size_t i = 0; i < x.dims.rank; ++i) {
    if (i == d) continue;
    dims.push_back(x.dims[i]);
    strides.push_back(own[i]);
  }
  call.stay_view(0, dims, {x.walk.tensor, x.walk.offset + index * own[d], strides});
}

// flip(x, int[] dims)
void plan_flip(Call& call, int) {
  const View x = call.view(0);
  const Dims chosen = call.integers(1).rank == 0 ? Dims() : call.dim_set(1, x.dims.rank);
  Dims strides = x.walk.strides;
  int64_t offset = 0;
  for (size_t d = 0; d < x.dims.rank; ++d) {
    if (chosen.rank == 0 || chosen[d] == 0) continue;
    offset += std::max<int64_t>(x.dims[d] - 1, 0) * strides[d];
    strides[d] = -strides[d];
  }
  call.stay_view(0, x.dims, {x.walk.tensor, x.walk.offset + offset, strides});
}

// A part of `whole` along dimension d, from `at` on.
Walk part_of(const Operand& whole, size_t d, int64_t at) {
  Walk walk = dense(whole);
  walk.offset = at * walk.strides[d];
  return walk;
}

// cat(Tensor[] tensors, int dim)
void plan_cat(Call& call, int) {
  const size_t count = call.tensor_count(0);
  if (!call.require(count > 0, "it has no tensors")) return;
  // Empty tensors of one dimension are skipped, as PyTorch does.
  const auto skipped = [](const View& part) { return part.dims.rank == 1 && part.dims[0] == 0; };
  Dims dims = call.view(0, 0).dims;
  ScalarType dtype = call.view(0, 0).dtype;
  for (size_t i = 0; i < count; ++i) {
    if (!skipped(call.view(0, i))) dims = call.view(0, i).dims;
  }
  const size_t d = call.dim(1, dims.rank);
  if (!call.require(dims.rank > 0, "it concatenates scalars")) return;
  dims[d] = 0;
  for (size_t i = 0; i < count; ++i) {
    const View part = call.view(0, i);
    if (skipped(part)) continue;
    bool fits = part.dims.rank == dims.rank && part.dtype == dtype;
    for (size_t k = 0; fits && k < dims.rank; ++k) fits = k == d || part.dims[k] == dims[k];
    if (!call.require(fits, "it concatenates tensors of other sizes or dtypes")) return;
    dims[d] += part.dims[d];
  }
  const Operand out = call.half_result(dims, dtype);
  int64_t at = 0;
  for (size_t i = 0; i < count && call.ok(); ++i) {
    const View part = call.view(0, i);
    if (skipped(part)) continue;
    copy(call, part.dims, part_of(out, d, at), part.walk);
    at += part.dims[d];
  }
}

// stack(Tensor[] tensors, int dim)
void plan_stack(Call& call, int) {
  const size_t count = call.tensor_count(0);
  if (!call.require(count > 0, "it has no tensors")) return;
  const View first = call.view(0, 0);
  const size_t d = call.dim(1, first.dims.rank + 1);
  if (!call.require(first.dims.rank < Dims::kMaxRank, "it has too many dimensions")) return;
  Dims dims;
  for (size_t k = 0; k <= first.dims.rank; ++k) {
    if (k == d) dims.push_back(static_cast<int64_t>(count));
    if (k < first.dims.rank) dims.push_back(first.dims[k]);
  }
  const Operand out = call.half_result(dims, first.dtype);
  for (size_t i = 0; i < count && call.ok(); ++i) {
    const View part = call.view(0, i);
    if (!call.require(part.dims == first.dims && part.dtype == first.dtype,
                      "it stacks tensors of other sizes or dtypes")) {
      return;
    }
    Walk to = part_of(out, d, static_cast<int64_t>(i));
    for (size_t k = d; k + 1 < dims.rank; ++k) to.strides[k] = to.strides[k + 1];
    to.strides.rank = part.dims.rank;
    copy(call, part.dims, to, part.walk);
  }
}

// Result k is `size` long along d and starts at `at`.
void split_part(Call& call, const View& x, size_t k, size_t d, int64_t at, int64_t size) {
  if (!call.require(size >= 0 && at <= x.dims[d] - size, "its parts are longer than the whole")) {
    return;
  }
  Dims dims = x.dims;
  dims[d] = size;
  call.stay_view(k, dims, {x.walk.tensor, x.walk.offset + at * x.walk.strides[d], x.walk.strides});
}

// split_with_sizes_copy(x, SymInt[] sizes, dim), split_copy.Tensor(x, SymInt size, dim)
void plan_split(Call& call, int is_list) {
  const View x = call.view(0);
  const size_t d = call.dim(2, x.dims.rank);
  const size_t count = call.result_count();
  if (!call.require(x.dims.rank > 0, "it splits a scalar")) return;
  const Dims sizes = is_list != 0 ? call.integers(1) : Dims();
  const int64_t size = is_list != 0 ? 0 : call.integer(1);
  call.require(is_list == 0 || sizes.rank == count, "it has another number of results");
  call.require(is_list != 0 || size > 0, "its parts have no size");
  int64_t at = 0;
  for (size_t k = 0; k < count && call.ok(); ++k) {
    const int64_t part = is_list != 0 ? sizes[k] : std::min(size, x.dims[d] - at);
    split_part(call, x, k, d, at, part);
    at += part;
  }
  call.require(at == x.dims[d], "its parts are not the whole");
}

// unbind_copy.int(x, dim)
void plan_unbind(Call& call, int) {
  const View x = call.view(0);
  const size_t d = call.dim(1, x.dims.rank);
  if (!call.require(x.dims.rank > 0 && static_cast<int64_t>(call.result_count()) == x.dims[d],
                    "it has another number of results")) {
    return;
  }
  Dims dims, strides;
  const Dims own = x.walk.strides;
  for (size_t k = 0; k < x.dims.rank; ++k) {
    if (k == d) continue;
    dims.push_back(x.dims[k]);
    strides.push_back(own[k]);
  }
  for (size_t k = 0; k < call.result_count() && call.ok(); ++k) {
    const int64_t at = static_cast<int64_t>(k) * own[d];
    call.stay_view(k, dims, {x.walk.tensor, x.walk.offset + at, strides});
  }
}

// pixel_shuffle(x, factor); inverse: pixel_unshuffle
void plan_pixel_shuffle(Call& call, int inverse) {
  const Operand x = call.tensor(0);
  const int64_t r = call.integer(1);
  const size_t rank = x.dims.rank;
  if (!call.require(rank >= 3 && r > 0 && r < 1024, "it shuffles no image")) return;
  const int64_t outer = x.dims.product(0, rank - 3);
  const int64_t c = x.dims[rank - 3], h = x.dims[rank - 2], w = x.dims[rank - 1];
  const bool fits = inverse != 0 ? h % r == 0 && w % r == 0 : c % (r * r) == 0;
  if (!call.require(fits, "its factor does not divide the sizes")) return;
  Dims dims = x.dims;
  dims[rank - 3] = inverse != 0 ? c * r * r : c / (r * r);
  dims[rank - 2] = inverse != 0 ? h / r : h * r;
  dims[rank - 1] = inverse != 0 ? w / r : w * r;
  const Operand out = call.half_result(dims, x.dtype);
  // The small image is [outer, channels, r, r, h, w], the large one [outer, channels, h, r, w, r].
  const Dims& large = inverse != 0 ? x.dims : dims;
  const int64_t channels = large[rank - 3];
  const int64_t rows = large[rank - 2] / r, columns = large[rank - 1] / r;
  const Dims sizes = {6, {outer, channels, rows, r, columns, r}};
  const int64_t plane = rows * columns;
  const Dims in_small = {6,
                         {channels * r * r * plane, r * r * plane, columns, r * plane, 1, plane}};
  const Dims in_large = contiguous_strides(sizes);
  copy(call, sizes, {out, 0, inverse != 0 ? in_small : in_large},
       {x, 0, inverse != 0 ? in_large : in_small});
}

// constant_pad_nd(x, SymInt[] pad, Scalar value): pads come in pairs, those of the last dimension
// first.
void plan_pad(Call& call, int) {
  const Operand x = call.tensor(0);
  const Dims pads = call.integers(1);
  const double value = call.number(2, 0);
  if (!call.require(pads.rank % 2 == 0 && pads.rank / 2 <= x.dims.rank,
                    "it pads dimensions that are not there")) {
    return;
  }
  Dims dims = x.dims, inner = x.dims;
  const Dims own = contiguous_strides(x.dims);
  int64_t from = 0;
  int64_t starts[Dims::kMaxRank] = {};
  for (size_t i = 0; i < pads.rank / 2; ++i) {
    const size_t d = x.dims.rank - 1 - i;
    const int64_t before = pads[2 * i], after = pads[2 * i + 1];
    if (!call.require(
            before > -INT32_MAX && before < INT32_MAX && after > -INT32_MAX && after < INT32_MAX,
            "it pads too much")) {
      return;
    }
    dims[d] = x.dims[d] + before + after;
    const int64_t kept = x.dims[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    inner[d] = std::max<int64_t>(kept, 0);
    if (!call.require(dims[d] >= 0, "it cuts off more than there is")) return;
    from += std::max<int64_t>(-before, 0) * own[d];
    starts[d] = std::max<int64_t>(before, 0);
  }
  const Operand out = call.half_result(dims, x.dtype);
  fill(call, out, value, 0);
  if (inner.numel() == 0) return;
  Walk to = dense(out);
  for (size_t d = 0; d < dims.rank; ++d) to.offset += starts[d] * to.strides[d];
  copy(call, inner, to, {x, from, own});
}

// full(SymInt[] size, Scalar value, ...), zeros, ones: `value` is where the value is, or what it
// is.
void plan_full(Call& call, int) {
  const Dims dims = call.integers(0);
  const double value = call.number(1);
  fill(call, call.result(dims, call.stated_dtype()), value, 0);
}

void plan_filled(Call& call, int value) {
  const Dims dims = call.integers(0);
  fill(call, call.result(dims, call.stated_dtype()), value, 0);
}

// full_like(x, Scalar value, ...)
void plan_full_like(Call& call, int) {
  const Operand x = call.tensor(0);
  const double value = call.number(1);
  fill(call, call.result(x.dims, call.stated_dtype()), value, 0);
}

// zeros_like(x, ...), ones_like
void plan_filled_like(Call& call, int value) {
  const Operand x = call.tensor(0);
  fill(call, call.result(x.dims, call.stated_dtype()), value, 0);
}

// scalar_tensor(Scalar value, ...)
void plan_scalar_tensor(Call& call, int) {
  const double value = call.number(0);
  fill(call, call.result({}, call.stated_dtype()), value, 0);
}

// arange.start_step(start, end, step, ...)
void plan_arange(Call& call, int) {
  const double start = call.number(0), end = call.number(1), step = call.number(2, 1);
  const double count = step == 0 ? -1 : (end - start) / step;
  if (!call.require(count >= 0 && count < INT32_MAX, "its range has no end")) return;
  Dims dims;
  dims.push_back(static_cast<int64_t>(count) +
                 (static_cast<double>(static_cast<int64_t>(count)) < count ? 1 : 0));
  fill(call, call.result(dims, call.stated_dtype()), start, step);
}

constexpr Operator kOperators[] = {
    {"aten.view_copy.default", "aten::view_copy.out", 2, plan_view},
    {"aten._unsafe_view.default", "aten::_unsafe_view.out", 2, plan_view},
    {"aten.squeeze_copy.default", "aten::squeeze_copy.out", 1, plan_squeeze},
    {"aten.squeeze_copy.dim", "aten::squeeze_copy.dim_out", 2, plan_squeeze, 1},
    {"aten.squeeze_copy.dims", "aten::squeeze_copy.dims_out", 2, plan_squeeze, 1},
    {"aten.unsqueeze_copy.default", "aten::unsqueeze_copy.out", 2, plan_unsqueeze},
    {"aten.clone.default", "aten::clone.out", 2, plan_same},
    {"aten.alias_copy.default", "aten::alias_copy.out", 1, plan_same},
    {"aten.detach_copy.default", "aten::detach_copy.out", 1, plan_same},
    {"aten.lift_fresh_copy.default", "aten::lift_fresh_copy.out", 1, plan_same},
    {"dim_order_ops._clone_dim_order.default", "dim_order_ops::_clone_dim_order.out", 3, plan_same},
    {"et_vk.prepack.default", "aten::alias_copy.out", 1, plan_same},
    {"aten.permute_copy.default", "aten::permute_copy.out", 2, plan_permute},
    {"aten.permute.default", "aten::permute_copy.out", 2, plan_permute},
    {"aten.transpose_copy.int", "aten::transpose_copy.int_out", 3, plan_transpose, 1},
    {"aten.t_copy.default", "aten::t_copy.out", 1, plan_transpose},
    {"aten.expand_copy.default", "aten::expand_copy.out", 3, plan_expand},
    {"aten.repeat.default", "aten::repeat.out", 2, plan_repeat},
    {"aten.repeat_interleave.self_int", "vulkan::repeat_interleave", 4, plan_repeat_interleave},
    {"aten.copy.default", "aten::copy.out", 3, plan_copy},
    {"aten.slice_copy.Tensor", "aten::slice_copy.Tensor_out", 5, plan_slice},
    {"aten.slice.Tensor", "aten::slice_copy.Tensor_out", 5, plan_slice},
    {"aten.select_copy.int", "aten::select_copy.int_out", 3, plan_select},
    {"aten.select.int", "aten::select_copy.int_out", 3, plan_select},
    {"aten.flip.default", "aten::flip.out", 2, plan_flip},
    {"aten.cat.default", "aten::cat.out", 2, plan_cat},
    {"aten.stack.default", "aten::stack.out", 2, plan_stack},
    {"aten.split_with_sizes_copy.default", "aten::split_with_sizes_copy.out", 3, plan_split, 1},
    {"aten.split_copy.Tensor", "aten::split_copy.Tensor_out", 3, plan_split},
    {"aten.unbind_copy.int", "aten::unbind_copy.int_out", 2, plan_unbind},
    {"aten.pixel_shuffle.default", "aten::pixel_shuffle.out", 2, plan_pixel_shuffle},
    {"aten.pixel_unshuffle.default", "aten::pixel_unshuffle.out", 2, plan_pixel_shuffle, 1},
    {"aten.constant_pad_nd.default", "aten::constant_pad_nd.out", 3, plan_pad},
    with_options({"aten.full.default", "aten::full.out", 6, plan_full}, 2),
    with_options({"aten.full_like.default", "aten::full_like.out", 7, plan_full_like}, 2),
    with_options({"aten.zeros.default", "aten::zeros.out", 5, plan_filled, 0}, 1),
    with_options({"aten.ones.default", "aten::ones.out", 5, plan_filled, 1}, 1),
    with_options({"aten.zeros_like.default", "aten::zeros_like.out", 6, plan_filled_like, 0}, 1),
    with_options({"aten.ones_like.default", "aten::ones_like.out", 6, plan_filled_like, 1}, 1),
    with_options({"aten.scalar_tensor.default", "aten::scalar_tensor.out", 5, plan_scalar_tensor},
                 1),
    with_options({"aten.arange.start_step", "aten::arange.start_out", 7, plan_arange}, 3),
};

}  // namespace

const Span<const Operator> kMovementOperators = kOperators;

}  // namespace taper::vulkan
