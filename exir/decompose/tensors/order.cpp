// Order statistics: each sorts its rows and selects elements.

#include <cmath>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

Value* self(Builder& b) { return b.in("self"); }
int64_t rank_of(const Value* x) { return static_cast<int64_t>(x->type.rank()); }
bool has_nan(const Value* x) { return is_floating(x->type.dtype); }

struct Sorted {
  Value* values;
  Value* indices;
};
Sorted sorted(Builder& b, Value* x, int64_t dim, Argument descending = false) {
  const std::vector<Value*> y = b.ops("sort.stable", {x, true, dim, std::move(descending)});
  return {y[0], y[1]};
}

void sort_indices(Builder& b) {
  b.result(sorted(b, self(b), b.arg("dim").to_int(), b.arg("descending")).indices);
}
void sort_rows(Builder& b) { b.result(sorted(b, self(b), 0).values); }

// Returns the sorted elements at `place`, an int64 tensor that broadcasts, along dim, and their
// original positions if the call has a second result.
void pick(Builder& b, const Sorted& rows, int64_t dim, Value* place) {
  Sizes sizes = rows.values->type.sizes;
  sizes.at(static_cast<size_t>(dim)) = 1;
  place = b.expand(place, sizes);
  const auto at = [&](Value* x) {
    return b.view(b.op("gather", {x, dim, place}), b.out_type().sizes);
  };
  b.result(at(rows.values));
  if (b.node().outputs.size() > 1) b.result(at(rows.indices), 1);
}

// The rows to reduce: self along a dimension, or all of self as one row.
struct Rows {
  Value* x;
  int64_t dim;
};
Rows rows_of(Builder& b) {
  Value* x = self(b);
  if (rank_of(x) > 0 && b.knows("dim") && b.has("dim")) {
    return {x, wrap_dim(b.arg("dim").to_int(), rank_of(x))};
  }
  return {b.view(x, {x->type.numel()}), 0};
}
Sym length_of(const Rows& rows) { return dim_of(rows.x, rows.dim); }

Value* nan_count(Builder& b, const Rows& rows) {
  return b.sum(b.op("isnan", {rows.x}), {rows.dim}, true);
}
Value* at_position(Builder& b, const Sym& position) {
  return b.full({}, b.size(position), ScalarType::kLong);
}
// The position of the lower median of so many elements.
Sym middle(const Sym& length) { return floor_div(length - Sym(1), Sym(2)); }

void kthvalue(Builder& b) {
  const Rows rows = rows_of(b);
  pick(b, sorted(b, rows.x, rows.dim), rows.dim, at_position(b, b.arg("k").to_int() - 1));
}

// The lower median; NaN if the row has a NaN.
void median(Builder& b) {
  const Rows rows = rows_of(b);
  const Sym length = length_of(rows);
  if (length == Sym(0)) return b.result(b.full(b.out_type().sizes, NAN, b.out_type().dtype));
  Value* place = at_position(b, middle(length));
  if (has_nan(rows.x)) {
    Value* nans = nan_count(b, rows);
    Value* first_nan = b.op("rsub.Scalar", {nans, b.size(length)});
    place = b.where(b.op("gt.Scalar", {nans, 0}), first_nan, place);
  }
  pick(b, sorted(b, rows.x, rows.dim), rows.dim, place);
}

// The lower median of the elements that are not NaN.
void nanmedian(Builder& b) {
  const Rows rows = rows_of(b);
  const Sym length = length_of(rows);
  if (length == Sym(0)) return b.result(b.full(b.out_type().sizes, NAN, b.out_type().dtype));
  Value* place = at_position(b, middle(length));
  if (has_nan(rows.x)) {
    Value* last = b.op("rsub.Scalar", {nan_count(b, rows), b.size(length - Sym(1))});
    place = b.op("div.Scalar_mode", {b.op("clamp", {last, 0, Argument()}), 2, "floor"});
  }
  pick(b, sorted(b, rows.x, rows.dim), rows.dim, place);
}

// The most frequent value, the smallest of several, at its last occurrence, as PyTorch has it: runs
// of equal values are numbered and their elements counted; all up to the end of the longest run
// have at most its number.
void mode(Builder& b) {
  const Rows rows = rows_of(b);
  const Sorted order = sorted(b, rows.x, rows.dim);
  Value* last = b.transpose(order.values, rows.dim, -1);
  const Sym length = dim_of(last, -1);
  Value* before = b.slice(last, -1, 0, length - Sym(1));
  Value* changes = b.op("ne.Tensor", {b.slice(last, -1, 1, length), before});
  Sizes sizes = last->type.sizes;
  Value* zeros = b.full(sizes, 0, ScalarType::kLong);
  Value* ones = b.full(sizes, 1, ScalarType::kLong);
  sizes.back() = Sym(1);
  changes = b.cat({b.full(sizes, false, ScalarType::kBool), changes}, -1);
  Value* numbers = b.op("cumsum", {changes, -1});
  Value* counts = b.op("scatter_add", {zeros, -1, numbers, ones});
  Value* most = b.op("argmax", {counts, -1, true});
  Value* place = b.sub(b.sum(b.op("le.Tensor", {numbers, most}), {-1}, true), 1);
  pick(b, order, rows.dim, b.transpose(place, rows.dim, -1));
}

// Interpolates between the two elements around `place`, the position q * (n - 1) in each row.
Value* interpolated(Builder& b, Value* x, Value* place) {
  const std::string& how = b.arg("interpolation").text();
  if (how == "nearest") place = b.op("round", {place});
  const auto at = [&](const char* rounding) {
    Value* index = b.cast(b.op(rounding, {place}), ScalarType::kLong);
    return b.op("gather", {x, rank_of(x) - 1, index});
  };
  Value* below = at("floor");
  if (how == "lower" || how == "nearest") return below;
  Value* above = at("ceil");
  if (how == "higher") return above;
  if (how == "midpoint") return b.add(below, b.mul(b.sub(above, below), 0.5));
  Value* part = b.sub(place, b.op("floor", {place}));
  return b.op("lerp.Tensor", {below, above, part});
}

// q is a number or a vector; a vector adds a first dimension to the result.
void quantile_of(Builder& b, bool skip_nan) {
  const Rows rows = rows_of(b);
  const ScalarType dtype = rows.x->type.dtype;
  Value* x = sorted(b, b.transpose(rows.x, rows.dim, -1), -1).values;
  const Argument end = b.size(dim_of(x, -1) - Sym(1));
  Value* q = b.arg("q").is_value() ? b.in("q") : b.constant(b.arg("q").to_double(), dtype);
  const bool line = q->type.rank() == 1;
  Sizes wide = x->type.sizes;
  wide.back() = line ? dim_of(q, 0) : Sym(1);
  Value* nans = b.sum(b.op("isnan", {x}), {-1}, true);
  Value* last = b.cast(b.op("rsub.Scalar", {nans, end}), dtype);
  Value* place = nullptr;
  if (skip_nan) {
    place = b.mul(b.op("clamp", {last, 0, Argument()}), q);
  } else {
    Value* most = b.full({}, end, dtype);
    place = b.where(b.op("gt.Scalar", {nans, 0}), most, b.mul(q, most));
  }
  Value* y = interpolated(b, x, b.expand(place, wide));
  y = b.transpose(y, rows.dim, -1);
  if (line) {
    std::vector<int64_t> order = {rows.dim};
    for (int64_t d = 0; d < rank_of(y); ++d) {
      if (d != rows.dim) order.push_back(d);
    }
    y = b.permute(y, order);
  }
  b.result(b.view(y, b.out_type().sizes));
}
void quantile(Builder& b) { quantile_of(b, false); }
void nanquantile(Builder& b) { quantile_of(b, true); }

// ---- runs of equal items ----

// The items are the elements of self or, along a dimension, its slices: the rows of a matrix.
bool has_slices(Builder& b) { return b.knows("dim") && b.has("dim") && rank_of(self(b)) > 1; }

// The order of dimensions in which the one along which the slices lie comes first.
std::vector<int64_t> slices_first(Builder& b) {
  std::vector<int64_t> order = {wrap_dim(b.arg("dim").to_int(), rank_of(self(b)))};
  for (int64_t d = 0; d < rank_of(self(b)); ++d) {
    if (d != order[0]) order.push_back(d);
  }
  return order;
}

Value* items_of(Builder& b) {
  Value* x = self(b);
  if (!has_slices(b)) return b.view(x, {x->type.numel()});
  x = b.permute(x, slices_first(b));
  return b.view(x, {dim_of(x, 0), product(x->type.sizes, 1, x->type.rank())});
}

// Items in the form of self.
Value* as_self(Builder& b, Value* items) {
  if (!has_slices(b)) return items;
  const std::vector<int64_t> order = slices_first(b);
  std::vector<int64_t> back(order.size());
  Sizes sizes = {dim_of(items, 0)};
  for (size_t d = 0; d < order.size(); ++d) {
    back.at(static_cast<size_t>(order[d])) = static_cast<int64_t>(d);
    if (d > 0) sizes.push_back(dim_of(self(b), order[d]));
  }
  return b.permute(b.view(items, sizes), back);
}

// Which elements differ from those of the row before; `first` for the first row.
Value* changes(Builder& b, Value* x, bool first) {
  const Sym length = dim_of(x, 0);
  Value* changed = b.op("ne.Tensor", {b.slice(x, 0, 1, length), b.slice(x, 0, 0, length - Sym(1))});
  Sizes row = x->type.sizes;
  row[0] = 1;
  return b.cat({b.full(row, first, ScalarType::kBool), changed}, 0);
}

// The runs of equal items: the value and the length of each, and for each item the index of its
// run.
struct Runs {
  Value* values;
  Value* counts;
  Value* numbers;
};

Runs runs_of(Builder& b, Value* items) {
  const Sym length = dim_of(items, 0);
  const size_t dim = has_slices(b) ? static_cast<size_t>(slices_first(b)[0]) : 0;
  const Sym found = b.out_type().sizes.at(dim);
  Value* begins = changes(b, items, true);
  if (has_slices(b)) begins = b.op("any.dim", {begins, 1});
  const auto chosen = [&](Value* x) {
    return b.rewriter().emit("aten::masked_select", {x, begins},
                             {TensorType(x->type.dtype, {found})})[0];
  };
  Value* numbers = b.sub(b.op("cumsum", {begins, 0}), 1);
  Value* zeros = b.full({length}, 0, ScalarType::kLong);
  Value* ones = b.full({length}, 1, ScalarType::kLong);
  Value* counts = b.op("scatter_add", {zeros, 0, numbers, ones});
  Value* values = has_slices(b) ? b.op("index_select", {items, 0, chosen(b.arange(Sym(0), length))})
                                : chosen(items);
  return {values, chosen(b.op("index_select", {counts, 0, numbers})), numbers};
}

// Results that the caller did not ask for may be empty.
void give_runs(Builder& b, const Runs& runs) {
  b.result(as_self(b, runs.values));
  Value* rest[] = {runs.numbers, runs.counts};
  for (size_t i = 1; i <= 2; ++i) {
    const Sizes& sizes = b.out_type(i).sizes;
    const bool empty = sizes.size() == 1 && sizes[0] == Sym(0);
    b.result(empty ? b.full(sizes, 0, ScalarType::kLong) : b.view(rest[i - 1], sizes), i);
  }
}

// For each element the number of different smaller ones in its column.
Value* ranks_in_columns(Builder& b, Value* x) {
  const Sorted order = sorted(b, x, 0);
  Value* ranks = b.op("cumsum", {changes(b, order.values, false), 0});
  Value* zeros = b.full(x->type.sizes, 0, ScalarType::kLong);
  return b.op("scatter.src", {zeros, 0, order.indices, ranks});
}

// For each row the number of different rows before it in the order of their first elements, then
// of their second ones, and so on. Two neighbouring columns of ranks make one of numbers with two
// digits, until one column is left.
Value* ranks_of_rows(Builder& b, Value* x) {
  if (!dim_of(x, 1).is_int()) throw Failure("slices whose size varies are not put in order");
  const Sym rows = dim_of(x, 0);
  Value* ranks = ranks_in_columns(b, x);
  for (int64_t columns = dim_of(x, 1).as_int(); columns > 1; columns = (columns + 1) / 2) {
    if (columns % 2 == 1) ranks = b.cat({ranks, b.full({rows, 1}, 0, ScalarType::kLong)}, 1);
    Value* pairs = b.view(ranks, {rows, (columns + 1) / 2, 2});
    Value* high = b.mul(b.select(pairs, 2, 0), b.size(rows));
    ranks = ranks_in_columns(b, b.add(high, b.select(pairs, 2, 1)));
  }
  return b.select(ranks, 1, 0);
}

Sorted sorted_items(Builder& b, Value* items) {
  if (!has_slices(b)) return sorted(b, items, 0);
  Value* order = sorted(b, ranks_of_rows(b, items), 0).indices;
  return {b.op("index_select", {items, 0, order}), order};
}

// Nothing has no runs. Returns false if self has elements, or may have some.
bool give_nothing(Builder& b) {
  if (!(self(b)->type.numel() == Sym(0))) return false;
  for (size_t i = 0; i < b.node().outputs.size(); ++i) {
    b.result(b.full(b.out_type(i).sizes, 0, b.out_type(i).dtype), i);
  }
  return true;
}

void unique_consecutive(Builder& b) {
  if (!give_nothing(b)) give_runs(b, runs_of(b, items_of(b)));
}
void unique(Builder& b) {
  if (give_nothing(b)) return;
  const Sorted items = sorted_items(b, items_of(b));
  Runs runs = runs_of(b, items.values);
  Value* zeros = b.full(items.indices->type.sizes, 0, ScalarType::kLong);
  runs.numbers = b.op("index_put", {zeros, Argument::List{items.indices}, runs.numbers, false});
  give_runs(b, runs);
}

}  // namespace

const Decompositions& order_rules() {
  static const Decompositions table = {
      {"argsort", sort_indices},
      {"argsort.stable", sort_indices},
      {"msort", sort_rows},
      {"kthvalue", kthvalue},
      {"median", median},
      {"median.dim", median},
      {"nanmedian", nanmedian},
      {"nanmedian.dim", nanmedian},
      {"mode", mode},
      {"quantile", quantile},
      {"quantile.scalar", quantile},
      {"nanquantile", nanquantile},
      {"nanquantile.scalar", nanquantile},
      {"unique_consecutive", unique_consecutive},
      {"_unique2", unique},
      {"unique_dim", unique},
  };
  return table;
}

}  // namespace taper::exir
