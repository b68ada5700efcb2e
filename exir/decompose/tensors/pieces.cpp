// Rearrangements of tensors: splits, stacks, flips and shifts; and sums over neighbours.

#include <algorithm>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

constexpr int64_t kMostCombinations = 1 << 20;

Value* self(Builder& b) { return b.in("self"); }
int64_t rank_of(const Value* x) { return static_cast<int64_t>(x->type.rank()); }

std::vector<Value*> tensors(Builder& b) {
  std::vector<Value*> out;
  for (const Argument& item : b.arg("tensors").list()) out.push_back(item.value());
  return out;
}
// The same, cast to the dtype of the result.
std::vector<Value*> alike(Builder& b) {
  std::vector<Value*> out = tensors(b);
  for (Value*& x : out) x = b.cast(x, b.out_type().dtype);
  return out;
}

// ---- splitting ----

// The program states how long each piece is.
void split_along(Builder& b, int64_t dim) {
  Argument::List lengths;
  for (const Value* part : b.node().outputs) lengths.push_back(b.size(dim_of(part, dim)));
  const std::vector<Value*> parts = b.ops("split_with_sizes", {self(b), lengths, dim});
  for (size_t i = 0; i < parts.size(); ++i) b.result(parts[i], i);
}
void hsplit(Builder& b) { split_along(b, rank_of(self(b)) == 1 ? 0 : 1); }
void vsplit(Builder& b) { split_along(b, 0); }
void dsplit(Builder& b) { split_along(b, 2); }
void chunk(Builder& b) { split_along(b, wrap_dim(b.arg("dim").to_int(), rank_of(self(b)))); }

// ---- joining ----

void atleast_each(Builder& b) {
  const std::vector<Value*> in = tensors(b);
  for (size_t i = 0; i < in.size(); ++i) b.result(b.view(in[i], b.out_type(i).sizes), i);
}
void dstack(Builder& b) {
  std::vector<Value*> parts = alike(b);
  for (Value*& x : parts) {
    if (rank_of(x) == 0) x = b.unsqueeze(x, 0);
    if (rank_of(x) == 1) x = b.unsqueeze(x, 0);
    if (rank_of(x) == 2) x = b.unsqueeze(x, 2);
  }
  b.result(b.cat(parts, 2));
}
void column_stack(Builder& b) {
  std::vector<Value*> parts = alike(b);
  for (Value*& x : parts) {
    if (rank_of(x) <= 1) x = b.view(x, {x->type.numel(), Sym(1)});
  }
  b.result(b.cat(parts, 1));
}

// Pads each tensor with zeros to `num_chunks` equal pieces along dim, flattens each piece into a
// row, and concatenates the rows of all tensors.
void chunk_cat(Builder& b) {
  const int64_t chunks = b.arg("num_chunks").to_int();
  std::vector<Value*> rows;
  int64_t dim = b.arg("dim").to_int();
  for (Value* x : alike(b)) {
    dim = wrap_dim(dim, rank_of(x));
    const int64_t size = dim_of(x, dim).as_int(), piece = (size + chunks - 1) / chunks;
    if (const int64_t missing = piece * chunks - size; missing != 0) {
      std::vector<int64_t> padding(2 * static_cast<size_t>(rank_of(x) - dim), 0);
      padding.back() = missing;
      x = b.op("constant_pad_nd", {x, int_list(padding), 0});
    }
    Sizes sizes(x->type.sizes.begin(), x->type.sizes.begin() + dim);
    sizes.push_back(chunks);
    sizes.push_back(piece);
    for (int64_t d = dim + 1; d < rank_of(x); ++d) sizes.back() = sizes.back() * dim_of(x, d);
    rows.push_back(b.view(x, sizes));
  }
  b.result(b.cat(rows, dim + 1));
}

// Pads each matrix with zeros on the left and the right, then stacks them.
void block_diag(Builder& b) {
  std::vector<Value*> parts = alike(b);
  Sym width = 0, left = 0;
  for (Value*& x : parts) {
    if (rank_of(x) < 2) x = b.view(x, {Sym(1), x->type.numel()});
    width = width + dim_of(x, 1);
  }
  for (Value*& x : parts) {
    const Sym right = width - left - dim_of(x, 1);
    const auto zeros = [&](const Sym& columns) {
      return b.full({dim_of(x, 0), columns}, 0, x->type.dtype);
    };
    Value* own = x;
    x = b.cat({zeros(left), own, zeros(right)}, 1);
    left = left + dim_of(own, 1);
  }
  b.result(b.cat(parts, 0));
}

void cartesian_prod(Builder& b) {
  const std::vector<Value*> in = alike(b);
  if (in.size() == 1) return b.result(in[0]);
  Sizes all;
  Sym count = 1;
  for (const Value* x : in) {
    all.push_back(x->type.numel());
    count = count * x->type.numel();
  }
  std::vector<Value*> columns;
  for (size_t i = 0; i < in.size(); ++i) {
    Sizes line(in.size(), Sym(1));
    line[i] = all[i];
    columns.push_back(b.view(b.expand(b.view(in[i], line), all), {count, Sym(1)}));
  }
  b.result(b.cat(columns, 1));
}

// Advances to the next increasing (with `repeat`, non-decreasing) tuple of numbers below n; false
// after the last one.
bool next_tuple(std::vector<int64_t>& tuple, int64_t n, bool repeat) {
  const auto r = static_cast<int64_t>(tuple.size());
  for (int64_t i = r - 1; i >= 0; --i) {
    const int64_t limit = repeat ? n - 1 : n - r + i;
    if (tuple[static_cast<size_t>(i)] >= limit) continue;
    int64_t value = ++tuple[static_cast<size_t>(i)];
    for (int64_t j = i + 1; j < r; ++j) tuple[static_cast<size_t>(j)] = repeat ? value : ++value;
    return true;
  }
  return false;
}
void combinations(Builder& b) {
  const int64_t n = dim_of(self(b), 0).as_int();
  const int64_t r = b.arg("r").to_int();
  const int64_t rows = b.out_type().sizes[0].as_int();
  const bool repeat = b.arg("with_replacement").to_bool();
  if (rows * std::max<int64_t>(r, 1) > kMostCombinations) throw Failure("too many combinations");
  if (rows == 0 || r == 0) return b.result(b.full(b.out_type().sizes, 0, self(b)->type.dtype));
  std::vector<int64_t> tuple(static_cast<size_t>(r), 0), all;
  for (size_t i = 0; i < tuple.size(); ++i) tuple[i] = repeat ? 0 : static_cast<int64_t>(i);
  do {
    all.insert(all.end(), tuple.begin(), tuple.end());
  } while (next_tuple(tuple, n, repeat));
  Value* index = b.numbers(all);
  Value* chosen = b.op("index.Tensor", {self(b), Argument::List{index}});
  b.result(b.view(chosen, b.out_type().sizes));
}

// ---- flips and rotations ----

void flip_columns(Builder& b) { b.result(b.op("flip", {self(b), int_list({1})})); }
void flip_rows(Builder& b) { b.result(b.op("flip", {self(b), int_list({0})})); }

void rot90(Builder& b) {
  Value* x = self(b);
  const std::vector<int64_t> dims = to_ints(b.arg("dims"));
  const int64_t turns = ((b.arg("k").to_int() % 4) + 4) % 4;
  const int64_t first = dims.at(0), second = dims.at(1);
  if (turns == 2) return b.result(b.op("flip", {x, int_list({first, second})}));
  if (turns == 1) x = b.op("flip", {x, int_list({second})});
  if (turns == 3) x = b.op("flip", {x, int_list({first})});
  b.result(turns == 0 ? x : b.transpose(x, first, second));
}

// ---- integrals and gradients ----

// The areas of the trapezoids between neighbours, whose width is `dx` or the difference of x.
Value* areas(Builder& b, int64_t dim) {
  Value* y = b.in("y");
  const Sym size = dim_of(y, dim);
  Value* pairs = b.add(b.slice(y, dim, 1, size), b.slice(y, dim, 0, size - Sym(1)));
  if (b.knows("dx")) return b.mul(pairs, b.arg("dx").to_double() / 2);
  Value* x = b.in("x");
  if (rank_of(x) == 1) {
    const Sym points = dim_of(x, 0);
    Value* width = b.sub(b.slice(x, 0, 1, points), b.slice(x, 0, 0, points - Sym(1)));
    Sizes line(y->type.rank() - static_cast<size_t>(dim), Sym(1));
    line[0] = points - Sym(1);
    return b.div(b.mul(pairs, b.view(width, line)), 2);
  }
  const int64_t at = dim - rank_of(y) + rank_of(x);
  const Sym points = dim_of(x, at);
  Value* width = b.sub(b.slice(x, at, 1, points), b.slice(x, at, 0, points - Sym(1)));
  return b.div(b.mul(pairs, width), 2);
}
int64_t area_dim(Builder& b) { return wrap_dim(b.arg("dim").to_int(), rank_of(b.in("y"))); }
void trapezoid(Builder& b) {
  const int64_t dim = area_dim(b);
  if (dim_of(b.in("y"), dim) == Sym(0)) {
    return b.result(b.full(b.out_type().sizes, 0, b.out_type().dtype));
  }
  b.result(b.sum(areas(b, dim), {dim}));
}
void cumulative_trapezoid(Builder& b) {
  const int64_t dim = area_dim(b);
  b.result(b.op("cumsum", {areas(b, dim), dim}));
}

// x[start : size + end] along dim; end is 0 or negative.
Value* part(Builder& b, Value* x, int64_t dim, int64_t start, int64_t end) {
  return b.slice(x, dim, start, dim_of(x, dim) + Sym(end));
}

// The sample points along one dimension: equidistant, or a vector of coordinates.
struct Spacing {
  double step = 1;
  Value* places = nullptr;  // Shaped to broadcast along the dimension.
};

// The slopes at the first or the last point, from the nearest two or three values.
Value* slope_at_end(Builder& b, Value* x, int64_t dim, const Spacing& by, bool last,
                    int64_t order) {
  const auto at = [&](Value* v, int64_t i) {
    const Sym place = last ? dim_of(v, dim) - Sym(1 + i) : Sym(i);
    return b.slice(v, dim, place, place + Sym(1));
  };
  const double sign = last ? -1 : 1;
  if (order == 1) {
    Value* rise = b.mul(b.sub(at(x, 1), at(x, 0)), sign);
    if (by.places == nullptr) return b.div(rise, by.step);
    return b.div(rise, b.mul(b.sub(at(by.places, 1), at(by.places, 0)), sign));
  }
  if (by.places == nullptr) {
    Value* near = b.sub(b.mul(at(x, 1), 2), b.mul(at(x, 0), 1.5));
    return b.div(b.sub(near, b.mul(at(x, 2), 0.5)), sign * by.step);
  }
  // The slope of the parabola through three points, which lie p and q apart.
  Value* p = b.sub(at(by.places, 1), at(by.places, 0));
  Value* q = b.sub(at(by.places, 2), at(by.places, 1));
  Value* both = b.add(p, q);
  Value* first = b.div(b.add(both, p), b.mul(p, both));
  Value* second = b.div(both, b.mul(p, q));
  Value* third = b.div(p, b.mul(q, both));
  Value* y = b.sub(b.mul(second, at(x, 1)), b.mul(first, at(x, 0)));
  return b.sub(y, b.mul(third, at(x, 2)));
}

// The slopes at all points but the first and the last, from the values on both sides.
Value* slope_between(Builder& b, Value* x, int64_t dim, const Spacing& by) {
  Value *low = part(b, x, dim, 0, -2), *high = part(b, x, dim, 2, 0);
  if (by.places == nullptr) return b.div(b.sub(high, low), 2 * by.step);
  Value* steps = b.sub(part(b, by.places, dim, 1, 0), part(b, by.places, dim, 0, -1));
  Value *p = part(b, steps, dim, 0, -1), *q = part(b, steps, dim, 1, 0);
  Value* both = b.add(p, q);
  Value* left = b.div(q, b.mul(p, both));
  Value* middle = b.div(b.sub(q, p), b.mul(p, q));
  Value* right = b.div(p, b.mul(q, both));
  Value* y = b.sub(b.mul(middle, part(b, x, dim, 1, -1)), b.mul(left, low));
  return b.add(y, b.mul(right, high));
}

Spacing spacing_of(Builder& b, size_t i, int64_t dim) {
  Spacing out;
  if (!b.knows("spacing") || !b.has("spacing")) return out;
  const Argument& all = b.arg("spacing");
  const Argument& one = all.is_list() ? all.list().at(i) : all;
  if (!one.is_value()) {
    out.step = one.to_double();
    return out;
  }
  Sizes line(static_cast<size_t>(rank_of(self(b))), Sym(1));
  line.at(static_cast<size_t>(dim)) = dim_of(one.value(), 0);
  out.places = b.view(one.value(), line);
  return out;
}

// One tensor of slopes per dimension.
void gradient(Builder& b) {
  Value* x = self(b);
  std::vector<int64_t> dims;
  if (b.has("dim")) {
    const Argument& dim = b.arg("dim");
    dims = dim.is_list() ? to_ints(dim) : std::vector<int64_t>{dim.to_int()};
  } else {
    for (int64_t d = 0; d < rank_of(x); ++d) dims.push_back(d);
  }
  const int64_t order = b.arg("edge_order").to_int();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], rank_of(x));
    const Spacing by = spacing_of(b, i, dim);
    b.result(b.cat({slope_at_end(b, x, dim, by, false, order), slope_between(b, x, dim, by),
                    slope_at_end(b, x, dim, by, true, order)},
                   dim),
             i);
  }
}

// Sums over the dimensions in which the wanted sizes are 1 or missing.
void sum_to_size(Builder& b) {
  Value* x = self(b);
  const Sizes& wanted = b.out_type().sizes;
  const size_t lead = x->type.rank() - wanted.size();
  std::vector<int64_t> dims;
  for (size_t d = 0; d < x->type.rank(); ++d) {
    if (d < lead || (wanted[d - lead] == Sym(1) && !(x->type.sizes[d] == Sym(1)))) {
      dims.push_back(static_cast<int64_t>(d));
    }
  }
  if (!dims.empty()) {
    x = b.op("sum.dim_IntList", {x, int_list(dims), true, b.out_type().dtype});
  }
  b.result(b.view(x, wanted));
}

// Each element of self times all of other, block by block.
void kron(Builder& b) {
  Value* x = self(b);
  Value* y = b.in("other");
  const size_t rank = std::max(x->type.rank(), y->type.rank());
  Sizes xs, ys;
  for (size_t d = 0; d < rank; ++d) {
    const auto size = [&](const Value* v) {
      const size_t lead = rank - v->type.rank();
      return d < lead ? Sym(1) : v->type.sizes[d - lead];
    };
    xs.push_back(size(x));
    xs.push_back(1);
    ys.push_back(1);
    ys.push_back(size(y));
  }
  b.result(b.view(b.mul(b.view(x, xs), b.view(y, ys)), b.out_type().sizes));
}

// Each slice along dim with a norm above maxnorm is scaled down to it.
void renorm(Builder& b) {
  Value* x = self(b);
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), rank_of(x));
  std::vector<int64_t> others;
  for (int64_t d = 0; d < rank_of(x); ++d) {
    if (d != dim) others.push_back(d);
  }
  const double most = b.arg("maxnorm").to_double();
  Value* norm = b.op("linalg_vector_norm", {x, b.arg("p"), int_list(others), true});
  Value* factor = b.mul(b.op("reciprocal", {b.add(norm, 1e-7)}), most);
  b.result(b.mul(x, b.where(b.op("gt.Scalar", {norm, most}), factor, 1.0)));
}

// Moves the zero frequency to the middle, or back.
void shift(Builder& b, int64_t rounding) {
  Value* x = self(b);
  std::vector<int64_t> dims;
  Argument::List by;
  for (int64_t d = 0; d < rank_of(x); ++d) dims.push_back(d);
  if (b.has("dim")) {
    const Argument& dim = b.arg("dim");
    dims = dim.is_list() ? to_ints(dim) : std::vector<int64_t>{dim.to_int()};
  }
  for (int64_t d : dims) by.push_back(b.size(floor_div(dim_of(x, d) + Sym(rounding), Sym(2))));
  b.result(dims.empty() ? x : b.op("roll", {x, by, int_list(dims)}));
}
void fftshift(Builder& b) { shift(b, 0); }
void ifftshift(Builder& b) { shift(b, 1); }

// Pads sequences of static lengths to the longest one and stacks them.
void pad_sequence(Builder& b) {
  const bool at_left = b.arg("padding_side").text() == "left";
  int64_t longest = 0;
  for (const Argument& item : b.arg("sequences").list()) {
    const Sym length = dim_of(item.value(), 0);
    if (!length.is_int()) throw Failure("the length " + length.text() + " must be a number");
    longest = std::max(longest, length.as_int());
  }
  std::vector<Value*> padded;
  for (const Argument& item : b.arg("sequences").list()) {
    Value* x = b.cast(item.value(), b.out_type().dtype);
    std::vector<int64_t> ends(2 * x->type.rank(), 0);
    ends[ends.size() - (at_left ? 2 : 1)] = longest - dim_of(x, 0).as_int();
    x = b.op("constant_pad_nd", {x, int_list(ends), b.arg("padding_value")});
    padded.push_back(b.unsqueeze(x, b.arg("batch_first").to_bool() ? 0 : 1));
  }
  b.result(b.cat(padded, b.arg("batch_first").to_bool() ? 0 : 1));
}

}  // namespace

const Decompositions& piece_rules() {
  static const Decompositions table = {
      {"pad_sequence", pad_sequence},
      {"hsplit.int", hsplit},
      {"hsplit.array", hsplit},
      {"vsplit.int", vsplit},
      {"vsplit.array", vsplit},
      {"dsplit.int", dsplit},
      {"dsplit.array", dsplit},
      {"unsafe_chunk", chunk},
      {"atleast_1d.Sequence", atleast_each},
      {"atleast_2d.Sequence", atleast_each},
      {"atleast_3d.Sequence", atleast_each},
      {"dstack", dstack},
      {"column_stack", column_stack},
      {"block_diag", block_diag},
      {"_chunk_cat", chunk_cat},
      {"cartesian_prod", cartesian_prod},
      {"combinations", combinations},
      {"fliplr", flip_columns},
      {"flipud", flip_rows},
      {"rot90", rot90},
      {"trapezoid.x", trapezoid, kWide},
      {"trapezoid.dx", trapezoid, kWide},
      {"cumulative_trapezoid.x", cumulative_trapezoid, kWide},
      {"cumulative_trapezoid.dx", cumulative_trapezoid, kWide},
      {"fft_fftshift", fftshift},
      {"fft_ifftshift", ifftshift},
      {"gradient.scalarint", gradient, kWide},
      {"gradient.scalararray", gradient, kWide},
      {"gradient.array", gradient, kWide},
      {"gradient.scalarrayint", gradient, kWide},
      {"gradient.scalarrayarray", gradient, kWide},
      {"gradient.tensorarrayint", gradient, kWide},
      {"gradient.tensorarray", gradient, kWide},
      {"sum_to_size", sum_to_size},
      {"kron", kron},
      {"renorm", renorm, kWide},
  };
  return table;
}

}  // namespace taper::exir
