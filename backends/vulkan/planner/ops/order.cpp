// Sorted rows and their largest elements. Semantics: aten::sort, aten::argsort, aten::topk; equal
// elements keep their order.

#include <algorithm>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/rows.h"

namespace taper::vulkan {
namespace {

// Every element is compared with its row. More would keep small devices busy for too long.
constexpr int64_t kLongestRow = 16384, kMostComparisons = int64_t{1} << 33;

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

struct Order {
  Operand x, values, indices;
  bool has_values = false, descending = false;
  int64_t kept = 0;  // Elements of a sorted row.
};

void order_rows(Call& call, const Order& order, const Rows& rows) {
  const bool is_float = order.x.dtype == ScalarType::kFloat;
  call.require(rows.n <= kLongestRow, "it sorts long rows");
  call.require(order.x.dims.numel() <= kMostComparisons / std::max<int64_t>(rows.n, 1),
               "it sorts many long rows");
  if (!call.ok() || order.x.dims.numel() == 0) return;
  struct {
    uint32_t count, n, inner, kept;
  } const push = {u32(order.x.dims.numel()), u32(rows.n), u32(rows.inner), u32(order.kept)};
  call.dispatch(Shader::sort)
      .constant(is_float)
      .constant(order.descending)
      .constant(order.has_values)
      .push(push)
      .writes(order.indices)
      .reads(order.x);
  if (order.has_values) call.writes(order.values);
  call.groups_for(order.x.dims.numel(), 256);
}

// The first argument, whose dtype must have an order of 32 bits.
Operand ordered_tensor(Call& call) {
  const Operand x = call.tensor(0);
  const bool known = x.dtype == ScalarType::kFloat || x.dtype == ScalarType::kInt ||
                     x.dtype == ScalarType::kChar || x.dtype == ScalarType::kByte ||
                     x.dtype == ScalarType::kShort || x.dtype == ScalarType::kBool;
  call.require(known, "it sorts a dtype other than float32 or integers of 32 bits");
  return x;
}

// Keeps `kept` elements of each row along d, or all if it is negative.
void keep(Call& call, Order& order, size_t d, int64_t kept) {
  if (!call.ok()) return;
  const Rows rows = rows_along(order.x, d);
  order.kept = kept < 0 ? rows.n : kept;
  if (!call.require(order.kept <= rows.n, "it wants more elements than there are")) return;
  Dims dims = order.x.dims;
  if (dims.rank > 0) dims[d] = order.kept;
  if (order.has_values) order.values = call.result(0, dims, order.x.dtype);
  // A list of results may end before the indices, if nothing reads them.
  const size_t at = order.has_values ? 1 : 0;
  order.indices = at < call.result_count() ? call.result(at, dims, ScalarType::kLong)
                                           : call.temporary(dims.numel());
  order_rows(call, order, rows);
}

// sort(x, int dim, bool descending), sort.stable(x, bool? stable, int dim, bool descending):
// `first` is where dim is.
void plan_sort(Call& call, int first) {
  Order order;
  order.x = ordered_tensor(call);
  order.has_values = true;
  const auto at = static_cast<size_t>(first);
  const size_t d = call.dim(at, order.x.dims.rank);
  order.descending = call.flag(at + 1);
  keep(call, order, d, -1);
}

// argsort.stable(x, bool stable, int dim, bool descending)
void plan_argsort(Call& call, int) {
  Order order;
  order.x = ordered_tensor(call);
  const size_t d = call.dim(2, order.x.dims.rank);
  order.descending = call.flag(3);
  keep(call, order, d, -1);
}

// topk(x, SymInt k, int dim, bool largest, bool sorted)
void plan_topk(Call& call, int) {
  Order order;
  order.x = ordered_tensor(call);
  order.has_values = true;
  const int64_t kept = call.integer(1);
  const size_t d = call.dim(2, order.x.dims.rank);
  order.descending = call.flag(3);
  call.require(kept >= 0, "it wants a negative number of elements");
  keep(call, order, d, kept);
}

constexpr Operator kOperators[] = {
    {"aten.sort.default", "aten::sort.values", 3, plan_sort, 1},
    {"aten.sort.stable", "aten::sort.values_stable", 4, plan_sort, 2},
    {"aten.argsort.stable", "aten::argsort.stable_out", 4, plan_argsort},
    {"aten.topk.default", "aten::topk.values", 5, plan_topk},
};

}  // namespace

const Span<const Operator> kOrderOperators = kOperators;

}  // namespace taper::vulkan
