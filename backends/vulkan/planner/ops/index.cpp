// Operators that read elements at places which tensors name, or write them there. Semantics:
// PyTorch; of elements that are written to one place the last one stays. An index out of range is
// an error of the call, which the shaders report.

#include <algorithm>
#include <limits>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// What gather.comp does; the shader has the numbers.
enum class Action : uint32_t { kGather, kScatter, kClaim, kScatterOwned, kCombine };
enum Fold : uint32_t { kAdd, kMultiply, kMaximum, kMinimum, kIntegers };  // kIntegers is added.

// A walk over `sizes`: at each step, the place in the table is that of its strides, plus the index
// times `stride`.
struct Picking {
  Operand table, other, indices;
  Dims sizes, table_strides, other_strides, index_strides;
  int64_t limit = 0;  // Indices are below it.
  int64_t stride = 0;
  bool allows_negative = false;
  bool is_value = false;  // Whether `value` stands for all elements of `other`.
  uint32_t value = 0;
  uint32_t fold = kAdd;  // Of Action::kCombine.
};

Operand fault_word() {
  Operand fault;
  fault.id = kFaultValue;
  return fault;
}

bool is_index(ScalarType dtype) { return dtype == ScalarType::kInt || dtype == ScalarType::kLong; }

void dispatch(Call& call, Action action, const Picking& p, const Operand* owner = nullptr) {
  constexpr size_t kMaxRank = 6;
  struct Push {
    uint32_t count;
    int32_t limit, stride;
    uint32_t value;
    int32_t sizes[kMaxRank], table[kMaxRank], other[kMaxRank], index[kMaxRank];
  } push = {};
  call.require(is_index(p.indices.dtype), "its indices are neither int32 nor int64");
  if (!call.ok()) return;
  Dims sizes = p.sizes;
  Dims strides[3] = {p.table_strides, p.other_strides, p.index_strides};
  collapse(sizes, strides, 3);
  if (!call.require(sizes.rank <= kMaxRank, "it indexes along too many dimensions")) return;
  push.count = static_cast<uint32_t>(p.sizes.numel());
  push.limit = static_cast<int32_t>(p.limit);
  push.stride = static_cast<int32_t>(p.stride);
  push.value = p.value;
  narrow(push.sizes, sizes, sizes.rank);
  narrow(push.table, strides[0], sizes.rank);
  narrow(push.other, strides[1], sizes.rank);
  narrow(push.index, strides[2], sizes.rank);
  call.dispatch(Shader::gather)
      .constant(static_cast<uint32_t>(action))
      .constant(static_cast<uint32_t>(sizes.rank))
      .constant(p.allows_negative)
      .constant(p.is_value)
      .constant(p.fold)
      .push(push);
  const bool writes_table = action != Action::kGather && action != Action::kClaim;
  writes_table ? call.writes(p.table) : call.reads(p.table);
  const Operand& other = p.is_value ? p.indices : p.other;
  action == Action::kGather ? call.writes(other) : call.reads(other);
  call.reads(p.indices).writes(fault_word());
  if (owner != nullptr) {
    action == Action::kClaim ? call.writes(*owner) : call.reads(*owner);
  }
  call.groups_for(p.sizes.numel(), 256);
}

void gather(Call& call, const Picking& p) { dispatch(call, Action::kGather, p); }

// The table already holds what stays.
void scatter(Call& call, const Picking& p) {
  if (!call.ok()) return;
  if (p.is_value) return dispatch(call, Action::kScatter, p);
  // A plan for other sizes has the same temporaries, so one is asked for in any case.
  const bool is_alone = p.indices.dims.numel() <= 1;
  Operand owner = call.temporary(is_alone ? 0 : std::max<int64_t>(p.table.dims.numel(), 1));
  owner.dtype = ScalarType::kInt;
  if (is_alone) return dispatch(call, Action::kScatter, p);
  fill(call, owner, 0, 0);
  dispatch(call, Action::kClaim, p, &owner);
  dispatch(call, Action::kScatterOwned, p, &owner);
}

// `fold` is one of the first four.
void combine(Call& call, Picking p, uint32_t fold) {
  call.require(p.table.dtype == ScalarType::kFloat || p.table.dtype == ScalarType::kInt,
               "it computes with a dtype other than float32 or int32");
  p.fold = p.table.dtype == ScalarType::kFloat ? fold : fold + kIntegers;
  dispatch(call, Action::kCombine, p);
}

// A copy of x to write to, or x itself if it is a buffer that the call writes.
Operand copy_of(Call& call, const Operand& x) {
  if (call.writes_in_place(x)) return x;
  const Operand out = call.result(x.dims, x.dtype);
  copy(call, x.dims, dense(out), dense(x));
  return out;
}

// embedding(table, indices, ...)
void plan_embedding(Call& call, int) {
  Picking p;
  p.table = call.tensor(0);
  p.indices = call.tensor(1);
  if (!call.require(p.table.dims.rank == 2 && p.indices.dims.rank < Dims::kMaxRank,
                    "its table is no matrix")) {
    return;
  }
  const int64_t width = p.table.dims[1];
  Dims dims = p.indices.dims;
  dims.push_back(width);
  p.other = call.half_result(dims, p.table.dtype);
  p.sizes = {2, {p.indices.dims.numel(), width}};
  p.table_strides = {2, {0, 1}};
  p.other_strides = {2, {width, 1}};
  p.index_strides = {2, {1, 0}};
  p.limit = p.table.dims[0];
  p.stride = width;
  gather(call, p);
}

// index_select(x, int dim, index)
void plan_index_select(Call& call, int) {
  Picking p;
  p.table = call.tensor(0);
  p.indices = call.tensor(2);
  const size_t d = call.dim(1, p.table.dims.rank);
  if (!call.require(p.table.dims.rank > 0 && p.indices.dims.rank <= 1,
                    "it selects from a scalar, or by no vector")) {
    return;
  }
  p.sizes = p.table.dims;
  p.sizes[d] = p.indices.dims.numel();
  p.other = call.half_result(p.sizes, p.table.dtype);
  p.table_strides = contiguous_strides(p.table.dims);
  p.limit = p.table.dims[d];
  p.stride = p.table_strides[d];
  p.table_strides[d] = 0;
  p.other_strides = contiguous_strides(p.sizes);
  p.index_strides.rank = p.sizes.rank;
  p.index_strides[d] = 1;
  gather(call, p);
}

Dims with_rank(Dims dims) {  // A scalar counts as a vector of one.
  if (dims.rank == 0) dims.push_back(1);
  return dims;
}

// Sets what gather and the scatters share: `table` along dimension d, `indices` of its rank, and
// another tensor that is not smaller than the latter.
void pick_along(Call& call, size_t d, const Dims& other, Picking& p) {
  const Dims table = with_rank(p.table.dims);
  const Dims all = with_rank(other);
  p.sizes = with_rank(p.indices.dims);
  bool fits = p.sizes.rank == table.rank && all.rank == table.rank;
  for (size_t i = 0; fits && i < table.rank; ++i) {
    fits = p.sizes[i] <= all[i] && (i == d || p.sizes[i] <= table[i]);
  }
  if (!call.require(fits, "its indices are larger than what they index")) return;
  p.table_strides = contiguous_strides(table);
  p.limit = table[d];
  p.stride = p.table_strides[d];
  p.table_strides[d] = 0;
  p.other_strides = contiguous_strides(all);
  p.index_strides = contiguous_strides(p.sizes);
}

// gather(x, int dim, index, bool sparse_grad)
void plan_gather(Call& call, int) {
  Picking p;
  p.table = call.tensor(0);
  p.indices = call.tensor(2);
  const size_t d = call.dim(1, p.table.dims.rank);
  if (!call.ok()) return;
  p.other = call.half_result(p.indices.dims, p.table.dtype);
  pick_along(call, d, p.indices.dims, p);
  gather(call, p);
}

// scatter.src(x, int dim, index, source), scatter_add
void plan_scatter(Call& call, int adds) {
  Picking p;
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  p.indices = call.tensor(2);
  p.other = call.tensor(3);
  if (!call.require(p.other.dtype == x.dtype, "its operands have different dtypes")) return;
  p.table = copy_of(call, x);
  pick_along(call, d, p.other.dims, p);
  adds != 0 ? combine(call, p, kAdd) : scatter(call, p);
}

// scatter.value(x, int dim, index, Scalar value)
void plan_scatter_value(Call& call, int) {
  Picking p;
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  p.indices = call.tensor(2);
  p.is_value = true;
  p.value = word_of(call, call.number(3), x.dtype);
  if (!call.ok()) return;
  p.table = copy_of(call, x);
  pick_along(call, d, p.indices.dims, p);
  scatter(call, p);
}

// scatter_reduce.two(x, int dim, index, source, str reduction, bool include_self)
void plan_scatter_reduce(Call& call, int) {
  constexpr std::string_view kNames[] = {"sum", "prod", "amax", "amin"};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kStarts[] = {0, 1, -kInfinity, kInfinity};
  constexpr double kIntegerStarts[] = {0, 1, INT32_MIN, INT32_MAX};
  Picking p;
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  p.indices = call.tensor(2);
  p.other = call.tensor(3);
  const std::string_view name = call.text(4);
  uint32_t fold = 0;
  while (fold < 4 && kNames[fold] != name) ++fold;
  call.require(fold < 4, "its reduction is not known");
  if (!call.require(p.other.dtype == x.dtype, "its operands have different dtypes")) return;
  p.table = copy_of(call, x);
  pick_along(call, d, p.other.dims, p);
  if (!call.is_none(5) && !call.flag(5)) {  // What is reduced to does not count itself.
    Picking start = p;
    start.is_value = true;
    start.value = word_of(
        call, x.dtype == ScalarType::kFloat ? kStarts[fold] : kIntegerStarts[fold], x.dtype);
    scatter(call, start);
  }
  combine(call, p, fold);
}

// self[indices]: the places that index tensors name together are its batch, which stands in the
// result for the indexed dimensions, or first if these are not neighbours.
struct Indexed {
  Dims batch, result;
  Picking picking;  // But for `other` and its strides.
};

// Writes the places that several index tensors name together.
Operand flat_indices(Call& call, const Operand& x, size_t count, const Dims& batch) {
  struct Push {
    uint32_t count;
    int32_t limit, stride, sizes[Dims::kMaxRank], strides[Dims::kMaxRank];
  };
  Operand flat = call.temporary(batch.numel());
  flat.dtype = ScalarType::kInt;
  flat.dims = batch;
  const Dims own = contiguous_strides(x.dims);
  bool is_first = true;
  for (size_t d = 0; d < count && call.ok(); ++d) {
    if (call.is_none(1, d)) continue;
    const Operand indices = call.tensor(1, d);
    Dims sizes = batch;
    Dims strides[2] = {broadcast_strides(indices.dims, batch), contiguous_strides(batch)};
    collapse(sizes, strides, 2);
    Push push = {};
    push.count = static_cast<uint32_t>(batch.numel());
    push.limit = static_cast<int32_t>(x.dims[d]);
    push.stride = static_cast<int32_t>(own[d]);
    narrow(push.sizes, sizes, sizes.rank);
    narrow(push.strides, strides[0], sizes.rank);
    call.dispatch(Shader::flat_index)
        .constant(static_cast<uint32_t>(sizes.rank))
        .constant(is_first)
        .push(push)
        .writes(flat)
        .reads(indices)
        .writes(fault_word())
        .groups_for(batch.numel(), 256);
    is_first = false;
  }
  return flat;
}

// Argument 1 is the list of index tensors, with none for dimensions that are not indexed.
Indexed read_indices(Call& call, const Operand& x) {
  Indexed indexed;
  const size_t count = call.tensor_count(1);
  if (!call.require(count <= x.dims.rank, "it has more indices than dimensions")) return indexed;
  size_t tensors = 0, first = 0, last = 0;
  for (size_t d = 0; d < count; ++d) {
    if (call.is_none(1, d)) continue;
    const Operand indices = call.tensor(1, d);
    if (!call.require(is_index(indices.dtype), "it indexes by a mask")) return indexed;
    indexed.batch = broadcast(call, indexed.batch, indices.dims);
    if (tensors++ == 0) first = d;
    last = d;
  }
  if (!call.require(tensors > 0, "it has no indices")) return indexed;
  const size_t position = last - first + 1 == tensors ? first : 0;
  call.require(indexed.batch.rank + x.dims.rank - tensors <= Dims::kMaxRank,
               "its result has too many dimensions");
  if (!call.ok()) return indexed;

  Picking& p = indexed.picking;
  const Dims own = contiguous_strides(x.dims), in_batch = contiguous_strides(indexed.batch);
  const auto add_batch = [&] {
    for (size_t i = 0; i < indexed.batch.rank; ++i) {
      indexed.result.push_back(indexed.batch[i]);
      p.table_strides.push_back(0);
      p.index_strides.push_back(in_batch[i]);
    }
  };
  for (size_t d = 0; d < x.dims.rank; ++d) {
    if (d == position) add_batch();
    if (d < count && !call.is_none(1, d)) continue;
    indexed.result.push_back(x.dims[d]);
    p.table_strides.push_back(own[d]);
    p.index_strides.push_back(0);
  }
  p.sizes = indexed.result;
  if (tensors == 1) {
    p.indices = call.tensor(1, first);
    p.limit = x.dims[first];
    p.stride = own[first];
    p.allows_negative = true;
  } else {
    p.indices = flat_indices(call, x, count, indexed.batch);
    p.limit = INT32_MAX;
    p.stride = 1;
  }
  return indexed;
}

// index.Tensor(x, Tensor?[] indices)
void plan_index(Call& call, int) {
  const Operand x = call.tensor(0);
  Indexed indexed = read_indices(call, x);
  Picking& p = indexed.picking;
  p.table = x;
  p.other = call.half_result(indexed.result, x.dtype);
  p.other_strides = contiguous_strides(indexed.result);
  gather(call, p);
}

// index_put(x, Tensor?[] indices, values, bool accumulate)
void plan_index_put(Call& call, int) {
  const Operand x = call.tensor(0), values = call.tensor(2);
  const bool adds = call.flag(3);
  call.require(values.dtype == x.dtype, "its operands have different dtypes");
  if (!call.ok()) return;
  const Operand out = copy_of(call, x);
  Indexed indexed = read_indices(call, x);
  call.require(values.dims.rank <= indexed.result.rank &&
                   broadcast(call, values.dims, indexed.result) == indexed.result,
               "its values do not broadcast to what they replace");
  if (!call.ok()) return;
  Picking& p = indexed.picking;
  p.table = out;
  p.other = values;
  p.other_strides = broadcast_strides(values.dims, indexed.result);
  adds ? combine(call, p, kAdd) : scatter(call, p);
}

// masked_fill.Scalar(x, mask, Scalar value), masked_fill.Tensor(x, mask, value)
void plan_masked_fill(Call& call, int is_tensor) {
  const Operand x = call.tensor(0), mask = call.tensor(1);
  call.require(mask.dtype == ScalarType::kBool, "its mask is not a bool");
  Operand value;
  if (is_tensor != 0) {
    value = call.tensor(2);
    call.require(value.dtype == x.dtype && value.dims.rank == 0,
                 "its value is no scalar of the same dtype");
  } else {
    value = call.temporary(1);
    value.dtype = x.dtype;
    value.dims = {};
    fill(call, value, call.number(2), 0);
  }
  const Operand out = call.result(broadcast(call, x.dims, mask.dims), x.dtype);
  elementwise(call, WHERE, out, {mask, value, x});
}

constexpr Operator kOperators[] = {
    {"aten.embedding.default", "aten::embedding.out", 5, plan_embedding},
    {"aten.index_select.default", "aten::index_select.out", 3, plan_index_select},
    {"aten.gather.default", "aten::gather.out", 4, plan_gather},
    {"aten.index.Tensor", "aten::index.Tensor_out", 2, plan_index},
    {"aten.index_put.default", "aten::index_put.out", 4, plan_index_put},
    {"aten.scatter.src", "aten::scatter.src_out", 4, plan_scatter},
    {"aten.scatter.value", "aten::scatter.value_out", 4, plan_scatter_value},
    {"aten.scatter_add.default", "aten::scatter_add.out", 4, plan_scatter, 1},
    {"aten.scatter_reduce.two", "aten::scatter_reduce.two_out", 6, plan_scatter_reduce},
    {"aten.masked_fill.Scalar", "aten::masked_fill.Scalar_out", 3, plan_masked_fill},
    {"aten.masked_fill.Tensor", "aten::masked_fill.Tensor_out", 3, plan_masked_fill, 1},
};

}  // namespace

const Span<const Operator> kIndexOperators = kOperators;

}  // namespace taper::vulkan
