// Reductions, norms and scans.

#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

Value* self(Builder& b) { return b.in("self"); }

Argument dims_or_all(Builder& b) {
  if (b.node().schema->find("dim") < 0 || !b.has("dim")) return Argument::List();
  const Argument& dim = b.arg("dim");
  return dim.is_list() ? dim : Argument(Argument::List{dim});
}
Argument keepdim(Builder& b) {
  return b.node().schema->find("keepdim") < 0 ? Argument(false) : b.arg("keepdim");
}

void softmax(Builder& b) {
  Value* x = b.cast(self(b), b.out_type().dtype);
  b.result(b.op("_softmax", {x, b.arg("dim"), false}));
}
void log_softmax(Builder& b) {
  Value* x = b.cast(self(b), b.out_type().dtype);
  b.result(b.op("_log_softmax", {x, b.arg("dim"), false}));
}

void sum(Builder& b) {
  b.result(b.op("sum.dim_IntList", {self(b), Argument::List(), false, b.out_type().dtype}));
}

// unbiased is correction 1 or 0.
Argument correction(Builder& b) {
  if (b.node().schema->find("unbiased") >= 0) return b.arg("unbiased").to_bool() ? 1 : 0;
  return b.has("correction") ? b.arg("correction") : Argument(1);
}
Value* variance(Builder& b) {
  return b.op("var.correction", {self(b), dims_or_all(b), correction(b), keepdim(b)});
}
Value* mean(Builder& b) { return b.op("mean.dim", {self(b), dims_or_all(b), keepdim(b)}); }
void var(Builder& b) { b.result(variance(b)); }
void stddev(Builder& b) { b.result(b.op("sqrt", {variance(b)})); }
void var_mean(Builder& b) {
  b.result(variance(b), 0);
  b.result(mean(b), 1);
}
void std_mean(Builder& b) {
  b.result(b.op("sqrt", {variance(b)}), 0);
  b.result(mean(b), 1);
}

// Unlike other reductions any.dims takes an empty list for no dimension, and None for all.
Value* any_of(Builder& b, Value* x) {
  if (b.node().schema->find("dim") < 0) return b.op("any", {x});
  return b.op("any.dims", {x, b.has("dim") ? dims_or_all(b) : Argument(), keepdim(b)});
}
// All are true if none is false.
void all(Builder& b) {
  Value* none = b.op("logical_not", {self(b)});
  b.result(b.op("logical_not", {any_of(b, none)}));
}
void any_dim(Builder& b) { b.result(any_of(b, self(b))); }

void aminmax(Builder& b) {
  const Argument dims = dims_or_all(b);
  b.result(b.op("amin", {self(b), dims, keepdim(b)}), 0);
  b.result(b.op("amax", {self(b), dims, keepdim(b)}), 1);
}

// Subtracts the maximum so that exp does not overflow; an infinite maximum counts as 0. Where
// there is nothing to sum there is no maximum either.
void logsumexp(Builder& b) {
  Value* x = self(b);
  if (!is_floating(x->type.dtype)) x = b.cast(x, b.out_type().dtype);
  const Argument dims = dims_or_all(b);
  if (x->type.numel() == Sym(0)) {
    Value* nothing = b.op("sum.dim_IntList", {b.op("exp", {x}), dims, true});
    return b.result(b.view(b.op("log", {nothing}), b.out_type().sizes));
  }
  Value* top = b.op("amax", {x, dims, true});
  Value* infinite =
      b.op("eq.Scalar", {b.op("abs", {top}), std::numeric_limits<double>::infinity()});
  top = b.op("where.self", {infinite, b.constant(0, x->type.dtype), top});
  Value* total = b.op("sum.dim_IntList", {b.op("exp", {b.sub(x, top)}), dims, true});
  Value* y = b.add(b.op("log", {total}), top);
  b.result(b.view(y, b.out_type().sizes));
}

void vector_norm(Builder& b, const Argument& order) {
  Value* x = b.cast(self(b), b.wide_type());
  const double p = order.is_none() ? 2 : order.to_double();
  const Argument dims = dims_or_all(b);
  const Argument keep = keepdim(b);
  const double inf = std::numeric_limits<double>::infinity();
  if (p == 2) {
    return b.result(b.op("sqrt", {b.op("sum.dim_IntList", {b.mul(x, x), dims, keep})}));
  }
  Value* size = b.op("abs", {x});
  if (p == inf) return b.result(b.op("amax", {size, dims, keep}));
  if (p == -inf) return b.result(b.op("amin", {size, dims, keep}));
  if (p == 0) {
    Value* nonzero = b.cast(b.op("ne.Scalar", {x, 0}), x->type.dtype);
    return b.result(b.op("sum.dim_IntList", {nonzero, dims, keep}));
  }
  if (p == 1) return b.result(b.op("sum.dim_IntList", {size, dims, keep}));
  Value* total = b.op("sum.dim_IntList", {b.op("pow.Tensor_Scalar", {size, p}), dims, keep});
  b.result(b.op("pow.Tensor_Scalar", {total, 1 / p}));
}
void linalg_norm(Builder& b) { vector_norm(b, b.arg("ord")); }
void norm(Builder& b) { vector_norm(b, b.arg("p")); }

void count_nonzero(Builder& b) {
  Value* nonzero = b.op("ne.Scalar", {self(b), 0});
  b.result(b.op("sum.dim_IntList", {nonzero, dims_or_all(b)}));
}

void nansum(Builder& b) {
  Value* x = self(b);
  Value* clean = b.op("where.self", {b.op("isnan", {x}), b.constant(0, x->type.dtype), x});
  b.result(b.op("sum.dim_IntList", {clean, dims_or_all(b), keepdim(b)}));
}

// The mean of the elements that are not NaN.
void nanmean(Builder& b) {
  Value* x = self(b);
  Value* number = b.op("logical_not", {b.op("isnan", {x})});
  Value* total = b.op("sum.dim_IntList", {b.where(number, x, 0), dims_or_all(b), keepdim(b)});
  Value* count = b.op("sum.dim_IntList", {number, dims_or_all(b), keepdim(b)});
  b.result(b.div(total, count));
}
void dist(Builder& b) {
  Value* gap = b.sub(self(b), b.in("other"));
  b.result(b.op("linalg_vector_norm", {gap, b.has("p") ? b.arg("p") : Argument(2)}));
}

void trace(Builder& b) {
  b.result(b.op("sum.dim_IntList", {b.op("diagonal", {self(b), 0, 0, 1}), int_list({0})}));
}

// ---- scans ----

// y[i] = x[0] . x[1] ... x[i], in log2(n) rounds: each combines y[i] with y[i - step].
template <typename Combine>
void scan(Builder& b, double neutral, const Combine& combine) {
  Value* y = b.cast(self(b), b.out_type().dtype);
  if (y->type.rank() == 0) return b.result(y);
  const int64_t dim = b.arg("dim").to_int();
  const Sym size = dim_of(y, dim);
  if (!size.is_int()) {
    throw Failure(std::string(b.node().target()) + " over the symbolic size " + size.text());
  }
  Sizes edge = y->type.sizes;
  const auto at = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(edge.size()) : dim);
  for (int64_t step = 1; step < size.as_int(); step *= 2) {
    edge.at(at) = step;
    Value* before = b.full(
        edge,
        is_floating(y->type.dtype) ? Argument(neutral) : Argument(static_cast<int64_t>(neutral)),
        y->type.dtype);
    y = combine(y, b.cat({before, b.slice(y, dim, 0, size.as_int() - step)}, dim));
  }
  b.result(y);
}

void cumprod(Builder& b) {
  scan(b, 1, [&](Value* x, Value* y) { return b.mul(x, y); });
}

// The maximum or minimum of x[0] ... x[i] and the index of its last occurrence, in as many rounds;
// NaN wins over all numbers.
void cumulative_extreme(Builder& b, const char* better) {
  Value* y = self(b);
  if (y->type.rank() == 0) {
    b.result(y);
    return b.result(b.full({}, 0, ScalarType::kLong), 1);
  }
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(y->type.rank()));
  const Sym size = dim_of(y, dim);
  if (!size.is_int()) {
    throw Failure(std::string(b.node().target()) + " over the symbolic size " + size.text());
  }
  Sizes line(y->type.rank(), Sym(1));
  line[static_cast<size_t>(dim)] = size;
  Value* at = b.expand(b.view(b.arange(0, size), line), y->type.sizes);
  for (int64_t step = 1; step < size.as_int(); step *= 2) {
    const auto early = [&](Value* x) { return b.slice(x, dim, 0, size.as_int() - step); };
    const auto late = [&](Value* x) { return b.slice(x, dim, step, size); };
    Value* take = b.op(better, {early(y), late(y)});
    if (is_floating(y->type.dtype)) {
      take = b.op("logical_or", {take, b.op("isnan", {early(y)})});
      take = b.op("logical_and", {take, b.op("logical_not", {b.op("isnan", {late(y)})})});
    }
    const auto joined = [&](Value* x) {
      return b.cat({b.slice(x, dim, 0, step), b.where(take, early(x), late(x))}, dim);
    };
    y = joined(y);
    at = joined(at);
  }
  b.result(y);
  b.result(at, 1);
}
void cummax(Builder& b) { cumulative_extreme(b, "gt.Tensor"); }
void cummin(Builder& b) { cumulative_extreme(b, "lt.Tensor"); }

// (g - sum(g y)) y, with y the softmax.
void softmax_backward(Builder& b) {
  Value* y = b.in("output");
  Value* product = b.mul(b.in("grad_output"), y);
  Value* total = b.sum(product, {b.arg("dim").to_int()}, true);
  b.result(b.sub(product, b.mul(y, total)));
}

// The logarithm of running sums of exponentials, as a scan with logaddexp, so that no intermediate
// sum leaves the range of the result.
void logcumsumexp(Builder& b) {
  Value* x = b.in("self");
  if (x->type.rank() == 0) return b.result(x);
  const int64_t dim = wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(x->type.rank()));
  const Sym size = dim_of(x, dim);
  if (!size.is_int()) throw Failure("logcumsumexp over the symbolic size " + size.text());
  for (int64_t step = 1; step < size.as_int(); step *= 2) {
    Value* later = b.slice(x, dim, step, size);
    Value* earlier = b.slice(x, dim, 0, size.as_int() - step);
    x = b.cat({b.slice(x, dim, 0, step), b.op("logaddexp", {later, earlier})}, dim);
  }
  b.result(x);
}

}  // namespace

const Decompositions& reduce_rules() {
  static const Decompositions table = {
      {"softmax.int", softmax},
      {"log_softmax.int", log_softmax},
      {"sum", sum},
      {"var", var},
      {"var.dim", var},
      {"std", stddev, kWide},
      {"std.dim", stddev, kWide},
      {"std.correction", stddev, kWide},
      {"var_mean", var_mean},
      {"var_mean.dim", var_mean},
      {"std_mean", std_mean},
      {"std_mean.dim", std_mean},
      {"std_mean.correction", std_mean},
      {"all", all},
      {"_is_all_true", all},
      {"_is_any_true", any_dim},
      {"all.dim", all},
      {"all.dims", all},
      {"any.dim", any_dim},
      {"aminmax", aminmax},
      {"logsumexp", logsumexp, kWide},
      {"linalg_vector_norm", linalg_norm, kWide},
      {"norm.Scalar", norm, kWide},
      {"norm.ScalarOpt_dim", norm, kWide},
      {"norm.ScalarOpt_dtype", norm, kWide},
      {"norm.ScalarOpt_dim_dtype", norm, kWide},
      {"count_nonzero", count_nonzero},
      {"count_nonzero.dim_IntList", count_nonzero},
      {"logcumsumexp", logcumsumexp, kWide},
      {"nansum", nansum},
      {"_softmax_backward_data", softmax_backward, kWide},
      {"nanmean", nanmean, kWide},
      {"dist", dist, kWide},
      {"trace", trace},
      {"cummax", cummax},
      {"cummin", cummin},
      {"cumprod", cumprod},
  };
  return table;
}

}  // namespace taper::exir
