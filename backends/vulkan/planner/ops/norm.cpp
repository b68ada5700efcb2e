// Softmax, and layers that normalise: by the moments of each row, or by running ones of channels.
// Semantics: aten::_softmax, aten::native_layer_norm, aten::native_group_norm, aten::rms_norm,
// aten::_native_batch_norm_legit_no_training; of float32.

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/rows.h"

namespace taper::vulkan {
namespace {

constexpr const char* kNotFloat = "it computes with a dtype other than float32";

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

// _softmax(x, int dim, bool half_to_float), _log_softmax
void plan_softmax(Call& call, int is_log) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  call.require(x.dtype == ScalarType::kFloat && !call.flag(2), kNotFloat);
  const Operand out = call.half_result(x.dims, ScalarType::kFloat);
  if (!call.ok() || x.dims.numel() == 0) return;
  const Rows rows = rows_along(x, d);
  struct {
    uint32_t rows, n, inner;
  } const push = {u32(rows.count()), u32(rows.n), u32(rows.inner)};
  dispatch_rows(call, Shader::softmax, rows.count(), rows.n, rows.inner)
      .constant(u32(is_log))
      .push(push)
      .writes(out)
      .reads(x);
}

// A tensor that may be none: one number for each channel, or for each element of a row.
struct Affine {
  bool is_there = false;
  Operand tensor;
};

Affine affine(Call& call, size_t i, int64_t count) {
  if (call.is_none(i)) return {};
  const Affine found = {true, call.tensor(i)};
  call.require(found.tensor.dtype == ScalarType::kFloat, kNotFloat);
  call.require(found.tensor.dims.numel() == count, "its weights do not fit its sizes");
  return found;
}

// Rows of elements that follow each other. Element k of a row has weight number
// row % groups * channels + k / area.
struct NormalisedRows {
  Operand x, out, mean, scale;
  bool is_rms = false;
  int64_t rows = 1, n = 1, groups = 1, channels = 0, area = 1;
  double eps = 0;
  Affine weight, bias;
};

void normalise(Call& call, const NormalisedRows& r) {
  if (!call.ok() || r.rows == 0) return;
  struct {
    uint32_t rows, n, groups, channels, area;
    float eps;
  } const push = {u32(r.rows),     u32(r.n),    u32(r.groups),
                  u32(r.channels), u32(r.area), static_cast<float>(r.eps)};
  dispatch_rows(call, Shader::norm, r.rows, r.n, 1)
      .constant(r.is_rms)
      .constant(r.weight.is_there)
      .constant(r.bias.is_there)
      .constant(r.area != 1)
      .constant(r.is_rms && r.n % 4 == 0 && !r.bias.is_there && r.area == 1)
      .push(push)
      .writes(r.out)
      .writes(r.mean)
      .writes(r.scale)
      .reads(r.x)
      .reads_any(r.weight.is_there, r.weight.tensor)
      .reads_any(r.bias.is_there, r.bias.tensor);
}

// The result `k` if the payload has it, which need not be so for those that nothing reads.
Operand statistic(Call& call, size_t k, const Dims& dims) {
  return k < call.result_count() ? call.result(k, dims, ScalarType::kFloat)
                                 : call.temporary(dims.numel());
}

// The number of trailing dimensions of x that list `i` names by their sizes.
size_t normalised_dims(Call& call, const Operand& x, size_t i) {
  const Dims shape = call.integers(i);
  const bool fits = shape.rank >= 1 && shape.rank <= x.dims.rank;
  if (!call.require(fits, "its normalised sizes are not the last of its input")) return 0;
  for (size_t d = 0; d < shape.rank; ++d) {
    call.require(shape[d] == x.dims[x.dims.rank - shape.rank + d],
                 "its normalised sizes are not the last of its input");
  }
  return shape.rank;
}

// native_layer_norm(x, int[] normalized_shape, weight?, bias?, float eps) -> out, mean, rstd
void plan_layer_norm(Call& call, int) {
  NormalisedRows r;
  r.x = call.tensor(0);
  call.require(r.x.dtype == ScalarType::kFloat, kNotFloat);
  const size_t last = normalised_dims(call, r.x, 1);
  if (!call.ok()) return;
  const size_t kept = r.x.dims.rank - last;
  r.rows = r.x.dims.product(0, kept);
  r.n = r.x.dims.product(kept, r.x.dims.rank);
  r.weight = affine(call, 2, r.n);
  r.bias = affine(call, 3, r.n);
  r.eps = call.number(4);
  r.out = call.half_result(0, r.x.dims, ScalarType::kFloat);
  Dims row_dims = r.x.dims;
  for (size_t d = kept; d < row_dims.rank; ++d) row_dims[d] = 1;
  r.mean = statistic(call, 1, row_dims);
  r.scale = statistic(call, 2, row_dims);
  normalise(call, r);
}

// native_group_norm(x, weight?, bias?, N, C, HxW, int group, float eps) -> out, mean, rstd
void plan_group_norm(Call& call, int) {
  NormalisedRows r;
  r.x = call.tensor(0);
  call.require(r.x.dtype == ScalarType::kFloat, kNotFloat);
  const int64_t images = call.integer(3), channels = call.integer(4), area = call.integer(5);
  r.groups = call.integer(6);
  r.eps = call.number(7);
  const bool fits = r.x.dims.rank >= 2 && r.x.dims[0] == images && r.x.dims[1] == channels &&
                    r.x.dims.product(2, r.x.dims.rank) == area;
  call.require(fits, "its sizes are not those of its input");
  call.require(r.groups > 0 && r.groups <= channels && channels % r.groups == 0,
               "its groups do not divide its channels");
  if (!call.ok()) return;
  r.weight = affine(call, 1, channels);
  r.bias = affine(call, 2, channels);
  r.rows = images * r.groups;
  r.channels = channels / r.groups;
  r.area = area;
  r.n = r.channels * area;
  r.out = call.half_result(0, r.x.dims, ScalarType::kFloat);
  r.mean = statistic(call, 1, {2, {images, r.groups}});
  r.scale = statistic(call, 2, {2, {images, r.groups}});
  normalise(call, r);
}

void rms_norm(Call& call, NormalisedRows& r, size_t weight, size_t kept) {
  call.require(r.x.dtype == ScalarType::kFloat, kNotFloat);
  if (!call.ok()) return;
  r.is_rms = true;
  r.rows = r.x.dims.product(0, kept);
  r.n = r.x.dims.product(kept, r.x.dims.rank);
  r.weight = affine(call, weight, r.n);
  r.out = r.mean = r.scale = call.half_result(r.x.dims, ScalarType::kFloat);
  normalise(call, r);
}

// rms_norm(x, int[] normalized_shape, weight?, float? eps)
void plan_rms_norm(Call& call, int) {
  constexpr double kEpsilon = 1.1920928955078125e-07;  // Of float32.
  NormalisedRows r;
  r.x = call.tensor(0);
  r.eps = call.number(3, kEpsilon);
  const size_t last = normalised_dims(call, r.x, 1);
  rms_norm(call, r, 2, r.x.dims.rank - last);
}

// et_vk.rms_norm(x, weight, float eps): over the last dimension.
void plan_rms_norm_of_last(Call& call, int) {
  NormalisedRows r;
  r.x = call.tensor(0);
  r.eps = call.number(2);
  if (!call.require(r.x.dims.rank > 0, "a scalar has no rows")) return;
  rms_norm(call, r, 1, r.x.dims.rank - 1);
}

// _native_batch_norm_legit_no_training(x, weight?, bias?, mean, variance, float momentum,
// float eps) -> out, and two of no elements
void plan_batch_norm(Call& call, int) {
  const Operand x = call.tensor(0);
  const Operand mean = call.tensor(3), variance = call.tensor(4);
  const double eps = call.number(6);
  call.require(x.dtype == ScalarType::kFloat && mean.dtype == ScalarType::kFloat &&
                   variance.dtype == ScalarType::kFloat,
               kNotFloat);
  if (!call.require(x.dims.rank >= 2, "its input has no channels")) return;
  const int64_t channels = x.dims[1];
  call.require(mean.dims.numel() == channels && variance.dims.numel() == channels,
               "its statistics do not fit its channels");
  const Affine weight = affine(call, 1, channels), bias = affine(call, 2, channels);
  const Operand out = call.half_result(0, x.dims, ScalarType::kFloat);
  for (size_t k = 1; k < call.result_count(); ++k) call.result(k, {1, {0}}, ScalarType::kFloat);
  if (!call.ok() || x.dims.numel() == 0) return;
  struct {
    uint32_t count, channels, area;
    float eps;
  } const push = {u32(x.dims.numel()), u32(channels), u32(x.dims.product(2, x.dims.rank)),
                  static_cast<float>(eps)};
  call.dispatch(Shader::batch_norm)
      .constant(weight.is_there)
      .constant(bias.is_there)
      .push(push)
      .writes(out)
      .reads(x)
      .reads(mean)
      .reads(variance)
      .reads_any(weight.is_there, weight.tensor)
      .reads_any(bias.is_there, bias.tensor)
      .groups_for_words(out);
}

constexpr Operator kOperators[] = {
    {"aten._softmax.default", "aten::_softmax.out", 3, plan_softmax},
    {"aten._log_softmax.default", "aten::_log_softmax.out", 3, plan_softmax, 1},
    {"aten.native_layer_norm.default", "aten::native_layer_norm.out", 5, plan_layer_norm},
    {"aten.native_group_norm.default", "aten::native_group_norm.out", 8, plan_group_norm},
    {"aten.rms_norm.default", "vulkan::rms_norm", 4, plan_rms_norm},
    {"et_vk.rms_norm.default", "vulkan::rms_norm_of_last", 3, plan_rms_norm_of_last},
    {"aten._native_batch_norm_legit_no_training.default",
     "aten::_native_batch_norm_legit_no_training.out", 7, plan_batch_norm},
};

}  // namespace

const Span<const Operator> kNormOperators = kOperators;

}  // namespace taper::vulkan
