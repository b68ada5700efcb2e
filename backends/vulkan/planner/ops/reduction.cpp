// Reductions over dimensions, and running sums. Semantics: PyTorch's native_functions.yaml. A sum
// of integers is an int64; where it could need more than 32 bits the call is refused.

#include <algorithm>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/reduction.h"

namespace taper::vulkan {
namespace {

constexpr const char* kNotFloat = "it computes with a dtype other than float32";

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

bool is_integer(ScalarType dtype) {
  return dtype == ScalarType::kInt || dtype == ScalarType::kLong || dtype == ScalarType::kShort ||
         dtype == ScalarType::kChar || dtype == ScalarType::kByte || dtype == ScalarType::kBool;
}

// No element is larger.
int64_t largest_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kBool:
      return 1;
    case ScalarType::kChar:
    case ScalarType::kByte:
      return 255;
    case ScalarType::kShort:
      return 32768;
    default:
      return INT32_MAX;
  }
}

// What reduce.comp computes; a mean is a sum that it divides.
enum Reduction : int { kSum, kProduct, kMax, kMin, kAny, kAll, kMean };

struct Reduce {
  int kind = kSum;
  Operand out;
  bool in_floats = true, of_floats = true;
  bool is_mean = false;
  int64_t divisor = 1;
};

// Reduces every row in `splits` parts.
void reduce_parts(Call& call, const Reduce& r, const Rows& rows, int64_t splits) {
  const int64_t chunk = std::max<int64_t>((rows.n + splits - 1) / splits, 1);
  const int64_t results = rows.count() * splits;
  struct {
    uint32_t results, n, inner, chunk, splits;
    float divisor;
  } const push = {u32(results), u32(rows.n), u32(rows.inner),
                  u32(chunk),   u32(splits), static_cast<float>(r.divisor)};
  dispatch_rows(call, Shader::reduce, results, chunk, rows.inner)
      .constant(static_cast<uint32_t>(r.kind))
      .constant(r.in_floats)
      .constant(r.of_floats)
      .constant(r.is_mean)
      .push(push)
      .writes(r.out)
      .reads(rows.x);
}

// A few long rows are reduced in two steps, so that they occupy the device.
void reduce(Call& call, const Reduce& r, const Rows& rows) {
  constexpr int64_t kPart = 2048, kMostSplits = 256, kMostPartials = 8192;
  // The memory grows with the sizes, whether or not these want it.
  const int64_t elements = rows.x.dims.numel();
  const Operand partials = call.temporary(std::min(elements / kPart, kMostPartials));
  const int64_t count = rows.count();
  if (!call.ok() || count == 0) return;
  const int64_t splits = std::min({rows.n / kPart, kMostSplits, kMostPartials / count});
  if (splits < 4) return reduce_parts(call, r, rows, 1);
  Reduce first = r;
  first.out = partials;
  first.is_mean = false;
  reduce_parts(call, first, rows, splits);
  Reduce second = r;
  second.in_floats = r.of_floats;
  reduce_parts(call, second, {partials, rows.outer, splits, rows.inner}, 1);
}

// Whether sums, or else products, of n elements of a dtype are right as 32 bits of another.
bool fits_words(bool is_sum, ScalarType dtype, ScalarType out, int64_t n) {
  if (out == ScalarType::kInt) return true;  // They wrap around.
  if (out != ScalarType::kLong) return false;
  return is_sum ? n <= INT32_MAX / largest_of(dtype) : dtype == ScalarType::kBool;
}

// What an int64 holds is often an extreme that 32 bits do not.
void check_extreme(Call& call, ScalarType dtype) {
  call.require(dtype != ScalarType::kLong, "it finds extremes of int64, which may exceed 32 bits");
}

// The dtype of a reduction's result, which its payload may choose within bounds.
ScalarType result_dtype(Call& call, int kind, const Rows& rows) {
  const ScalarType dtype = rows.x.dtype, stated = call.stated_dtype();
  const bool is_float = dtype == ScalarType::kFloat;
  call.require(is_float || is_integer(dtype), "it reduces a dtype other than float32 or integers");
  switch (kind) {
    case kMean:
      return ScalarType::kFloat;
    case kMax:
    case kMin:
      check_extreme(call, dtype);
      return dtype;
    case kAny:
    case kAll:
      return dtype == ScalarType::kByte ? dtype : ScalarType::kBool;
    default:
      break;
  }
  if (is_float || stated == ScalarType::kFloat) return ScalarType::kFloat;
  call.require(fits_words(kind == kSum, dtype, stated, rows.n), "its sums may exceed 32 bits");
  return stated;
}

void plan_rows(Call& call, int kind, const Rows& rows, const Dims& out_dims) {
  if (!call.ok()) return;
  call.require(rows.n > 0 || (kind != kMax && kind != kMin), "it finds the extreme of nothing");
  const ScalarType dtype = result_dtype(call, kind, rows);
  Reduce r;
  r.kind = kind == kMean ? kSum : kind;
  const bool may_be_large = kind == kSum || kind == kProduct;
  r.out = may_be_large ? call.result(out_dims, dtype) : call.half_result(out_dims, dtype);
  r.in_floats = rows.x.dtype == ScalarType::kFloat;
  r.of_floats = dtype == ScalarType::kFloat;
  r.is_mean = kind == kMean;
  r.divisor = rows.n;
  reduce(call, r, rows);
}

Dims all_dims(const Operand& x) {
  Dims set;
  while (set.rank < x.dims.rank) set.push_back(1);
  return set;
}

// sum.dim_IntList(x, int[]? dim, bool keepdim, dtype), mean.dim, amax, amin, prod.dim_int, any.dim,
// any.dims, all.dim, all.dims
void plan_reduce(Call& call, int kind) {
  const Operand x = call.tensor(0);
  Dims set = call.dim_set(1, x.dims.rank);
  const bool keepdim = call.flag(2);
  // Other than the rest, any and all over an empty list reduce nothing.
  const bool is_test = kind == kAny || kind == kAll;
  if (is_test && !call.is_none(1) && call.integers(1).rank == 0) set = {x.dims.rank, {}};
  if (!call.ok()) return;
  const Dims out_dims = without(x.dims, set, keepdim);
  plan_rows(call, kind, rows_over(call, x, set), out_dims);
}

// mean(x, dtype), prod(x, dtype), any(x), all(x), max(x), min(x)
void plan_reduce_all(Call& call, int kind) {
  const Operand x = call.tensor(0);
  plan_rows(call, kind, {x, 1, x.dims.numel(), 1}, {});
}

void find_extreme(Call& call, bool is_max, const Rows& rows, const Operand& indices,
                  const Operand* values) {
  call.require(rows.x.dtype == ScalarType::kFloat || is_integer(rows.x.dtype),
               "it compares a dtype other than float32 or integers");
  if (!call.ok() || rows.count() == 0) return;
  if (!call.require(rows.n > 0, "it finds the extreme of nothing")) return;
  struct {
    uint32_t results, n, inner;
  } const push = {u32(rows.count()), u32(rows.n), u32(rows.inner)};
  dispatch_rows(call, Shader::extreme, rows.count(), rows.n, rows.inner)
      .constant(is_max)
      .constant(rows.x.dtype == ScalarType::kFloat)
      .constant(values != nullptr)
      .push(push)
      .writes(indices)
      .reads(rows.x);
  if (values != nullptr) call.writes(*values);
}

// argmax(x, int? dim, bool keepdim), argmin
void plan_arg_extreme(Call& call, int is_max) {
  const Operand x = call.tensor(0);
  const bool keepdim = call.flag(2), is_whole = call.is_none(1);
  const size_t d = is_whole ? 0 : call.dim(1, x.dims.rank);
  if (!call.ok()) return;
  Dims set = all_dims(x);
  for (size_t i = 0; i < set.rank && !is_whole; ++i) set[i] = i == d;
  const Rows rows = is_whole ? Rows{x, 1, x.dims.numel(), 1} : rows_along(x, d);
  const Operand indices = call.result(without(x.dims, set, keepdim), ScalarType::kLong);
  find_extreme(call, is_max != 0, rows, indices, nullptr);
}

// max.dim(x, int dim, bool keepdim) -> values, indices; min.dim
void plan_extreme(Call& call, int is_max) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  const bool keepdim = call.flag(2);
  check_extreme(call, x.dtype);
  if (!call.ok()) return;
  Dims set = all_dims(x);
  for (size_t i = 0; i < set.rank; ++i) set[i] = i == d;
  const Dims dims = without(x.dims, set, keepdim);
  const Operand values = call.result(0, dims, x.dtype);
  const Operand indices = call.result_count() > 1 ? call.result(1, dims, ScalarType::kLong)
                                                  : call.temporary(dims.numel());
  find_extreme(call, is_max != 0, rows_along(x, d), indices, &values);
}

// var.correction(x, int[]? dim, Scalar? correction, bool keepdim); var.dim, whose `unbiased` is a
// correction of 1 or 0; var_mean.correction -> var, mean
void plan_variance(Call& call, int has_mean) {
  const Operand x = call.tensor(0);
  const Dims set = call.dim_set(1, x.dims.rank);
  const double correction = call.number(2, 1);
  const bool keepdim = call.flag(3);
  call.require(x.dtype == ScalarType::kFloat, kNotFloat);
  if (!call.ok()) return;
  const Dims dims = without(x.dims, set, keepdim);
  const Operand out = call.result(0, dims, ScalarType::kFloat);
  const Operand mean = has_mean != 0 ? call.result(1, dims, ScalarType::kFloat) : out;
  const Rows rows = rows_over(call, x, set);
  if (!call.ok() || rows.count() == 0) return;
  struct {
    uint32_t results, n, inner;
    float divisor;
  } const push = {u32(rows.count()), u32(rows.n), u32(rows.inner),
                  static_cast<float>(std::max(static_cast<double>(rows.n) - correction, 0.0))};
  dispatch_rows(call, Shader::variance, rows.count(), rows.n, rows.inner)
      .constant(u32(has_mean))
      .push(push)
      .writes(out)
      .reads(rows.x)
      .writes(mean);
}

// cumsum(x, int dim, dtype)
void plan_cumsum(Call& call, int) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  if (!call.ok()) return;
  const Rows rows = rows_along(x, d);
  const ScalarType dtype = result_dtype(call, kSum, rows);
  const Operand out = call.result(x.dims, dtype);
  if (!call.ok() || x.dims.numel() == 0) return;
  struct {
    uint32_t rows, n, inner;
  } const push = {u32(rows.count()), u32(rows.n), u32(rows.inner)};
  dispatch_rows(call, Shader::scan, rows.count(), rows.n, rows.inner)
      .constant(x.dtype == ScalarType::kFloat)
      .constant(dtype == ScalarType::kFloat)
      .push(push)
      .writes(out)
      .reads(x);
}

constexpr Operator kOperators[] = {
    {"aten.sum.dim_IntList", "aten::sum.IntList_out", 4, plan_reduce, kSum},
    {"aten.mean.dim", "aten::mean.out", 4, plan_reduce, kMean},
    {"aten.mean.default", "aten::mean.dtype_out", 2, plan_reduce_all, kMean},
    {"aten.prod.dim_int", "aten::prod.int_out", 4, plan_reduce, kProduct},
    {"aten.prod.default", "aten::prod.out", 2, plan_reduce_all, kProduct},
    {"aten.amax.default", "aten::amax.out", 3, plan_reduce, kMax},
    {"aten.amin.default", "aten::amin.out", 3, plan_reduce, kMin},
    {"aten.max.default", "aten::max.unary_out", 1, plan_reduce_all, kMax},
    {"aten.min.default", "aten::min.unary_out", 1, plan_reduce_all, kMin},
    {"aten.any.default", "aten::any.all_out", 1, plan_reduce_all, kAny},
    {"aten.any.dim", "aten::any.out", 3, plan_reduce, kAny},
    {"aten.any.dims", "aten::any.dims_out", 3, plan_reduce, kAny},
    {"aten.all.default", "aten::all.all_out", 1, plan_reduce_all, kAll},
    {"aten.all.dim", "aten::all.out", 3, plan_reduce, kAll},
    {"aten.all.dims", "aten::all.dims_out", 3, plan_reduce, kAll},
    {"aten.argmax.default", "aten::argmax.out", 3, plan_arg_extreme, 1},
    {"aten.argmin.default", "aten::argmin.out", 3, plan_arg_extreme, 0},
    {"aten.max.dim", "aten::max.dim_max", 3, plan_extreme, 1},
    {"aten.min.dim", "aten::min.dim_min", 3, plan_extreme, 0},
    {"aten.var.correction", "aten::var.correction_out", 4, plan_variance},
    {"aten.var.dim", "aten::var.out", 4, plan_variance},
    {"aten.var_mean.correction", "aten::var_mean.correction_out", 4, plan_variance, 1},
    {"aten.cumsum.default", "aten::cumsum.out", 3, plan_cumsum},
};

}  // namespace

void find_extremes(Call& call, bool largest, const Rows& rows, const Operand& out) {
  Reduce r;
  r.kind = largest ? kMax : kMin;
  r.out = out;
  reduce(call, r, rows);
}

const Span<const Operator> kReductionOperators = kOperators;

}  // namespace taper::vulkan
