// Gathers and scatters: reading and writing at computed positions, searches, and bags of
// embeddings.

#include <cstdlib>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.in("self"); }

// [None, ..., None, index]: the index list that selects along one dimension.
Argument::List along(int64_t dim, Value* index) {
  Argument::List list(static_cast<size_t>(dim));
  list.push_back(index);
  return list;
}

int64_t dim_arg(Builder& b) {
  return wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(self(b)->type.rank()));
}

// Writes `values` at the positions `index` along dim; a 0-d tensor is treated as a vector.
void put(Builder& b, Value* values, bool accumulate) {
  Value* x = self(b);
  const bool lone = x->type.rank() == 0;
  if (lone) x = b.unsqueeze(x, 0);
  Value* index = b.in("index");
  if (index->type.rank() == 0) index = b.unsqueeze(index, 0);
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(x->type.rank()));
  if (values->type.rank() == 0 && lone) values = b.unsqueeze(values, 0);
  Value* y = b.op("index_put", {x, along(dim, index), values, accumulate});
  b.result(b.view(y, b.out_type().sizes));
}
void index_copy(Builder& b) { put(b, b.in("source"), false); }
void index_add(Builder& b) {
  Value* source = b.in("source");
  if (b.arg("alpha").to_double() != 1) source = b.mul(source, b.arg("alpha"));
  put(b, source, true);
}
void index_fill(Builder& b) {
  const Argument& value = b.arg("value");
  const ScalarType dtype = self(b)->type.dtype;
  put(b, value.is_value() ? b.cast(value.value(), dtype) : b.constant(value.to_double(), dtype),
      false);
}

void take_along_dim(Builder& b) {
  Value* x = self(b);
  Value* index = b.in("indices");
  if (!b.has("dim")) {
    Value* flat = b.view(x, {x->type.numel()});
    return b.result(b.op("gather", {flat, 0, b.view(index, {index->type.numel()})}));
  }
  const int64_t dim = dim_arg(b);
  std::vector<Sym> xs = x->type.sizes, is = index->type.sizes;
  xs[static_cast<size_t>(dim)] = is[static_cast<size_t>(dim)] = 1;
  std::vector<Sym> both = broadcast(xs, is), xw = both, iw = both;
  xw[static_cast<size_t>(dim)] = dim_of(x, dim);
  iw[static_cast<size_t>(dim)] = dim_of(index, dim);
  b.result(b.op("gather", {b.expand(x, xw), dim, b.expand(index, iw)}));
}

void one_hot(Builder& b) {
  const int64_t classes = b.arg("num_classes").to_int();
  if (classes < 1) throw Failure("one_hot needs num_classes: its width would depend on the data");
  Value* x = b.unsqueeze(self(b), -1);
  b.result(b.cast(b.op("eq.Tensor", {x, b.arange(0, classes)}), ScalarType::kLong));
}

// The cross product a x b along a dimension of size 3: t[1], t[2] and t[0], where t[i] is
// a[i] b[i + 1] - a[i + 1] b[i].
void cross(Builder& b) {
  Value* x = self(b);
  Value* y = b.in("other");
  int64_t dim = -1;
  if (b.has("dim")) {
    dim = b.arg("dim").to_int();
  } else {
    for (int64_t d = 0; d < static_cast<int64_t>(x->type.rank()) && dim < 0; ++d) {
      if (dim_of(x, d) == Sym(3)) dim = d;
    }
  }
  // Parts of rows are copied number by number, parts of columns at once.
  const auto rank = static_cast<int64_t>(x->type.rank());
  const bool turns = rank > 1 && wrap_dim(dim, rank) == rank - 1;
  const auto turn = [&](Value* v) { return turns ? b.transpose(v, 0, -1) : v; };
  if (turns) dim = 0;
  const auto rotate = [&](Value* v) {
    return b.cat({b.slice(v, dim, 1, 3), b.slice(v, dim, 0, 1)}, dim);
  };
  x = turn(x), y = turn(y);
  b.result(turn(rotate(b.sub(b.mul(x, rotate(y)), b.mul(rotate(x), y)))));
}

// Puts x[..., n] on a diagonal of square matrices of n + |offset| rows, with rows along dim1 and
// columns along dim2.
void on_diagonal(Builder& b, Value* x, int64_t offset, int64_t dim1, int64_t dim2) {
  const auto rank = static_cast<int64_t>(x->type.rank()) + 1;
  const Sym side = dim_of(x, -1) + Sym(std::abs(offset));
  Value* row = b.unsqueeze(b.arange(0, side), 1);
  Value* column = b.unsqueeze(b.arange(0, side), 0);
  Value* on = b.op("eq.Tensor", {offset == 0 ? row : b.add(row, offset), column});
  if (offset != 0) {
    x = b.op("constant_pad_nd", {x, int_list({0, std::abs(offset)}), 0});
  }
  Value* square = b.where(on, b.unsqueeze(x, offset >= 0 ? -1 : -2), 0);
  dim1 = wrap_dim(dim1, rank);
  dim2 = wrap_dim(dim2, rank);
  std::vector<int64_t> order;
  for (int64_t d = 0, next = 0; d < rank; ++d) {
    order.push_back(d == dim1 ? rank - 2 : d == dim2 ? rank - 1 : next++);
  }
  b.result(b.permute(square, order));
}
void diag_embed(Builder& b) {
  on_diagonal(b, self(b), b.arg("offset").to_int(), b.arg("dim1").to_int(), b.arg("dim2").to_int());
}
void diagflat(Builder& b) {
  on_diagonal(b, b.view(self(b), {self(b)->type.numel()}), b.arg("offset").to_int(), 0, 1);
}
void diag(Builder& b) {
  const int64_t offset = b.arg("diagonal").to_int();
  if (self(b)->type.rank() == 1) return on_diagonal(b, self(b), offset, 0, 1);
  b.result(b.op("diagonal", {self(b), offset, 0, 1}));
}

// Scales the rows that `indices` names so that none has a norm above max_norm.
void embedding_renorm(Builder& b) {
  Value* rows = self(b);
  const double most = b.arg("max_norm").to_double();
  Value* norm = b.op("linalg_vector_norm", {rows, b.arg("norm_type"), int_list({1}), true});
  Value* scale = b.mul(b.op("reciprocal", {b.add(norm, 1e-7)}), most);
  Value* shrunk = b.where(b.op("gt.Scalar", {norm, most}), b.mul(rows, scale), rows);
  Value* named = b.view(b.in("indices"), {b.in("indices")->type.numel()});
  Value* none = b.full({dim_of(rows, 0)}, 0, ScalarType::kBool);
  Value* hit = b.op("index_put", {none, along(0, named), b.full({}, 1, ScalarType::kBool), false});
  b.result(b.where(b.unsqueeze(hit, -1), shrunk, rows));
}

// Sets the diagonal; with `wrap`, a tall matrix gets several diagonals, one row apart.
void fill_diagonal(Builder& b) {
  Value* x = self(b);
  Sym stride = 0, length = x->type.numel(), below = 1;
  for (size_t d = x->type.rank(); d-- > 0;) {  // A step of one in every dimension.
    stride = stride + below;
    below = below * x->type.sizes[d];
  }
  if (x->type.rank() == 2 && !b.arg("wrap").to_bool()) {
    length = min(dim_of(x, 0), dim_of(x, 1)) * dim_of(x, 1);
  }
  Value* place = b.arange(0, x->type.numel());
  Value* on = b.op("eq.Scalar", {b.op("remainder.Scalar", {place, b.size(stride)}), 0});
  on = b.op("logical_and", {on, b.op("lt.Scalar", {place, b.size(length)})});
  b.result(b.where(b.view(on, x->type.sizes), b.arg("fill_value"), x));
}

void take(Builder& b) {
  Value* flat = b.view(self(b), {self(b)->type.numel()});
  b.result(b.op("index.Tensor", {flat, Argument::List{b.in("index")}}));
}

void put(Builder& b) {
  Value* flat = b.view(self(b), {self(b)->type.numel()});
  Value* at = b.view(b.in("index"), {b.in("index")->type.numel()});
  Value* values = b.view(b.in("source"), at->type.sizes);
  flat = b.op("index_put", {flat, Argument::List{at}, values, b.arg("accumulate")});
  b.result(b.view(flat, self(b)->type.sizes));
}

// Replaces the elements of self, taken in memory order, at the positions of a strided pattern.
void as_strided_scatter(Builder& b) {
  Value* x = self(b);
  const std::vector<int64_t> size = to_ints(b.arg("size")), stride = to_ints(b.arg("stride"));
  const int64_t offset = b.has("storage_offset") ? b.arg("storage_offset").to_int() : 0;
  Value* at = b.full({}, offset, ScalarType::kLong);
  for (size_t d = 0; d < size.size(); ++d) {
    std::vector<Sym> line(size.size(), Sym(1));
    line[d] = size[d];
    at = b.add(at, b.mul(b.view(b.arange(0, size[d]), line), stride[d]));
  }
  Value* flat = b.view(x, {x->type.numel()});
  flat = b.op("index_put", {flat, Argument::List{at}, b.in("src"), false});
  b.result(b.view(flat, x->type.sizes));
}

// How many of the sorted values lie before each number, by comparing all pairs.
Value* count_before(Builder& b, Value* sorted, const Argument& numbers, bool right) {
  Value* before = nullptr;
  if (numbers.is_value()) {
    Value* column = b.unsqueeze(numbers.value(), -1);
    Value* row = sorted->type.rank() == 1 ? sorted : b.unsqueeze(sorted, -2);
    // NaN sorts after all numbers, so sorted < x is computed as not (sorted >= x).
    before = b.op("logical_not", {b.op(right ? "gt.Tensor" : "ge.Tensor", {row, column})});
  } else {
    before = b.op(right ? "le.Scalar" : "lt.Scalar", {sorted, numbers});
  }
  return b.sum(before, {-1});
}
bool right_side(Builder& b) {
  if (b.arg("right").to_bool()) return true;
  return b.knows("side") && b.has("side") && b.arg("side").text() == "right";
}
void searchsorted(Builder& b) {
  Value* sorted = b.in("sorted_sequence");
  if (b.has("sorter")) sorted = b.op("gather", {sorted, -1, b.in("sorter")});
  b.result(count_before(b, sorted, b.arg("self"), right_side(b)));
}
void bucketize(Builder& b) {
  b.result(count_before(b, b.in("boundaries"), b.arg("self"), b.arg("right").to_bool()));
}

// The coordinates of the nonzero elements, [count, rank].
Value* places_of(Builder& b, Value* x, const Sym& count) {
  const TensorType type(ScalarType::kLong, {count, Sym(static_cast<int64_t>(x->type.rank()))});
  return b.rewriter().emit("aten::nonzero", {x}, {type})[0];
}
void argwhere(Builder& b) { b.result(places_of(b, self(b), b.out_type().sizes[0])); }

// One vector of coordinates per dimension; a 0-d tensor counts as a vector.
void where_places(Builder& b) {
  Value* x = b.args()[0].value();
  if (x->type.rank() == 0) x = b.unsqueeze(x, 0);
  Value* places = places_of(b, x, b.out_type().sizes.at(0));
  for (size_t i = 0; i < b.node().outputs.size(); ++i) {
    b.result(b.select(places, 1, static_cast<int64_t>(i)), i);
  }
}

// The coordinates of the first `size` nonzero elements; the remaining rows hold `fill_value`.
void nonzero_static(Builder& b) {
  Value* x = self(b);
  const Sym size = b.out_type().sizes.at(0);
  const Sym count = x->type.numel();
  if (x->type.rank() == 0 || count == Sym(0)) {
    return b.result(b.full(b.out_type().sizes, b.arg("fill_value"), ScalarType::kLong));
  }
  Value* hit = b.op("ne.Scalar", {b.view(x, {count}), 0});
  Value* row = b.sub(b.op("cumsum", {hit, 0}), 1);
  Value* spare = b.full({}, b.size(size), ScalarType::kLong);
  row = b.where(hit, b.op("minimum", {row, spare}), spare);
  Value* none = b.full({size + Sym(1)}, -1, ScalarType::kLong);
  Value* place = b.op("index_put", {none, Argument::List{row}, b.arange(0, count), false});
  place = b.slice(place, 0, 0, size);
  std::vector<Value*> columns;
  const TensorSizes& lengths = x->type.sizes;
  for (size_t d = 0; d < lengths.size(); ++d) {
    const Argument step = b.size(product(lengths, d + 1, lengths.size()));
    Value* at = b.op("div.Scalar_mode", {place, step, "floor"});
    at = b.op("remainder.Scalar", {at, b.size(lengths[d])});
    at = b.where(b.op("lt.Scalar", {place, 0}), b.arg("fill_value"), at);
    columns.push_back(b.unsqueeze(at, 1));
  }
  b.result(b.cat(columns, 1));
}

// Row i of the result is row places[i] of self; `places` holds row r repeats[r] times.
void repeat_interleave(Builder& b) {
  const bool flat = !b.has("dim");
  Value* x = flat ? b.view(self(b), {self(b)->type.numel()}) : self(b);
  const int64_t dim = flat ? 0 : b.arg("dim").to_int();
  Value* repeats = b.in("repeats");
  const Sym rows = dim_of(x, dim);
  if (repeats->type.numel() == Sym(1)) repeats = b.expand(b.view(repeats, {Sym(1)}), {rows});
  const auto rank = static_cast<int64_t>(b.out_type().rank());
  const Sym total = b.out_type().sizes.at(static_cast<size_t>(dim < 0 ? dim + rank : dim));
  Value* places =
      b.rewriter().emit("aten::repeat_interleave.Tensor", {repeats, b.arg("output_size")},
                        {TensorType(ScalarType::kLong, {total})})[0];
  b.result(b.op("index_select", {x, dim, places}));
}

// The mean as the sum of the values scattered to each position over their number.
void scatter_mean(Builder& b) {
  Value* x = self(b);
  Value* src = b.in("src");
  const ScalarType dtype = x->type.dtype;
  const Argument &dim = b.arg("dim"), &index = b.arg("index");
  const bool include_self = b.arg("include_self").to_bool();
  Value* start = include_self ? x : b.op("scatter.value", {x, dim, index, 0});
  Value* sum = b.op("scatter_add", {start, dim, index, src});
  Value* one = b.full(src->type.sizes, 1.0, ScalarType::kFloat);
  Value* own = b.full(x->type.sizes, include_self ? 1.0 : 0.0, ScalarType::kFloat);
  Value* count = b.op("clamp", {b.op("scatter_add", {own, dim, index, one}), 1, Argument()});
  b.result(b.op("div.Tensor_mode",
                {sum, b.cast(count, dtype), is_floating(dtype) ? Argument() : Argument("floor")}));
}
// The vector of which the index of a scatter along `dim` is an expansion, so that whole slices are
// scattered; null if it is none.
Value* slice_index(const Node& node) {
  const Value *x = node.arg("self").value(), *src = node.arg("src").value();
  const Value* index = node.arg("index").value();
  const Node* made = index->producer;
  const auto rank = static_cast<int64_t>(x->type.rank());
  if (rank < 2 || made == nullptr || made->target() != "aten::expand") return nullptr;
  Value* from = made->arg("self").value();
  const auto dim = static_cast<size_t>(wrap_dim(node.arg("dim").to_int(), rank));
  if (from->type.rank() != x->type.rank() || !(index->type.sizes == src->type.sizes))
    return nullptr;
  for (size_t d = 0; d < x->type.rank(); ++d) {
    const Sym& size = index->type.sizes[d];
    if (d == dim ? !(from->type.sizes[d] == size)
                 : !(from->type.sizes[d] == Sym(1) && size == x->type.sizes[d])) {
      return nullptr;
    }
  }
  return from;
}
bool scatters_slices(const Node& node) { return slice_index(node) != nullptr; }

// Graph networks sum messages in this way.
void scatter_add_slices(Builder& b) {
  Value* index = slice_index(b.node());
  index = b.view(index, {index->type.numel()});
  b.result(b.op("index_put", {self(b), along(dim_arg(b), index), b.in("src"), true}));
}

bool is_mean(const Node& node) { return node.arg("reduce").text() == "mean"; }

// The older forms: "add" or "multiply", with a tensor or a number.
void scatter_with(Builder& b) {
  Value* x = self(b);
  const Argument &dim = b.arg("dim"), &index = b.arg("index");
  Value* src = b.knows("src") ? b.in("src")
                              : b.full(b.in("index")->type.sizes, b.arg("value"), x->type.dtype);
  if (b.arg("reduce").text() == "add") {
    return b.result(b.op("scatter_add", {x, dim, index, src}));
  }
  b.result(b.op("scatter_reduce.two", {x, dim, index, src, "prod", true}));
}
void index_reduce(Builder& b) {
  Value* x = self(b);
  Value* source = b.in("source");
  const bool lone = x->type.rank() == 0;
  if (lone) x = b.unsqueeze(x, 0);
  if (source->type.rank() == 0) source = b.unsqueeze(source, 0);
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(x->type.rank()));
  Value* index = b.in("index");
  std::vector<Sym> line(x->type.rank(), Sym(1));
  line[static_cast<size_t>(dim)] = index->type.numel();
  index = b.expand(b.view(index, line), source->type.sizes);
  Value* y =
      b.op("scatter_reduce.two", {x, dim, index, source, b.arg("reduce"), b.arg("include_self")});
  b.result(b.view(y, b.out_type().sizes));
}

// How many elements fall into each of `bins` equal bins of [min, max]; the last one includes max.
void histc(Builder& b) {
  Value* x = b.view(self(b), {self(b)->type.numel()});
  const ScalarType dtype = x->type.dtype;
  const int64_t bins = b.arg("bins").to_int();
  Value* low = b.constant(b.arg("min").to_double(), dtype);
  Value* high = b.constant(b.arg("max").to_double(), dtype);
  if (b.arg("min").to_double() == b.arg("max").to_double()) {  // The range of the data.
    low = b.op("amin", {x, int_list({0})});
    high = b.op("amax", {x, int_list({0})});
    Value* none = b.cast(b.op("eq.Tensor", {low, high}), dtype);
    low = b.sub(low, none);
    high = b.add(high, none);
  }
  Value* place = b.op("floor", {b.div(b.mul(b.sub(x, low), bins), b.sub(high, low))});
  place = b.op("clamp", {place, Argument(), bins - 1});
  Value* inside = b.op("logical_and", {b.op("ge.Tensor", {x, low}), b.op("le.Tensor", {x, high})});
  // One more bin collects what lies outside.
  place = b.op("where.self", {inside, place, b.constant(static_cast<double>(bins), dtype)});
  place = b.cast(place, ScalarType::kLong);
  Value* none = b.full({Sym(bins + 1)}, 0.0, dtype);
  Value* each = b.full(x->type.sizes, 1.0, dtype);
  const std::vector<Sym> line = {x->type.numel()};
  Value* counts = b.op("scatter_add", {none, 0, b.view(place, line), b.view(each, line)});
  b.result(b.slice(counts, 0, 0, bins));
}

// The indices clamped to the valid range; the mask discards what the clamped ones select.
Argument::List clamped(Builder& b) {
  Argument::List out;
  const Argument::List& list = b.arg("indices").list();
  for (size_t i = 0; i < list.size(); ++i) {
    out.push_back(list[i]);
    if (list[i].is_none()) continue;
    const Sym last = self(b)->type.sizes.at(i) - Sym(1);
    out.back() = b.op("clamp", {list[i], 0, b.size(last)});
  }
  return out;
}
void masked_index(Builder& b) {
  const TensorType& type = b.out_type();
  if (self(b)->type.numel() == Sym(0)) {
    return b.result(b.full(type.sizes, b.arg("fill"), type.dtype));
  }
  Value* picked = b.op("index.Tensor", {self(b), clamped(b)});
  b.result(b.where(b.in("mask"), picked, b.arg("fill")));
}
void masked_index_put(Builder& b) {
  if (self(b)->type.numel() == Sym(0)) return b.result(self(b));
  Value* values = b.where(b.in("mask"), b.in("values"), 0);
  b.result(b.op("index_put", {self(b), clamped(b), values, true}));
}

}  // namespace

const Decompositions& index_rules() {
  static const Decompositions table = {
      {"argwhere", argwhere},
      {"where", where_places},
      {"nonzero_numpy", where_places},
      {"nonzero_static", nonzero_static},
      {"repeat_interleave.self_Tensor", repeat_interleave},
      {"index_copy", index_copy},
      {"index_add", index_add},
      {"index_fill.int_Scalar", index_fill},
      {"take_along_dim", take_along_dim},
      {"one_hot", one_hot},
      {"linalg_cross", cross},
      {"cross", cross},
      {"diag_embed", diag_embed},
      {"diagflat", diagflat},
      {"diag", diag},
      {"fill_diagonal", fill_diagonal},
      {"embedding_renorm", embedding_renorm, kWide},
      {"take", take},
      {"put", put},
      {"as_strided_scatter", as_strided_scatter},
      {"index_fill.int_Tensor", index_fill},
      {"searchsorted.Tensor", searchsorted},
      {"searchsorted.Scalar", searchsorted},
      {"bucketize.Tensor", bucketize},
      {"bucketize.Scalar", bucketize},
      {"scatter_reduce.two", scatter_mean, kWide, is_mean},
      {"scatter_add", scatter_add_slices, Precision::kSame, scatters_slices},
      {"scatter.reduce", scatter_with},
      {"scatter.value_reduce", scatter_with},
      {"index_reduce", index_reduce},
      {"_unsafe_masked_index", masked_index},
      {"_unsafe_masked_index_put_accumulate", masked_index_put},
      {"histc", histc},
  };
  return table;
}

}  // namespace taper::exir
