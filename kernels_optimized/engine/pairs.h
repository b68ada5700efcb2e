// Element-wise operators of two operands: any broadcasting whose innermost loop is contiguous, that
// is equal sizes, or an operand that is a number, a row or a channel.

#pragma once

#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/strided.h"
#include "taper/kernel.h"

namespace taper::optimized {

// Element i of an operand is data[i * step]; step is 0 or 1.
template <typename T>
struct Source {
  const T* data;
  int64_t step;

  Source from(int64_t i) const { return {data + i * step, step}; }
};

// Resizes out and lays out the loops over it and the operands. Returns false if the sizes do not
// fit, or if the innermost loop is not contiguous.
template <int kCount>
bool nest_of(const Tensor* const (&operands)[kCount], Tensor& out, portable::LoopNest* nest) {
  portable::Sizes sizes;
  for (const Tensor* operand : operands) {
    const portable::Sizes so_far = sizes;
    if (!portable::broadcast_sizes(so_far, operand->sizes(), &sizes).ok()) return false;
  }
  if (static_cast<int64_t>(sizes.rank) != out.dim() || !out.resize(sizes).ok()) return false;
  *nest = portable::LoopNest::over(out);
  for (const Tensor* operand : operands) nest->add_operand(out, *operand);
  nest->simplify();
  for (int k = 1; k <= kCount; ++k) {
    if (nest->inner_stride(k) < 0 || nest->inner_stride(k) > 1) return false;
  }
  return nest->inner_stride(0) == 1;
}

inline bool nest_of_pair(const Tensor& a, const Tensor& b, Tensor& out, portable::LoopNest* nest) {
  return nest_of({&a, &b}, out, nest);
}

// Resizes out and calls run(a, b, to, count) for parts of it, on the pool's threads. Returns false
// if the sizes do not fit. REQUIRES: a, b and out have elements of T.
template <typename T, typename Run>
bool for_each_pair(const KernelContext& context, int64_t work, const Tensor& a, const Tensor& b,
                   Tensor& out, const Run& run) {
  portable::LoopNest nest;
  if (!nest_of_pair(a, b, out, &nest)) return false;
  const int64_t x_step = nest.inner_stride(1), y_step = nest.inner_stride(2);
  const auto* x = static_cast<const T*>(a.const_data());
  const auto* y = static_cast<const T*>(b.const_data());
  auto* to = static_cast<T*>(out.mutable_data());
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    const Source<T> left = {x + offsets[1], x_step}, right = {y + offsets[2], y_step};
    for_parts(context.pool(), count, work, kLineFloats, [&](int64_t begin, int64_t end) {
      run(left.from(begin), right.from(begin), to + offsets[0] + begin, end - begin);
    });
  });
  return true;
}

// The same for a tensor and a number.
template <typename T, typename Run>
bool for_each_element(const KernelContext& context, int64_t work, const Tensor& a, const T& number,
                      Tensor& out, const Run& run) {
  if (!portable::same_dim_order(a, out) || !out.resize(a.sizes()).ok()) return false;
  if (a.numel() == 0) return true;  // run() may look at the first element.
  const Source<T> left = {static_cast<const T*>(a.const_data()), 1}, right = {&number, 0};
  auto* to = static_cast<T*>(out.mutable_data());
  for_parts(context.pool(), a.numel(), work, kLineFloats, [&](int64_t begin, int64_t end) {
    run(left.from(begin), right, to + begin, end - begin);
  });
  return true;
}

// A number as PyTorch's element-wise operators take it beside a float tensor.
inline float as_float(Scalar value) {
  return value.is_double() ? static_cast<float>(value.to_double())
                           : static_cast<float>(value.to_int());
}

}  // namespace taper::optimized
