// Norms of matrices, distances between rows, and chains of products.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value* self(Builder& b) { return b.in("self"); }
int64_t rank_of(const Value* x) { return static_cast<int64_t>(x->type.rank()); }

// ---- norms ----

Value* vector_norm(Builder& b, Value* x, const Argument& order, const Argument& dims, bool keep) {
  return b.op("linalg_vector_norm", {x, order, dims, keep});
}

// The largest (for a negative order, the smallest) sum of magnitudes of the rows or columns.
Value* extreme_sum(Builder& b, Value* x, int64_t summed, int64_t other, double order, bool keep) {
  Value* sums = b.sum(b.op("abs", {x}), {summed}, true);
  Value* y = b.op(order > 0 ? "amax" : "amin", {sums, int_list({other}), true});
  if (keep) return y;
  return b.op("squeeze.dims", {y, int_list({summed, other})});
}

// The largest (2), the smallest (-2) or the sum ("nuc") of the singular values.
Value* spectral_norm(Builder& b, Value* x, const Argument& order, const std::vector<int64_t>& dims,
                     bool keep) {
  std::vector<int64_t> dims_last;
  for (int64_t d = 0; d < rank_of(x); ++d) {
    if (d != dims.at(0) && d != dims.at(1)) dims_last.push_back(d);
  }
  dims_last.insert(dims_last.end(), dims.begin(), dims.end());
  Value* values = b.ops("_linalg_svd", {b.permute(x, dims_last), false, true})[1];
  const bool sum = order.is<std::string>();
  Value* y = sum ? b.sum(values, {-1})
                 : b.op(order.to_double() > 0 ? "amax" : "amin", {values, int_list({-1})});
  if (!keep) return y;
  for (int64_t d : {std::min(dims[0], dims[1]), std::max(dims[0], dims[1])}) y = b.unsqueeze(y, d);
  return y;
}

Value* matrix_norm(Builder& b, Value* x, const Argument& order, std::vector<int64_t> dims,
                   bool keep) {
  for (int64_t& d : dims) d = wrap_dim(d, rank_of(x));
  if (order.is_none() || order.is<std::string>()) {
    if (!order.is_none() && order.text() == "nuc") return spectral_norm(b, x, order, dims, keep);
    return vector_norm(b, x, 2, int_list(dims), keep);
  }
  const double p = order.to_double();
  const int64_t rows = dims.at(0), columns = dims.at(1);
  if (std::abs(p) == 1) return extreme_sum(b, x, rows, columns, p, keep);
  if (std::abs(p) == kInfinity) return extreme_sum(b, x, columns, rows, p, keep);
  if (std::abs(p) == 2) return spectral_norm(b, x, order, dims, keep);
  throw Failure("a matrix has no norm of order " + std::to_string(p));
}
void linalg_matrix_norm(Builder& b) {
  Value* x = b.cast(self(b), b.wide_type());
  b.result(matrix_norm(b, x, b.arg("ord"), to_ints(b.arg("dim")), b.arg("keepdim").to_bool()));
}

// A vector norm over one dimension or all elements; a matrix norm over two dimensions, or of a
// matrix if an order is given.
void linalg_norm(Builder& b) {
  Value* x = b.cast(self(b), b.wide_type());
  const Argument& order = b.arg("ord");
  const bool keep = b.arg("keepdim").to_bool();
  std::vector<int64_t> dims;
  if (b.has("dim")) {
    const Argument& dim = b.arg("dim");
    dims = dim.is_list() ? to_ints(dim) : std::vector<int64_t>{dim.to_int()};
  } else if (!order.is_none() && rank_of(x) == 2) {
    dims = {0, 1};
  }
  if (dims.size() == 2 && !order.is_none()) {
    return b.result(matrix_norm(b, x, order, dims, keep));
  }
  b.result(vector_norm(b, x, order.is_none() ? Argument(2) : order, int_list(dims), keep));
}
void frobenius_norm(Builder& b) {
  b.result(vector_norm(b, self(b), 2, b.arg("dim"), b.arg("keepdim").to_bool()));
}

// ---- distances ----

// The p-norm of the difference of every pair of rows; batch dimensions broadcast.
void cdist(Builder& b) {
  Value* x = b.in("x1");
  Value* y = b.in("x2");
  if (x->type.rank() < 2 || y->type.rank() < 2) throw Failure("cdist needs rows of points");
  const Sizes xs(x->type.sizes.begin(), x->type.sizes.end() - 2);
  const Sizes ys(y->type.sizes.begin(), y->type.sizes.end() - 2);
  const auto wide = [&](Value* v) {
    Sizes sizes = broadcast(xs, ys);
    sizes.push_back(dim_of(v, -2));
    sizes.push_back(dim_of(v, -1));
    return b.expand(v, sizes);
  };
  b.result(b.rewriter().emit("aten::_cdist_forward",
                             {wide(x), wide(y), b.arg("p").to_double(), Argument()},
                             {b.out_type()})[0]);
}
void pdist(Builder& b) {
  b.result(b.rewriter().emit("aten::_pdist_forward", {self(b), b.arg("p").to_double()},
                             {b.out_type()})[0]);
}

// ---- products ----

// Sums over pairs of dimensions, as a product of matrices.
void tensordot(Builder& b) {
  Value* x = self(b);
  Value* y = b.in("other");
  std::vector<int64_t> xd = to_ints(b.arg("dims_self")), yd = to_ints(b.arg("dims_other"));
  std::vector<int64_t> xs, ys = {};
  const auto others = [](const Value* v, std::vector<int64_t>& dims) {
    std::vector<int64_t> out;
    for (int64_t& d : dims) d = wrap_dim(d, static_cast<int64_t>(v->type.rank()));
    for (int64_t d = 0; d < static_cast<int64_t>(v->type.rank()); ++d) {
      bool used = false;
      for (int64_t u : dims) used |= u == d;
      if (!used) out.push_back(d);
    }
    return out;
  };
  xs = others(x, xd);
  ys = others(y, yd);
  for (size_t i = 0; i < xd.size(); ++i) {  // A size of 1 broadcasts: the other operand is summed.
    if (dim_of(x, xd[i]) == dim_of(y, yd.at(i))) continue;
    if (dim_of(x, xd[i]) == Sym(1))
      y = b.cast(b.sum(y, {yd[i]}, true), y->type.dtype);
    else
      x = b.cast(b.sum(x, {xd[i]}, true), x->type.dtype);
  }
  std::vector<int64_t> left = xs, right = yd;
  left.insert(left.end(), xd.begin(), xd.end());
  right.insert(right.end(), ys.begin(), ys.end());
  x = b.permute(x, left);
  y = b.permute(y, right);
  const Sym depth = product(y->type.sizes, 0, yd.size());
  Value* rows = b.view(x, {product(x->type.sizes, 0, xs.size()), depth});
  Value* columns = b.view(y, {depth, product(y->type.sizes, yd.size(), y->type.rank())});
  b.result(b.view(b.op("mm", {rows, columns}), b.out_type().sizes));
}

void vecdot(Builder& b) { b.result(b.sum(b.mul(b.in("x"), b.in("y")), {b.arg("dim").to_int()})); }

void chain(Builder& b) {
  const Argument::List& list = b.arg(b.knows("matrices") ? "matrices" : "tensors").list();
  Value* y = list.at(0).value();
  for (size_t i = 1; i < list.size(); ++i) y = b.op("matmul", {y, list[i]});
  b.result(b.view(y, b.out_type().sizes));
}

// Powers by repeated squaring.
void matrix_power(Builder& b) {
  int64_t n = b.arg("n").to_int();
  Value* base = self(b);
  if (n < 0) {
    base = b.rewriter().emit("aten::linalg_inv", {base}, {base->type})[0];
    n = -n;
  }
  if (n == 0) {
    const Sym rows = dim_of(base, -1);
    return b.result(b.expand(b.eye(rows, rows, base->type.dtype), base->type.sizes));
  }
  Value* y = nullptr;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) y = y == nullptr ? base : b.op("matmul", {y, base});
    if (n > 1) base = b.op("matmul", {base, base});
  }
  b.result(y);
}

// x^0, x^1, ... along a new last dimension.
void vander(Builder& b) {
  Value* x = b.in("x");
  const Sym count = dim_of(b.node().outputs[0], -1);
  Value* power = b.arange(0, count);
  if (b.knows("increasing") && !b.arg("increasing").to_bool()) {
    power = b.op("flip", {power, int_list({0})});
  }
  x = b.cast(x, b.out_type().dtype);
  if (x->type.rank() == 0) x = b.unsqueeze(x, 0);
  b.result(b.op("pow.Tensor_Tensor", {b.unsqueeze(x, -1), b.cast(power, x->type.dtype)}));
}

}  // namespace

const Decompositions& matrix_rules() {
  static const Decompositions table = {
      {"linalg_matrix_norm", linalg_matrix_norm, kWide},
      {"linalg_matrix_norm.str_ord", linalg_matrix_norm, kWide},
      {"linalg_norm", linalg_norm, kWide},
      {"linalg_norm.ord_str", linalg_norm, kWide},
      {"frobenius_norm.dim", frobenius_norm, kWide},
      {"cdist", cdist},
      {"pdist", pdist},
      {"tensordot", tensordot},
      {"linalg_vecdot", vecdot},
      {"chain_matmul", chain},
      {"linalg_multi_dot", chain},
      {"linalg_matrix_power", matrix_power},
      {"linalg_vander", vander},
      {"vander", vander},
  };
  return table;
}

}  // namespace taper::exir
