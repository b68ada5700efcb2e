// native_layer_norm and native_group_norm of floats, in three passes over each row, which stays in
// the L1 cache: the mean, the variance, and the scaled result.

#include <algorithm>
#include <cmath>

#include "kernels_optimized/cores/norm.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/norm.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/norm.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 2048;  // Blocks of this size are summed in float, their sums in double.

// The sum of x - shift, or of its square, over a block.
template <bool kSquare>
float add_block(const float* x, int64_t count, float shift) {
  const Vec less = constant(shift);
  const auto add = [less](Vec sum, Vec value) HWY_ATTR {
    const Vec y = hn::Sub(value, less);
    return kSquare ? hn::MulAdd(y, y, sum) : hn::Add(sum, y);
  };
  Vec sums[4];
  for (Vec& each : sums) each = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    TAPER_UNROLL
    for (int j = 0; j < 4; ++j) sums[j] = add(sums[j], hn::LoadU(kTag, x + i + j * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) sums[0] = add(sums[0], hn::LoadU(kTag, x + i));
  if (i < count) {
    const auto there = hn::FirstN(kTag, static_cast<size_t>(count - i));
    sums[1] = add(sums[1], hn::IfThenElse(there, load_some(x + i, count - i), less));
  }
  return sum_of(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
}

template <bool kSquare>
double add_row(const float* x, int64_t count, float shift) {
  double sum = 0;
  for (int64_t i = 0; i < count; i += kBlock) {
    sum += static_cast<double>(add_block<kSquare>(x + i, std::min(kBlock, count - i), shift));
  }
  return sum;
}

// out = (x - mean) * scale + shift
void scale_run(const float* x, int64_t count, float mean, float scale, float shift, float* out) {
  const Vec less = constant(mean), times = constant(scale), plus = constant(shift);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(kTag, x + i), less), times, plus), kTag, out + i);
  }
  if (i == count) return;
  const Vec rest = load_some(x + i, count - i);
  store_some(hn::MulAdd(hn::Sub(rest, less), times, plus), out + i, count - i);
}

// out = (x - mean) * rstd * weight + bias, element by element.
void scale_elements(const float* x, int64_t count, float mean, float rstd, const float* weight,
                    const float* bias, float* out) {
  const Vec less = constant(mean), times = constant(rstd);
  const auto apply = [=](Vec value, Vec w, Vec b) HWY_ATTR {
    return hn::MulAdd(hn::Mul(hn::Sub(value, less), times), w, b);
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec w = weight != nullptr ? hn::LoadU(kTag, weight + i) : constant(1);
    const Vec b = bias != nullptr ? hn::LoadU(kTag, bias + i) : constant(0);
    hn::StoreU(apply(hn::LoadU(kTag, x + i), w, b), kTag, out + i);
  }
  if (i == count) return;
  const int64_t rest = count - i;
  const Vec w = weight != nullptr ? load_some(weight + i, rest) : constant(1);
  const Vec b = bias != nullptr ? load_some(bias + i, rest) : constant(0);
  store_some(apply(load_some(x + i, rest), w, b), out + i, rest);
}

void scale_row(const NormRows& rows, int64_t row, float mean, float rstd) {
  const float* x = rows.in + row * rows.width;
  float* out = rows.out + row * rows.width;
  const int64_t begin = row * rows.row_step % rows.entries;
  const float* weight = rows.weight != nullptr ? rows.weight + begin : nullptr;
  const float* bias = rows.bias != nullptr ? rows.bias + begin : nullptr;
  if (rows.repeat == 1) {
    return scale_elements(x, rows.width, mean, rstd, weight, bias, out);
  }
  for (int64_t i = 0; i < rows.width / rows.repeat; ++i, x += rows.repeat, out += rows.repeat) {
    scale_run(x, rows.repeat, mean, weight != nullptr ? rstd * weight[i] : rstd,
              bias != nullptr ? bias[i] : 0, out);
  }
}

}  // namespace

void norm_form(const NormRows& rows, int64_t begin, int64_t end) {
  const double width = static_cast<double>(rows.width);
  for (int64_t row = begin; row < end; ++row) {
    const float* x = rows.in + row * rows.width;
    const float mean =
        rows.is_centred ? static_cast<float>(add_row<false>(x, rows.width, 0) / width) : 0;
    const double variance = add_row<true>(x, rows.width, mean) / width;
    const float rstd = static_cast<float>(1 / std::sqrt(variance + rows.eps));
    scale_row(rows, row, mean, rstd);
    if (rows.mean != nullptr) rows.mean[row] = mean;
    if (rows.rstd != nullptr) rows.rstd[row] = rstd;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const NormRows&, int64_t, int64_t);

bool are_plain(const Tensor& input, const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  return are_float(input, out, mean, rstd) && input.is_contiguous() && out.is_contiguous() &&
         mean.is_contiguous() && rstd.is_contiguous() && input.numel() > 0;
}

bool is_plain(const Tensor* parameter, int64_t count) {
  return parameter == nullptr ||
         (are_float(*parameter) && parameter->numel() == count && parameter->is_contiguous());
}

const float* data_of(const Tensor* parameter) {
  return parameter != nullptr ? parameter->const_data_ptr<float>() : nullptr;
}

bool normalise(const KernelContext& context, const Tensor& input, const Tensor* weight,
               const Tensor* bias, NormRows rows, const portable::Sizes& row_sizes, Tensor& out,
               Tensor& mean, Tensor& rstd) {
  const Form form = TAPER_CHOOSE(Form, norm_form);
  if (form == nullptr || !is_plain(weight, rows.entries) || !is_plain(bias, rows.entries)) {
    return false;
  }
  if (!out.resize(input.sizes()).ok() || !mean.resize(row_sizes).ok() ||
      !rstd.resize(row_sizes).ok()) {
    return false;
  }
  rows.in = input.const_data_ptr<float>();
  rows.out = out.mutable_data_ptr<float>();
  rows.mean = mean.mutable_data_ptr<float>();
  rows.rstd = rstd.mutable_data_ptr<float>();
  rows.weight = data_of(weight);
  rows.bias = data_of(bias);
  for_parts(context.pool(), rows.count, 2 * rows.width, 1,
            [&](int64_t begin, int64_t end) { form(rows, begin, end); });
  return true;
}

bool fast_layer_norm(KernelContext& context, const Tensor& input, IntList shape,
                     const Tensor* weight, const Tensor* bias, double eps, Tensor& out,
                     Tensor& mean, Tensor& rstd) {
  const int64_t first = input.dim() - static_cast<int64_t>(shape.size());
  if (!are_plain(input, out, mean, rstd) || shape.size() == 0 || first < 0) return false;
  portable::DimMask mask = 0;
  for (int64_t d = first; d < input.dim(); ++d) {
    if (shape[static_cast<size_t>(d - first)] != input.size(d)) return false;
    mask |= portable::DimMask{1} << d;
  }
  NormRows rows = {};
  rows.count = portable::product(input.sizes(), 0, first);
  rows.width = rows.entries = portable::product(input.sizes(), first, input.dim());
  rows.repeat = 1;
  rows.eps = eps;
  return normalise(context, input, weight, bias, rows, portable::reduced_sizes(input, mask, true),
                   out, mean, rstd);
}

bool fast_group_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                     const Tensor* bias, int64_t n, int64_t c, int64_t hxw, int64_t group,
                     double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  if (!are_plain(input, out, mean, rstd) || input.dim() < 2 || input.size(0) != n ||
      input.size(1) != c || portable::product(input.sizes(), 2, input.dim()) != hxw || group <= 0 ||
      group > c || c % group != 0) {
    return false;
  }
  portable::Sizes sizes;
  sizes.push(n);
  sizes.push(group);
  NormRows rows = {};
  rows.count = n * group;
  rows.width = c / group * hxw;
  rows.entries = c;
  rows.row_step = c / group;
  rows.repeat = hxw;
  rows.eps = eps;
  return normalise(context, input, weight, bias, rows, sizes, out, mean, rstd);
}

}  // namespace

void normalise(const NormRows& rows, int64_t first, int64_t last) {
  TAPER_CHOOSE(Form, norm_form)(rows, first, last);
}

extern const Kernel kNativeLayerNormOut, kNativeGroupNormOut;
const Kernel kNativeLayerNormOut =
    overlay<fast_layer_norm, portable::kNativeLayerNormOut>("aten::native_layer_norm.out");
const Kernel kNativeGroupNormOut =
    overlay<fast_group_norm, portable::kNativeGroupNormOut>("aten::native_group_norm.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
