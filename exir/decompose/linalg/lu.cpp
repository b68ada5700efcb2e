// The factorisation A = P L U column by column, linear systems solved with it, and products of
// Householder reflections (the factored form of QR).
//
// One step of a scan handles column k: the largest element at or below the diagonal becomes the
// pivot, its row is exchanged with row k, and a multiple of row k is subtracted from every row
// below. Masks that compare arange with k select rows and columns, so that the body is the same for
// each k.

#include <algorithm>
#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Values = Builder::Values;
constexpr auto kLong = ScalarType::kLong;

Value* matrices(Value* a) {
  if (a->type.rank() < 2) throw Failure("linear algebra needs matrices");
  return a;
}
Sym least(const Sym& a, const Sym& b) {
  if (a == b) return a;
  if (!a.is_int() || !b.is_int()) throw Failure("factors of matrices of a symbolic size");
  return std::min(a.as_int(), b.as_int());
}
Value* is(Builder& b, Value* places, Value* k) { return b.op("eq.Tensor", {places, k}); }
Value* beyond(Builder& b, Value* places, Value* k) { return b.op("gt.Tensor", {places, k}); }
Value* both(Builder& b, Value* x, Value* y) { return b.op("logical_and", {x, y}); }
Value* column_of(Builder& b, Value* x) { return b.unsqueeze(x, -1); }
Value* row_of(Builder& b, Value* x) { return b.unsqueeze(x, -2); }
Value* last_dim_first(Builder& b, Value* x) {
  std::vector<int64_t> order = {static_cast<int64_t>(x->type.rank()) - 1};
  for (int64_t d = 0; d + 1 < static_cast<int64_t>(x->type.rank()); ++d) order.push_back(d);
  return b.permute(x, order);
}
Value* first_dim_last(Builder& b, Value* x) {
  std::vector<int64_t> order;
  for (int64_t d = 1; d < static_cast<int64_t>(x->type.rank()); ++d) order.push_back(d);
  order.push_back(0);
  return b.permute(x, order);
}

// Column k and row k of a matrix, by their masks.
Value* take_column(Builder& b, Value* a, Value* at) { return b.sum(b.where(at, a, 0.0), {-1}); }
Value* take_row(Builder& b, Value* a, Value* at) {
  return b.sum(b.where(column_of(b, at), a, 0.0), {-2});
}
Value* rows_in_order(Builder& b, Value* a, Value* order) {
  return b.op("gather", {a, -2, b.expand(column_of(b, order), a->type.sizes)});
}

// The row indices with k and p exchanged; there is one p per matrix.
Value* exchanged(Builder& b, Value* rows, Value* k, Value* p) {
  p = column_of(b, p);
  Value* at_p = b.op("where.self", {is(b, rows, p), k, rows});
  return b.op("where.self", {is(b, rows, k), p, at_p});
}

// ---- factors ----

Values lu_step(Builder& b, Value* a, Value* k, bool pivots) {
  Value* rows = b.arange(0, dim_of(a, -2));
  Value* columns = b.arange(0, dim_of(a, -1));
  Value* here = is(b, columns, k);
  Value* p = nullptr;
  if (pivots) {
    Value* sizes = b.op("abs", {take_column(b, a, here)});
    Value* above = b.op("lt.Tensor", {rows, k});
    p = b.op("argmax", {b.where(above, -1.0, sizes), -1, false});
    a = rows_in_order(b, a, exchanged(b, rows, k, p));
  } else {
    p = b.expand(k, {a->type.sizes.begin(), a->type.sizes.end() - 2});
  }
  Value* row = take_row(b, a, is(b, rows, k));
  Value* pivot = b.sum(b.where(here, row, 0.0), {-1});
  Value* zero = b.op("eq.Scalar", {pivot, 0.0});
  Value* by = column_of(b, b.where(zero, 1.0, pivot));
  Value* below = beyond(b, rows, k);
  Value* factors = b.where(below, b.div(take_column(b, a, here), by), 0.0);
  Value* corner = both(b, column_of(b, below), beyond(b, columns, k));
  a = b.op("where.self", {corner, b.sub(a, b.mul(column_of(b, factors), row_of(b, row))), a});
  a = b.where(both(b, column_of(b, below), here), column_of(b, factors), a);
  return {a, b.add(p, 1), zero};
}

struct Factors {
  Value* lu;
  Value* pivots;  // int32, counted from 1.
  Value* info;    // The first pivot that is 0, counted from 1; 0 if there is none.
};

Factors lu_factors(Builder& b, Value* a, bool pivots) {
  matrices(a);
  const Sym count = least(dim_of(a, -2), dim_of(a, -1));
  std::vector<Sym> lead(a->type.sizes.begin(), a->type.sizes.end() - 2);
  if (a->type.numel() == Sym(0)) {
    Value* none = b.full(lead, 0, ScalarType::kInt);
    lead.push_back(count);
    return {a, b.full(lead, 0, ScalarType::kInt), none};
  }
  const auto step = [pivots](Builder& body, const Values& in) {
    return lu_step(body, in[0], in[1], pivots);
  };
  const Values found = b.scan({a}, {b.arange(0, count)}, {}, step);
  Value* zeros = first_dim_last(b, found[2]);
  Value* which = b.arange(1, count + Sym(1));
  constexpr int64_t kNone = std::numeric_limits<int32_t>::max();
  Value* first =
      b.op("amin", {b.op("where.self", {zeros, which, b.constant(kNone, kLong)}), int_list({-1})});
  Value* info = b.where(b.op("eq.Scalar", {first, kNone}), 0, first);
  return {found[0], b.cast(first_dim_last(b, found[1]), ScalarType::kInt),
          b.cast(info, ScalarType::kInt)};
}

// The permutation of rows: which row of A each row of L U is.
Value* row_order(Builder& b, Value* pivots, const Sym& rows) {
  std::vector<Sym> sizes(pivots->type.sizes.begin(), pivots->type.sizes.end() - 1);
  sizes.push_back(rows);
  Value* order = b.expand(b.arange(0, rows), sizes);
  if (pivots->type.numel() == Sym(0)) return order;
  Value* swaps = last_dim_first(b, b.sub(b.cast(pivots, kLong), 1));
  const auto step = [](Builder& body, const Values& in) -> Values {
    Value* places = body.arange(0, dim_of(in[0], -1));
    Value* to = body.expand(exchanged(body, places, in[2], in[1]), in[0]->type.sizes);
    return {body.op("gather", {in[0], -1, to})};
  };
  return b.scan({order}, {swaps, b.arange(0, dim_of(pivots, -1))}, {}, step)[0];
}

void unpack(Builder& b, const Factors& factors, bool data, bool pivots) {
  const auto empty = [&](size_t i) {
    b.result(b.full(b.out_type(i).sizes, 0.0, b.out_type(i).dtype), i);
  };
  const Sym rows = dim_of(factors.lu, -2), columns = dim_of(factors.lu, -1);
  if (pivots) {
    Value* order = row_order(b, factors.pivots, rows);
    Value* equal = b.op("eq.Tensor", {column_of(b, b.arange(0, rows)), row_of(b, order)});
    b.result(b.cast(equal, factors.lu->type.dtype), 0);
  } else {
    empty(0);
  }
  if (!data) {
    empty(1);
    return empty(2);
  }
  const Sym count = least(rows, columns);
  Value* low = b.op("tril", {b.slice(factors.lu, -1, 0, count), -1});
  b.result(b.add(low, b.eye(rows, count, low->type.dtype)), 1);
  b.result(b.op("triu", {b.slice(factors.lu, -2, 0, count), 0}), 2);
}

bool wants_pivots(Builder& b) { return b.arg("pivot").to_bool(); }
Value* first_argument(Builder& b) { return b.args().at(0).value(); }
void lu_factor(Builder& b) {
  const Factors found = lu_factors(b, first_argument(b), wants_pivots(b));
  b.result(found.lu, 0);
  b.result(found.pivots, 1);
  if (b.node().outputs.size() > 2) b.result(found.info, 2);
}
void lu(Builder& b) {
  unpack(b, lu_factors(b, first_argument(b), wants_pivots(b)), true, wants_pivots(b));
}
void lu_unpack(Builder& b) {
  unpack(b, {matrices(b.in("LU_data")), b.in("LU_pivots"), nullptr}, b.arg("unpack_data").to_bool(),
         b.arg("unpack_pivots").to_bool());
}

// ---- solutions ----

// Solves A X = B, or A^T X = B, which is U^T L^T P^T X = B.
Value* solved(Builder& b, Value* lu, Value* pivots, Value* right, bool transposed) {
  const auto triangle = [&](Value* a, Value* x, bool upper, bool unit) {
    return b.op("linalg_solve_triangular", {a, x, upper, true, unit});
  };
  std::vector<Sym> lead(right->type.sizes.begin(), right->type.sizes.end() - 1);
  Value* order = row_order(b, pivots, dim_of(lu, -1));
  order = b.expand(order, lead);
  if (!transposed)
    return triangle(lu, triangle(lu, rows_in_order(b, right, order), false, true), true, false);
  Value* other = b.transpose(lu, -2, -1);
  Value* x = triangle(other, triangle(other, right, false, false), true, true);
  return rows_in_order(b, x, b.ops("sort.stable", {order, true, -1, false})[1]);
}

Value* spread(Builder& b, Value* x, const std::vector<Sym>& lead, size_t kept) {
  std::vector<Sym> sizes = lead;
  sizes.insert(sizes.end(), x->type.sizes.end() - static_cast<ptrdiff_t>(kept),
               x->type.sizes.end());
  return b.expand(x, sizes);
}
void solve_with(Builder& b, Value* lu, Value* pivots, Value* right, bool left, bool transposed) {
  const auto lead_of = [](const Value* x) {
    return std::vector<Sym>(x->type.sizes.begin(), x->type.sizes.end() - 2);
  };
  const std::vector<Sym> lead = broadcast(lead_of(matrices(lu)), lead_of(matrices(right)));
  lu = spread(b, lu, lead, 2);
  pivots = spread(b, pivots, lead, 1);
  right = spread(b, right, lead, 2);
  if (left) return b.result(solved(b, lu, pivots, right, transposed));
  Value* x = solved(b, lu, pivots, b.transpose(right, -2, -1), !transposed);
  b.result(b.transpose(x, -2, -1));
}
void linalg_lu_solve(Builder& b) {
  solve_with(b, b.in("LU"), b.in("pivots"), b.in("B"), b.arg("left").to_bool(),
             b.arg("adjoint").to_bool());
}
void lu_solve(Builder& b) {
  solve_with(b, b.in("LU_data"), b.in("LU_pivots"), b.in("self"), true, false);
}

// ---- reflections ----

// C - tau v v^T C
Value* reflected(Builder& b, Value* c, Value* v, Value* tau) {
  Value* along = b.op("matmul", {row_of(b, v), c});
  Value* scaled = b.mul(column_of(b, v), column_of(b, column_of(b, tau)));
  return b.sub(c, b.mul(scaled, along));
}

// H1 H2 ... C, or ... H2 H1 C for the transposed product. The reflection vectors lie below the
// diagonal of `a`.
Value* product_with(Builder& b, Value* a, Value* tau, Value* c, bool transposed) {
  const Sym count = dim_of(tau, -1);
  if (count == Sym(0) || c->type.numel() == Sym(0)) return c;
  Value* v = b.op("tril", {b.slice(matrices(a), -1, 0, count), -1});
  v = b.add(v, b.eye(dim_of(a, -2), count, v->type.dtype));
  Value* steps = last_dim_first(b, v);
  Value* taus = last_dim_first(b, tau);
  if (!transposed) {
    steps = b.op("flip", {steps, int_list({0})});
    taus = b.op("flip", {taus, int_list({0})});
  }
  const auto step = [](Builder& body, const Values& in) -> Values {
    return {reflected(body, in[0], in[1], in[2])};
  };
  return b.scan({c}, {steps, taus}, {}, step)[0];
}
void householder_product(Builder& b) {
  Value* a = first_argument(b);
  Value* one = b.eye(dim_of(a, -2), dim_of(a, -1), a->type.dtype);
  b.result(product_with(b, a, b.args().at(1).value(), b.expand(one, a->type.sizes), false));
}
void ormqr(Builder& b) {
  const bool left = b.arg("left").to_bool(), transpose = b.arg("transpose").to_bool();
  Value* c = b.in("input3");
  if (left) return b.result(product_with(b, b.in("self"), b.in("input2"), c, transpose));
  c = b.transpose(c, -2, -1);
  c = product_with(b, b.in("self"), b.in("input2"), c, !transpose);
  b.result(b.transpose(c, -2, -1));
}

// The reflection H = 1 - tau v v^T makes column k beta followed by zeros; v is stored in their
// place.
Values reflection_step(Builder& b, Value* a, Value* k) {
  Value* rows = b.arange(0, dim_of(a, -2));
  Value* columns = b.arange(0, dim_of(a, -1));
  Value* here = is(b, columns, k);
  Value* below = beyond(b, rows, k);
  Value* column = take_column(b, a, here);
  Value* alpha = b.sum(b.where(is(b, rows, k), column, 0.0), {-1});
  Value* rest = b.where(below, column, 0.0);
  Value* norm = b.op("linalg_vector_norm", {rest, 2.0, int_list({-1})});
  Value* nothing = b.op("eq.Scalar", {norm, 0.0});
  Value* beta = b.op("sqrt", {b.add(b.mul(alpha, alpha), b.mul(norm, norm))});
  Value* positive = b.op("ge.Scalar", {alpha, 0.0});
  beta = b.where(nothing, alpha, b.where(positive, b.op("neg", {beta}), beta));
  Value* tau = b.where(nothing, 0.0, b.div(b.sub(beta, alpha), beta));
  Value* by = b.where(nothing, 1.0, b.sub(alpha, beta));
  Value* v = b.where(is(b, rows, k), 1.0, b.div(rest, column_of(b, by)));
  a = b.where(beyond(b, columns, k), reflected(b, a, v, tau), a);
  Value* changed = b.where(below, v, b.where(is(b, rows, k), column_of(b, beta), column));
  return {b.where(here, column_of(b, changed), a), tau};
}
void geqrf(Builder& b) {
  Value* a = matrices(first_argument(b));
  if (a->type.numel() == Sym(0)) {
    b.result(a, 0);
    return b.result(b.full(b.out_type(1).sizes, 0.0, b.out_type(1).dtype), 1);
  }
  const Sym count = least(dim_of(a, -2), dim_of(a, -1));
  const auto step = [](Builder& body, const Values& in) {
    return reflection_step(body, in[0], in[1]);
  };
  const Values found = b.scan({a}, {b.arange(0, count)}, {}, step);
  b.result(found[0], 0);
  b.result(first_dim_last(b, found[1]), 1);
}

}  // namespace

const Decompositions& lu_rules() {
  static const Decompositions table = {
      {"linalg_lu_factor", lu_factor},
      {"linalg_lu_factor_ex", lu_factor},
      {"_lu_with_info", lu_factor},
      {"linalg_lu", lu},
      {"lu_unpack", lu_unpack},
      {"linalg_lu_solve", linalg_lu_solve},
      {"lu_solve", lu_solve},
      {"linalg_householder_product", householder_product},
      {"orgqr", householder_product},
      {"ormqr", ormqr},
      {"geqrf", geqrf},
  };
  return table;
}

}  // namespace taper::exir
