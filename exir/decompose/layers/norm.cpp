// Normalisation layers in inference.

#include "exir/decompose/layers/norm.h"

#include <algorithm>
#include <cmath>

#include "exir/decompose/rules.h"
#include "exir/ir/scales.h"
#include "exir/ops/promote.h"

namespace taper::exir {

std::vector<Value*> normalise_by_running(Builder& b) {
  return b.ops("_native_batch_norm_legit_no_training",
               {b.in("input"), b.arg("weight"), b.arg("bias"), b.arg("running_mean"),
                b.arg("running_var"), b.arg("momentum"), b.arg("eps")});
}

std::vector<Value*> normalise_by_batch(Builder& b) {
  Value* x = b.in("input");
  const TensorType statistics(b.wide_type(), {dim_of(x, 1)});
  return b.rewriter().emit(
      "aten::_native_batch_norm_legit.no_stats",
      {x, b.arg("weight"), b.arg("bias"), true, b.arg("momentum"), b.arg("eps")},
      {b.out_type(), statistics, statistics});
}

namespace {

Argument optional(Builder& b, std::string_view name) { return b.arg(name); }

void layer_norm(Builder& b) {
  b.result(b.op("native_layer_norm", {b.in("input"), b.arg("normalized_shape"),
                                      optional(b, "weight"), optional(b, "bias"), b.arg("eps")}));
}

Value* norm_of_groups(Builder& b, Value* x, const Argument& groups) {
  Sym area = 1;
  for (size_t d = 2; d < x->type.rank(); ++d) area = area * x->type.sizes[d];
  return b.op("native_group_norm",
              {x, optional(b, "weight"), optional(b, "bias"), b.size(dim_of(x, 0)),
               b.size(dim_of(x, 1)), b.size(area), groups, b.arg("eps")});
}

void group_norm(Builder& b) { b.result(norm_of_groups(b, b.in("input"), b.arg("num_groups"))); }

// One value per channel, shaped to broadcast over [N, C, ...].
Value* per_channel(Builder& b, Value* x, size_t rank) {
  std::vector<Sym> sizes(rank, Sym(1));
  sizes[1] = x->type.sizes[0];
  return b.view(x, sizes);
}

// (x - mean) / sqrt(variance + eps) * weight + bias, with x's own statistics over `dims`: one
// multiplication and one addition per element, as PyTorch computes it.
Value* standardise(Builder& b, Value* x, const std::vector<int64_t>& dims) {
  const size_t rank = x->type.rank();
  Value* mean = b.op("mean.dim", {x, int_list(dims), true});
  Value* variance = b.op("var.correction", {x, int_list(dims), 0, true});
  Value* scale = b.op("rsqrt", {b.add(variance, b.arg("eps"))});
  if (b.has("weight")) scale = b.mul(scale, per_channel(b, b.in("weight"), rank));
  Value* moved = b.mul(mean, scale);
  Value* shift =
      b.has("bias") ? b.sub(per_channel(b, b.in("bias"), rank), moved) : b.op("neg", {moved});
  return b.add(b.mul(x, scale), shift);
}

// Without running statistics, each channel is normalised by its own over batch and space.
void batch_norm(Builder& b) {
  const bool statistics = b.has("running_mean") && b.has("running_var");
  if (statistics && b.arg("training").to_bool()) {
    throw Failure("batch_norm in training mode: call model.eval() before torch.export.export");
  }
  if (statistics) return b.result(normalise_by_running(b)[0]);
  Value* x = b.in("input");
  std::vector<int64_t> dims = {0};
  for (size_t d = 2; d < x->type.rank(); ++d) dims.push_back(static_cast<int64_t>(d));
  b.result(standardise(b, x, dims));
}

// Either with statistics of the batch or with those that run: moving them is another operator.
void native_batch_norm(Builder& b) {
  const bool own = !b.has("running_mean");
  if (!own && b.arg("training").to_bool()) return batch_norm(b);
  const std::vector<Value*> results = own ? normalise_by_batch(b) : normalise_by_running(b);
  for (size_t i = 0; i < results.size(); ++i) b.result(results[i], i);
}

// Whether a weight or bias is left out, or a constant of finite numbers.
bool is_finite(const Builder& b, std::string_view name) {
  if (!b.has(name)) return true;
  const Value& value = *b.in(name);
  if (value.role != ValueRole::kConstant || value.type.dtype != ScalarType::kFloat) return false;
  const TensorData elements = elements_of(value);
  const auto* numbers = reinterpret_cast<const float*>(elements.data);
  return std::all_of(numbers, numbers + elements.bytes / sizeof(float),
                     [](float number) { return std::isfinite(number); });
}

// Normalises each channel of each sample by its own statistics over space. That is a norm of groups
// of one channel, but for weights that are infinite or NaN, which PyTorch multiplies by the mean.
void instance_norm(Builder& b) {
  if (!b.arg("use_input_stats").to_bool()) return b.result(normalise_by_running(b)[0]);
  Value* x = b.in("input");
  const bool is_usual = is_finite(b, "weight") && is_finite(b, "bias");
  if (is_usual && x->type.rank() > 2 && dim_of(x, 1).is_int()) {
    return b.result(norm_of_groups(b, x, dim_of(x, 1).as_int()));
  }
  std::vector<int64_t> space;
  for (size_t d = 2; d < x->type.rank(); ++d) space.push_back(static_cast<int64_t>(d));
  b.result(standardise(b, x, space));
}

double machine_epsilon(ScalarType type) {
  switch (type) {
    case ScalarType::kDouble:
      return 2.220446049250313e-16;
    case ScalarType::kHalf:
      return 0.0009765625;
    case ScalarType::kBFloat16:
      return 0.0078125;
    default:
      return 1.1920928955078125e-07;
  }
}

// x * rsqrt(mean(x^2) + eps) * weight, computed in float32 for half types.
void rms_norm(Builder& b) {
  Value* input = b.in("input");
  const ScalarType dtype = input->type.dtype;
  Value* x = b.cast(input, wide_type(dtype));
  std::vector<int64_t> dims;
  for (size_t i = b.arg("normalized_shape").list().size(); i > 0; --i) {
    dims.push_back(-static_cast<int64_t>(i));
  }
  const double eps = b.has("eps") ? b.arg("eps").to_double() : machine_epsilon(dtype);
  Value* mean = b.op("mean.dim", {b.mul(x, x), int_list(dims), true});
  Value* scale = b.op("rsqrt", {b.add(mean, eps)});
  Value* y = b.mul(x, scale);
  if (b.has("weight")) y = b.mul(y, b.in("weight"));
  b.result(y);
  if (b.node().outputs.size() > 1) b.result(scale, 1);
}

// g * v / norm(v), the norm over all dimensions but `dim`; over all of them if that is -1.
void weight_norm(Builder& b) {
  Value* v = b.in("v");
  const int64_t dim = b.arg("dim").to_int();
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < static_cast<int64_t>(v->type.rank()); ++d) {
    if (d != dim) dims.push_back(d);
  }
  Value* norm = b.op("sqrt", {b.op("sum.dim_IntList", {b.mul(v, v), int_list(dims), true})});
  b.result(b.mul(v, b.div(b.in("g"), norm)));
  if (b.node().outputs.size() > 1) b.result(norm, 1);
}

// x / max(norm(x), eps) per operand, multiplied and summed.
void cosine_similarity(Builder& b) {
  Value* x = b.in("x1");
  Value* y = b.in("x2");
  const Argument dim = int_list({b.arg("dim").to_int()});
  const auto norm = [&](Value* v) {
    Value* length = b.op("sqrt", {b.op("sum.dim_IntList", {b.mul(v, v), dim, true})});
    return b.div(v, b.op("clamp", {length, b.arg("eps"), Argument()}));
  };
  b.result(b.op("sum.dim_IntList", {b.mul(norm(x), norm(y)), dim}));
}

}  // namespace

const Decompositions& norm_rules() {
  static const Decompositions table = {
      {"layer_norm", layer_norm},
      {"group_norm", group_norm},
      {"batch_norm", batch_norm},
      {"native_batch_norm", native_batch_norm},
      {"instance_norm", instance_norm, kWide},
      {"rms_norm", rms_norm},
      {"_fused_rms_norm", rms_norm},
      {"_weight_norm", weight_norm, kWide},
      {"_weight_norm_interface", weight_norm, kWide},
      {"cosine_similarity", cosine_similarity, kWide},
  };
  return table;
}

}  // namespace taper::exir
