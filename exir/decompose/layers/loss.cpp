// Losses: an element-wise distance, then none, its mean or its sum.

#include <cmath>
#include <numbers>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr int64_t kNone = 0, kMean = 1;  // Values of `reduction`; 2 is the sum.

Value* self(Builder& b) { return b.in("self"); }
Value* target(Builder& b) { return b.in("target"); }

Value* reduced(Builder& b, Value* x) {
  const int64_t how = b.arg("reduction").to_int();
  if (how == kNone) return x;
  return how == kMean ? b.op("mean.dim", {x, Argument::List()}) : b.sum(x);
}
void finish(Builder& b, Value* loss) { b.result(reduced(b, loss)); }

Value* difference(Builder& b) { return b.sub(self(b), target(b)); }
Value* distance(Builder& b) { return b.op("abs", {difference(b)}); }
Value* square(Builder& b, Value* x) { return b.mul(x, x); }
Value* at_least_zero(Builder& b, Value* x) { return b.op("clamp", {x, 0, Argument()}); }

void mse_loss(Builder& b) { finish(b, square(b, difference(b))); }
void l1_loss(Builder& b) { finish(b, distance(b)); }

// Quadratic below beta, linear above.
void smooth_l1_loss(Builder& b) {
  const double beta = b.arg("beta").to_double();
  Value* x = distance(b);
  if (beta == 0) return finish(b, x);
  Value* near = b.mul(square(b, x), 0.5 / beta);
  finish(b, b.where(b.op("lt.Scalar", {x, beta}), near, b.sub(x, 0.5 * beta)));
}
void huber_loss(Builder& b) {
  const double delta = b.arg("delta").to_double();
  Value* x = distance(b);
  Value* near = b.mul(square(b, x), 0.5);
  Value* far = b.mul(b.sub(x, 0.5 * delta), delta);
  finish(b, b.where(b.op("lt.Scalar", {x, delta}), near, far));
}

Value* weighted(Builder& b, Value* loss) {
  return b.has("weight") ? b.mul(loss, b.in("weight")) : loss;
}

// (t - 1) log(1 - x) - t log(x), with logarithms of at least -100.
void binary_cross_entropy(Builder& b) {
  Value* t = target(b);
  const auto bounded = [&](Value* y) { return b.op("clamp", {y, -100, Argument()}); };
  Value* yes = bounded(b.op("log", {self(b)}));
  Value* no = bounded(b.op("log1p", {b.op("neg", {self(b)})}));
  finish(b, weighted(b, b.sub(b.mul(b.sub(t, 1), no), b.mul(t, yes))));
}
void binary_cross_entropy_with_logits(Builder& b) {
  Value* x = self(b);
  Value* t = target(b);
  Value* log = b.op("log_sigmoid", {x});
  if (b.has("pos_weight")) {
    log = b.mul(log, b.add(b.mul(b.sub(b.in("pos_weight"), 1), t), 1));
  }
  finish(b, weighted(b, b.sub(b.mul(b.op("rsub.Scalar", {t, 1}), x), log)));
}

void kl_div(Builder& b) {
  Value* x = self(b);
  Value* t = target(b);
  if (b.arg("log_target").to_bool()) return finish(b, b.mul(b.op("exp", {t}), b.sub(t, x)));
  finish(b, b.sub(b.op("xlogy.Tensor", {t, t}), b.mul(t, x)));
}

// If `full` is set, adds Stirling's approximation of log(t!) where t > 1.
void poisson_nll_loss(Builder& b) {
  Value* x = b.in("input");
  Value* t = target(b);
  Value* loss = b.arg("log_input").to_bool()
                    ? b.sub(b.op("exp", {x}), b.mul(t, x))
                    : b.sub(x, b.mul(t, b.op("log", {b.add(x, b.arg("eps"))})));
  if (b.arg("full").to_bool()) {
    Value* spread = b.mul(b.op("log", {b.mul(t, 2 * std::numbers::pi)}), 0.5);
    Value* factorial = b.add(b.sub(b.mul(t, b.op("log", {t})), t), spread);
    loss = b.add(loss, b.where(b.op("le.Scalar", {t, 1}), 0.0, factorial));
  }
  finish(b, loss);
}

void soft_margin_loss(Builder& b) {
  Value* y = b.op("neg", {b.mul(target(b), self(b))});
  finish(b, b.op("log1p", {b.op("exp", {y})}));
}
void hinge_embedding_loss(Builder& b) {
  Value* x = self(b);
  Value* t = target(b);
  Value* apart = at_least_zero(b, b.op("rsub.Scalar", {x, b.arg("margin")}));
  Value* other = b.where(b.op("ne.Scalar", {t, 1}), apart, 0);
  finish(b, b.add(other, b.where(b.op("ne.Scalar", {t, -1}), x, 0)));
}
void margin_ranking_loss(Builder& b) {
  Value* gap = b.mul(b.op("neg", {target(b)}), b.sub(b.in("input1"), b.in("input2")));
  finish(b, at_least_zero(b, b.add(gap, b.arg("margin"))));
}

void cosine_embedding_loss(Builder& b) {
  Value* x = b.in("input1");
  Value* y = b.in("input2");
  Value* t = target(b);
  const int64_t dim = t->type.rank() == 0 ? 0 : 1;
  const auto dot = [&](Value* p, Value* q) { return b.sum(b.mul(p, q), {dim}); };
  Value* lengths = b.mul(b.add(dot(x, x), 1e-12), b.add(dot(y, y), 1e-12));
  Value* cosine = b.div(dot(x, y), b.op("sqrt", {lengths}));
  Value* apart = at_least_zero(b, b.sub(cosine, b.arg("margin")));
  Value* same = b.where(b.op("eq.Scalar", {t, 1}), b.op("rsub.Scalar", {cosine, 1}), 0);
  finish(b, b.add(same, b.where(b.op("eq.Scalar", {t, -1}), apart, 0)));
}

// The p-norm of x - y + eps over the last dimension.
Value* pair_distance(Builder& b, Value* x, Value* y, bool keepdim) {
  Value* gap = b.add(b.sub(x, y), b.arg("eps"));
  return b.op("linalg_vector_norm", {gap, b.arg("p"), int_list({-1}), keepdim});
}
void pairwise_distance(Builder& b) {
  b.result(pair_distance(b, b.in("x1"), b.in("x2"), b.arg("keepdim").to_bool()));
}
void triplet_margin_loss(Builder& b) {
  Value* negative = b.in("negative");
  Value* near = pair_distance(b, b.in("anchor"), b.in("positive"), false);
  Value* far = pair_distance(b, b.in("anchor"), negative, false);
  if (b.arg("swap").to_bool()) {
    far = b.op("minimum", {far, pair_distance(b, b.in("positive"), negative, false)});
  }
  finish(b, at_least_zero(b, b.sub(b.add(near, b.arg("margin")), far)));
}

// ---- classes ----

// Which targets are not ignored, the class of each (0 if ignored), and its weight.
struct Classes {
  Value* counted;
  Value* index;
  Value* weight;  // 0 if ignored.
};
Classes classes_of(Builder& b, ScalarType dtype) {
  Value* t = target(b);
  Value* counted = b.op("ne.Scalar", {t, b.arg("ignore_index")});
  Value* index = b.cast(b.where(counted, t, 0), ScalarType::kLong);
  Value* weight = b.cast(counted, dtype);
  if (b.has("weight")) {
    Value* chosen = b.op("index.Tensor", {b.in("weight"), Argument::List{index}});
    weight = b.where(counted, chosen, 0);
  }
  return {counted, index, weight};
}

// -weight[t] x[t] with the classes along `dim`; (loss, the total weight).
std::pair<Value*, Value*> likelihood(Builder& b, Value* x, const Classes& classes) {
  const int64_t dim = x->type.rank() == 1 ? 0 : 1;
  Value* picked = b.op("gather", {x, dim, b.unsqueeze(classes.index, dim)});
  picked = b.view(picked, classes.index->type.sizes);
  Value* loss = b.op("neg", {b.mul(picked, classes.weight)});
  loss = b.where(classes.counted, loss, 0);
  Value* total = b.sum(classes.weight);
  const int64_t how = b.arg("reduction").to_int();
  if (how == kNone) return {loss, total};
  return {how == kMean ? b.div(b.sum(loss), total) : b.sum(loss), total};
}
void nll_loss(Builder& b) {
  Value* x = self(b);
  const auto [loss, total] = likelihood(b, x, classes_of(b, x->type.dtype));
  b.result(loss);
  if (b.node().outputs.size() > 1) b.result(total, 1);
}

Value* along_classes(Builder& b, Value* x, Value* weight, int64_t dim) {
  std::vector<Sym> sizes(x->type.rank(), Sym(1));
  sizes[static_cast<size_t>(dim)] = dim_of(x, dim);
  return b.view(weight, sizes);
}

// Targets that are probabilities of each class.
void soft_cross_entropy(Builder& b, Value* log, int64_t dim) {
  const double smoothing = b.arg("label_smoothing").to_double();
  const Sym count = dim_of(log, dim);
  Value* t = target(b);
  if (smoothing > 0) {
    t = b.add(b.mul(t, 1 - smoothing), smoothing / static_cast<double>(count.as_int()));
  }
  Value* loss = b.mul(log, t);
  if (b.has("weight")) loss = b.mul(loss, along_classes(b, log, b.in("weight"), dim));
  loss = b.op("neg", {b.sum(loss, {dim})});
  finish(b, loss);
}

void cross_entropy_loss(Builder& b) {
  Value* x = self(b);
  const int64_t dim = x->type.rank() == 1 ? 0 : 1;
  Value* log = b.op("log_softmax.int", {x, dim});
  if (is_floating(target(b)->type.dtype)) return soft_cross_entropy(b, log, dim);
  const Classes classes = classes_of(b, x->type.dtype);
  Value* loss = likelihood(b, log, classes).first;
  const double smoothing = b.arg("label_smoothing").to_double();
  if (smoothing == 0) return b.result(loss);
  Value* flat = log;
  if (b.has("weight")) flat = b.mul(flat, along_classes(b, log, b.in("weight"), dim));
  flat = b.where(classes.counted, b.op("neg", {b.sum(flat, {dim})}), 0);
  const int64_t how = b.arg("reduction").to_int();
  if (how != kNone) flat = b.sum(flat);
  if (how == kMean) flat = b.div(flat, b.sum(classes.weight));
  const double part = smoothing / static_cast<double>(dim_of(x, dim).as_int());
  b.result(b.add(b.mul(loss, 1 - smoothing), b.mul(flat, part)));
}

// sum over i != t of max(0, margin - x[t] + x[i])^p / C
void multi_margin_loss(Builder& b) {
  Value* x = self(b);
  if (x->type.rank() == 0) x = b.unsqueeze(x, 0);
  const auto rank = static_cast<int64_t>(x->type.rank());
  Value* t = target(b);
  Value* index = rank == 1 ? b.view(t, {Sym(1)}) : b.view(t, {dim_of(x, 0), 1});
  Value* chosen = b.op("gather", {x, rank - 1, index});
  Value* gap = at_least_zero(b, b.add(b.sub(x, chosen), b.arg("margin")));
  if (b.arg("p").to_int() == 2) gap = square(b, gap);
  if (b.has("weight"))
    gap = b.mul(gap, b.op("index.Tensor", {b.in("weight"), Argument::List{index}}));
  Value* own = b.op("eq.Tensor", {b.arange(0, dim_of(x, -1)), index});
  Value* loss = b.op("mean.dim", {b.where(own, 0, gap), int_list({rank - 1})});
  finish(b, b.view(loss,
                   b.arg("reduction").to_int() == kNone ? b.out_type().sizes : loss->type.sizes));
}

// Targets are class numbers up to the first -1: sum of max(0, 1 - x[t] + x[i]) / C over targets t
// and classes i that are not targets.
void multilabel_margin_loss(Builder& b) {
  Value* x = self(b);
  Value* t = target(b);
  if (x->type.rank() == 0) x = b.unsqueeze(x, 0);
  if (t->type.rank() == 0) t = b.unsqueeze(t, 0);
  const Sym count = dim_of(x, -1);
  Value* ended = b.op("cumsum", {b.op("lt.Scalar", {t, 0}), -1});
  Value* valid = b.op("eq.Scalar", {ended, 0});
  Value* index = b.where(valid, t, 0);
  Value* hit = b.op("eq.Tensor", {b.unsqueeze(index, -1), b.arange(0, count)});
  hit = b.op("logical_and", {hit, b.unsqueeze(valid, -1)});
  Value* is_target = b.op("any.dim", {hit, -2, true});
  Value* chosen = b.op("gather", {x, -1, index});
  Value* gap = b.sub(b.unsqueeze(x, -2), b.unsqueeze(chosen, -1));
  gap = at_least_zero(b, b.add(gap, 1));
  Value* counts = b.op("logical_and", {b.unsqueeze(valid, -1), b.op("logical_not", {is_target})});
  Value* loss = b.sum(b.where(counts, gap, 0), {-2, -1});
  finish(b, b.div(loss, b.size(count)));
}

}  // namespace

const Decompositions& loss_rules() {
  static const Decompositions table = {
      {"mse_loss", mse_loss, kWide},
      {"l1_loss", l1_loss, kWide},
      {"smooth_l1_loss", smooth_l1_loss, kWide},
      {"huber_loss", huber_loss, kWide},
      {"binary_cross_entropy", binary_cross_entropy, kWide},
      {"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits, kWide},
      {"kl_div", kl_div, kWide},
      {"poisson_nll_loss", poisson_nll_loss, kWide},
      {"soft_margin_loss", soft_margin_loss, kWide},
      {"hinge_embedding_loss", hinge_embedding_loss, kWide},
      {"margin_ranking_loss", margin_ranking_loss, kWide},
      {"cosine_embedding_loss", cosine_embedding_loss, kWide},
      {"pairwise_distance", pairwise_distance, kWide},
      {"triplet_margin_loss", triplet_margin_loss, kWide},
      {"nll_loss", nll_loss, kWide},
      {"nll_loss_nd", nll_loss, kWide},
      {"nll_loss2d", nll_loss, kWide},
      {"nll_loss_forward", nll_loss, kWide},
      {"nll_loss2d_forward", nll_loss, kWide},
      {"cross_entropy_loss", cross_entropy_loss, kWide},
      {"multi_margin_loss", multi_margin_loss, kWide},
      {"multilabel_margin_loss", multilabel_margin_loss, kWide},
  };
  return table;
}

}  // namespace taper::exir
