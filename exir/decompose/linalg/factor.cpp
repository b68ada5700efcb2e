// Linear algebra by matrix factorisation: singular values and eigenvalues, ranks, pseudo-inverses,
// triangular systems, and the matrix exponential.
//
//   pinv(A) = V diag(1 / s) U^T     for A = U diag(s) V^T; 1 / s is 0 for s below a tolerance
//   exp(A) = exp(A / 2^k)^(2^k)     with k so large that a short series gives exp(A / 2^k)

#include <algorithm>
#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

// The call's first argument, whatever its name: a batch of matrices.
Value* matrices(Builder& b) {
  Value* a = b.args().at(0).value();
  if (a->type.rank() < 2) throw Failure("linear algebra needs matrices");
  return a;
}
Value* transposed(Builder& b, Value* x) { return b.transpose(x, -2, -1); }
Value* product_of(Builder& b, Value* x, Value* y) { return b.op("matmul", {x, y}); }

void empty_result(Builder& b, size_t i) {
  b.result(b.full(b.out_type(i).sizes, 0.0, b.out_type(i).dtype), i);
}

// ---- calls of the factorisations that have kernels ----

Builder::Values factors(Builder& b, Value* a, bool full) {
  return b.ops("_linalg_svd", {a, full, true});
}
void linalg_svd(Builder& b) {
  const auto found = factors(b, matrices(b), b.arg("full_matrices").to_bool());
  for (size_t i = 0; i < 3; ++i) b.result(found[i], i);
}
Value* singular_values(Builder& b, Value* a) { return factors(b, a, false)[1]; }
void linalg_svdvals(Builder& b) { b.result(singular_values(b, matrices(b))); }
bool without_vectors(const Node& node) {
  return !node.arg(node.schema->find("compute_uv") < 0 ? "compute_v" : "compute_uv").to_bool();
}
void only_singular_values(Builder& b) {
  b.result(singular_values(b, matrices(b)), 1);
  empty_result(b, 0);
  empty_result(b, 2);
}
void svd(Builder& b) {  // The older form returns V, and zeros where vectors are not asked for.
  const auto found = factors(b, matrices(b), !b.arg("some").to_bool());
  b.result(found[1], 1);
  if (!b.arg("compute_uv").to_bool()) {
    empty_result(b, 0);
    return empty_result(b, 2);
  }
  b.result(found[0], 0);
  b.result(transposed(b, found[2]), 2);
}

Builder::Values eigen(Builder& b, const Argument& triangle) {
  return b.ops("_linalg_eigh", {matrices(b), triangle, true});
}
void linalg_eigh(Builder& b) {
  const auto found = eigen(b, b.arg("UPLO"));
  b.result(found[0], 0);
  b.result(found[1], 1);
}
void only_eigenvalues(Builder& b) {
  b.result(eigen(b, b.arg("UPLO"))[0]);
  if (b.node().outputs.size() > 1) empty_result(b, 1);
}

bool wants_only_r(const Node& node) { return node.arg("mode").text() == "r"; }
void only_r(Builder& b) {
  empty_result(b, 0);
  b.result(b.ops("linalg_qr", {matrices(b), "reduced"})[1], 1);
}
void qr(Builder& b) {
  const auto found =
      b.ops("linalg_qr", {matrices(b), b.arg("some").to_bool() ? "reduced" : "complete"});
  b.result(found[0], 0);
  b.result(found[1], 1);
}

// ---- numerical rank ----

double epsilon(ScalarType type) {
  return type == ScalarType::kDouble ? std::numeric_limits<double>::epsilon()
                                     : double{std::numeric_limits<float>::epsilon()};
}

bool is_hermitian(Builder& b) { return b.knows("hermitian") && b.arg("hermitian").to_bool(); }

// The singular values: of a symmetric matrix, the magnitudes of its eigenvalues, in any order.
Value* magnitudes(Builder& b, Value* a) {
  if (!is_hermitian(b)) return singular_values(b, a);
  return b.op("abs", {b.ops("_linalg_eigh", {a, "L", true})[0]});
}

// The argument `name` as a tensor that broadcasts over vectors of singular values; null if not
// given.
Value* limit(Builder& b, const char* name, ScalarType dtype) {
  if (!b.knows(name) || !b.has(name)) return nullptr;
  const Argument& arg = b.arg(name);
  if (!arg.is_value()) return b.constant(arg.to_double(), dtype);
  return b.unsqueeze(b.cast(arg.value(), dtype), -1);
}

// The tolerance up to which singular values count as zero: max(atol, rtol * largest value).
Value* cutoff(Builder& b, Value* a, Value* values) {
  const ScalarType dtype = values->type.dtype;
  Value* absolute = limit(b, "atol", dtype);
  Value* relative = limit(b, "rtol", dtype);
  if (Value* tol = limit(b, "tol", dtype)) {
    absolute = tol;
    relative = b.constant(0, dtype);
  }
  if (Value* rcond = limit(b, "rcond", dtype)) relative = rcond;
  const Sym rows = dim_of(a, -2), columns = dim_of(a, -1);
  if (!rows.is_int() || !columns.is_int()) throw Failure("singular values of a symbolic size");
  const double most = static_cast<double>(std::max(rows.as_int(), columns.as_int()));
  if (relative == nullptr) {
    relative = b.constant(most * epsilon(a->type.dtype), dtype);
    if (absolute != nullptr) {  // A positive atol alone replaces the default rtol.
      relative = b.where(b.op("gt.Scalar", {absolute, 0.0}), 0.0, relative);
    }
  }
  if (values->type.numel() == Sym(0)) return values;
  Value* part = b.mul(b.op("amax", {values, int_list({-1}), true}), relative);
  return absolute == nullptr ? part : b.op("maximum", {part, absolute});
}

void pinv(Builder& b) {
  Value* a = matrices(b);
  Value *left = nullptr, *values = nullptr, *right = nullptr;
  if (is_hermitian(b)) {
    const auto found = b.ops("_linalg_eigh", {a, "L", true});
    values = found[0];
    left = right = found[1];
  } else {
    const auto found = factors(b, a, false);
    left = found[0];
    values = found[1];
    right = transposed(b, found[2]);
  }
  Value* size = b.op("abs", {values});
  Value* counts = b.op("gt.Tensor", {size, cutoff(b, a, size)});
  Value* inverse = b.where(counts, b.op("reciprocal", {values}), 0.0);
  b.result(product_of(b, b.mul(right, b.unsqueeze(inverse, -2)), transposed(b, left)));
}

void matrix_rank(Builder& b) {
  Value* a = matrices(b);
  Value* values = magnitudes(b, a);
  b.result(b.sum(b.op("gt.Tensor", {values, cutoff(b, a, values)}), {-1}));
}

// ---- norms ----

Value* with_dims_last(Builder& b, Value* x, std::vector<int64_t> dims) {
  const auto rank = static_cast<int64_t>(x->type.rank());
  std::vector<int64_t> order;
  for (int64_t& d : dims) d = wrap_dim(d, rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dims.at(0) && d != dims.at(1)) order.push_back(d);
  }
  order.insert(order.end(), dims.begin(), dims.end());
  return b.permute(x, order);
}
void nuclear_norm(Builder& b) {
  Value* x = matrices(b);
  if (b.knows("dim")) x = with_dims_last(b, x, to_ints(b.arg("dim")));
  b.result(b.view(b.sum(singular_values(b, x), {-1}), b.out_type().sizes));
}

// The largest over the smallest singular value, or norm(A) norm(A^-1).
void condition(Builder& b) {
  Value* a = matrices(b);
  const Argument& p = b.arg("p");
  const bool text = p.is<std::string>();
  const double order = p.is_none() ? 2 : text ? 0 : p.to_double();
  if (!text && std::abs(order) == 2) {
    Value* values = singular_values(b, a);
    Value* most = b.op("amax", {values, int_list({-1})});
    Value* least = b.op("amin", {values, int_list({-1})});
    return b.result(order > 0 ? b.div(most, least) : b.div(least, most));
  }
  const char* norm = text ? "linalg_matrix_norm.str_ord" : "linalg_matrix_norm";
  const TensorType type(a->type.dtype, b.out_type().sizes);
  const auto norm_of = [&](Value* x) {
    return b.rewriter().emit(std::string("aten::") + norm,
                             {x, p, int_list({-2, -1}), false, Argument()}, {type})[0];
  };
  Value* inverse = b.rewriter().emit("aten::linalg_inv", {a}, {a->type})[0];
  b.result(b.mul(norm_of(a), norm_of(inverse)));
}

// ---- triangular systems ----

Value* solve_triangle(Builder& b, Value* a, Value* right, bool upper, bool unit = false) {
  return b.op("linalg_solve_triangular", {a, right, upper, true, unit});
}

// L L^T x = B, or U^T U x = B.
Value* solve_cholesky(Builder& b, Value* triangle, Value* right) {
  const bool upper = b.arg("upper").to_bool();
  Value* adjoint = transposed(b, triangle);
  Value* half = solve_triangle(b, upper ? adjoint : triangle, right, false);
  return solve_triangle(b, upper ? triangle : adjoint, half, true);
}
Value* identity_like(Builder& b, const Value* a) {
  const Sym n = dim_of(a, -1);
  return b.expand(b.eye(n, n, a->type.dtype), a->type.sizes);
}
void cholesky_inverse(Builder& b) {
  Value* a = matrices(b);
  b.result(solve_cholesky(b, a, identity_like(b, a)));
}
// Broadcasts the batch dimensions of both.
void spread(Builder& b, Value*& x, Value*& y) {
  const std::vector<Sym> xs(x->type.sizes.begin(), x->type.sizes.end() - 2);
  const std::vector<Sym> ys(y->type.sizes.begin(), y->type.sizes.end() - 2);
  const std::vector<Sym> both = broadcast(xs, ys);
  const auto widened = [&](Value* v) {
    std::vector<Sym> sizes = both;
    sizes.push_back(dim_of(v, -2));
    sizes.push_back(dim_of(v, -1));
    return b.expand(v, sizes);
  };
  x = widened(x);
  y = widened(y);
}
void cholesky_solve(Builder& b) {
  Value* right = matrices(b);
  Value* triangle = b.in("input2");
  spread(b, right, triangle);
  b.result(solve_cholesky(b, triangle, right));
}
void triangular_solve(Builder& b) {
  Value* right = matrices(b);
  Value* a = b.in("A");
  spread(b, right, a);
  const bool flip = b.arg("transpose").to_bool(), upper = b.arg("upper").to_bool();
  Value* x = solve_triangle(b, flip ? transposed(b, a) : a, right, upper != flip,
                            b.arg("unitriangular").to_bool());
  b.result(x, 0);
  b.result(a, 1);
}

// ---- tensors as matrices ----

void tensorinv(Builder& b) {
  Value* x = b.in("self");
  const auto at = static_cast<size_t>(b.arg("ind").to_int());
  const Sym rows = product(x->type.sizes, 0, at);
  Value* square = b.view(x, {rows, rows});
  Value* inverse = b.rewriter().emit("aten::linalg_inv", {square}, {square->type})[0];
  b.result(b.view(inverse, b.out_type().sizes));
}
void tensorsolve(Builder& b) {
  Value* a = b.in("self");
  Value* right = b.in("other");
  if (b.has("dims")) {  // They move to the end.
    std::vector<int64_t> last = to_ints(b.arg("dims")), order;
    for (int64_t& d : last) d = wrap_dim(d, static_cast<int64_t>(a->type.rank()));
    for (int64_t d = 0; d < static_cast<int64_t>(a->type.rank()); ++d) {
      if (std::find(last.begin(), last.end(), d) == last.end()) order.push_back(d);
    }
    order.insert(order.end(), last.begin(), last.end());
    a = b.permute(a, order);
  }
  const Sym rows = right->type.numel();
  const auto found = b.ops("_linalg_solve_ex",
                           {b.view(a, {rows, rows}), b.view(right, {rows, Sym(1)}), true, true});
  b.result(b.view(found[0], b.out_type().sizes));
}

// ---- the exponential ----

// The Taylor series 1 + A (1 + A / 2 (1 + A / 3 ...)), for a norm of at most 1.
Value* short_series(Builder& b, Value* a) {
  constexpr int kTerms = 18;
  Value* one = identity_like(b, a);
  Value* y = one;
  for (int k = kTerms; k > 0; --k) y = b.add(one, product_of(b, b.mul(a, 1.0 / k), y));
  return y;
}

void matrix_exp(Builder& b) {
  constexpr int64_t kMostDoublings = 32;
  Value* a = b.cast(matrices(b), ScalarType::kDouble);  // Each squaring doubles the error.
  if (a->type.numel() == Sym(0)) return b.result(a);
  Value* sums = b.sum(b.op("abs", {a}), {-1}, true);
  Value* norm = b.op("amax", {sums, int_list({-2}), true});
  Value* doublings = b.op("ceil", {b.op("log2", {b.op("clamp", {norm, 1.0, Argument()})})});
  doublings = b.op("clamp", {doublings, 0.0, static_cast<double>(kMostDoublings)});
  Value* small = b.div(a, b.op("exp2", {doublings}));
  Value* steps = b.cast(b.arange(0, kMostDoublings), a->type.dtype);
  const auto found = b.scan({short_series(b, small)}, {steps}, {doublings},
                            [](Builder& body, const Builder::Values& in) -> Builder::Values {
                              Value* doubled = body.op("matmul", {in[0], in[0]});
                              Value* on = body.op("lt.Tensor", {in[1], in[2]});
                              return {body.where(on, doubled, in[0])};
                            });
  b.result(found[0]);
}

}  // namespace

const Decompositions& factor_rules() {
  static const Decompositions table = {
      {"linalg_svd", linalg_svd},
      {"linalg_svdvals", linalg_svdvals},
      {"_linalg_svd", only_singular_values, Precision::kSame, without_vectors},
      {"svd", svd},
      {"linalg_eigh", linalg_eigh},
      {"linalg_eigvalsh", only_eigenvalues},
      {"_linalg_eigh", only_eigenvalues, Precision::kSame, without_vectors},
      {"linalg_qr", only_r, Precision::kSame, wants_only_r},
      {"qr", qr},
      {"linalg_pinv", pinv},
      {"linalg_pinv.rcond_tensor", pinv},
      {"linalg_pinv.atol_rtol_float", pinv},
      {"linalg_pinv.atol_rtol_tensor", pinv},
      {"pinverse", pinv},
      {"linalg_matrix_rank", matrix_rank},
      {"linalg_matrix_rank.tol_tensor", matrix_rank},
      {"linalg_matrix_rank.atol_rtol_float", matrix_rank},
      {"linalg_matrix_rank.atol_rtol_tensor", matrix_rank},
      {"nuclear_norm", nuclear_norm},
      {"nuclear_norm.dim", nuclear_norm},
      {"linalg_cond", condition},
      {"linalg_cond.p_str", condition},
      {"cholesky_solve", cholesky_solve},
      {"cholesky_inverse", cholesky_inverse},
      {"triangular_solve", triangular_solve},
      {"linalg_tensorinv", tensorinv},
      {"linalg_tensorsolve", tensorsolve},
      {"matrix_exp", matrix_exp},
      {"linalg_matrix_exp", matrix_exp},
  };
  return table;
}

}  // namespace taper::exir
