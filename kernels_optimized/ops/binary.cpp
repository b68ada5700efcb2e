// add, sub, mul and div of floats, and of 16-bit floats of one shape.

#include <algorithm>

#include "kernels_optimized/cores/convert.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/ops/integers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/binary.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_BINARY_OPS
#define TAPER_BINARY_OPS
namespace taper::optimized {
namespace {

enum class Binary { kAdd, kMul, kDiv };
using Floats = Source<float>;

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// a op (b * scale); only sums have a scale.
template <Binary kOp>
HWY_INLINE Vec apply(Vec a, Vec b, Vec scale) {
  if constexpr (kOp == Binary::kAdd) return hn::MulAdd(b, scale, a);
  if constexpr (kOp == Binary::kMul) return hn::Mul(a, b);
  if constexpr (kOp == Binary::kDiv) return hn::Div(a, b);
}

template <Binary kOp, bool kStepA, bool kStepB>
void run(const float* a, const float* b, float scale, float* out, int64_t count) {
  const Vec factor = hn::Set(kTag, scale);
  const Vec all_a = hn::Set(kTag, *a), all_b = hn::Set(kTag, *b);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec x = kStepA ? hn::LoadU(kTag, a + i) : all_a;
    const Vec y = kStepB ? hn::LoadU(kTag, b + i) : all_b;
    hn::StoreU(apply<kOp>(x, y, factor), kTag, out + i);
  }
  if (i == count) return;
  const Vec x = kStepA ? load_some(a + i, count - i) : all_a;
  const Vec y = kStepB ? load_some(b + i, count - i) : all_b;
  store_some(apply<kOp>(x, y, factor), out + i, count - i);
}

template <Binary kOp>
void run_steps(Floats a, Floats b, float scale, float* out, int64_t count) {
  if (a.step != 0 && b.step != 0) return run<kOp, true, true>(a.data, b.data, scale, out, count);
  if (a.step != 0) return run<kOp, true, false>(a.data, b.data, scale, out, count);
  if (b.step != 0) return run<kOp, false, true>(a.data, b.data, scale, out, count);
  run<kOp, false, false>(a.data, b.data, scale, out, count);
}

}  // namespace

void binary_form(Binary op, Floats a, Floats b, float scale, float* out, int64_t count) {
  switch (op) {
    case Binary::kAdd:
      return run_steps<Binary::kAdd>(a, b, scale, out, count);
    case Binary::kMul:
      return run_steps<Binary::kMul>(a, b, scale, out, count);
    case Binary::kDiv:
      return run_steps<Binary::kDiv>(a, b, scale, out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Binary, Floats, Floats, float, float*, int64_t);

// out = a op (b * scale). REQUIRES: all are floats.
bool binary_tensors(const KernelContext& context, Binary op, const Tensor& a, const Tensor& b,
                    float scale, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, binary_form);
  return form != nullptr && for_each_pair<float>(context, 1, a, b, out,
                                                 [&](Floats x, Floats y, float* to, int64_t count) {
                                                   form(op, x, y, scale, to, count);
                                                 });
}

bool binary_number(const KernelContext& context, Binary op, const Tensor& a, Scalar b, float scale,
                   Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, binary_form);
  return form != nullptr && are_float(a, out) &&
         for_each_element(context, 1, a, as_float(b), out,
                          [&](Floats x, Floats y, float* to, int64_t count) {
                            form(op, x, y, scale, to, count);
                          });
}

// out = a op (b * scale) of 16-bit floats that lie alike in memory, block by block.
bool binary_narrow(const KernelContext& context, Binary op, const Tensor& a, const Tensor& b,
                   float scale, Tensor& out) {
  const ScalarType type = a.scalar_type(), single = ScalarType::kFloat;
  const Form form = TAPER_CHOOSE(Form, binary_form);
  const Convert convert = find_narrow_convert(type);
  if (form == nullptr || convert == nullptr || b.scalar_type() != type ||
      out.scalar_type() != type || a.dim() != b.dim() ||
      !std::equal(a.sizes().begin(), a.sizes().end(), b.sizes().begin()) ||
      !portable::same_dim_order(a, b) || !portable::same_dim_order(a, out) ||
      !out.resize(a.sizes()).ok()) {
    return false;
  }
  const auto* x = static_cast<const uint16_t*>(a.const_data());
  const auto* y = static_cast<const uint16_t*>(b.const_data());
  auto* to = static_cast<uint16_t*>(out.mutable_data());
  for_parts(context.pool(), a.numel(), 1, 2 * kLineFloats, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 512;
    float left[kBlock], right[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t count = std::min(kBlock, end - i);
      convert(type, single, x + i, left, 0, count);
      convert(type, single, y + i, right, 0, count);
      form(op, {left, 1}, {right, 1}, scale, left, count);
      convert(single, type, left, to + i, 0, count);
    }
  });
  return true;
}

bool is_one(Scalar alpha) { return !alpha.is_double() && alpha.to_int() == 1; }

// Sums and differences.
template <int kSign>
constexpr Pairwise kSumOfIntegers = kSign < 0 ? Pairwise::kSub : Pairwise::kAdd;

template <int kSign>
bool fast_sum(KernelContext& context, const Tensor& self, const Tensor& other, Scalar alpha,
              Tensor& out) {
  if (is_integral(self.scalar_type())) {
    return is_one(alpha) && pairwise(context, kSumOfIntegers<kSign>, self, other, out);
  }
  if (!are_float(self)) {
    return binary_narrow(context, Binary::kAdd, self, other, kSign * as_float(alpha), out);
  }
  return are_float(other, out) &&
         binary_tensors(context, Binary::kAdd, self, other, kSign * as_float(alpha), out);
}
template <int kSign>
bool fast_sum_number(KernelContext& context, const Tensor& self, Scalar other, Scalar alpha,
                     Tensor& out) {
  if (is_integral(self.scalar_type())) {
    return is_one(alpha) && pairwise(context, kSumOfIntegers<kSign>, self, other, out);
  }
  return binary_number(context, Binary::kAdd, self, other, kSign * as_float(alpha), out);
}

template <Binary kOp>
bool fast_product(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  if (kOp == Binary::kMul && is_integral(self.scalar_type())) {
    return pairwise(context, Pairwise::kMul, self, other, out);
  }
  if (!are_float(self)) return binary_narrow(context, kOp, self, other, 1, out);
  return are_float(other, out) && binary_tensors(context, kOp, self, other, 1, out);
}
template <Binary kOp>
bool fast_product_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  if (kOp == Binary::kMul && is_integral(self.scalar_type())) {
    return pairwise(context, Pairwise::kMul, self, other, out);
  }
  return binary_number(context, kOp, self, other, 1, out);
}

constexpr Takes kComplexToo = Takes::kComplexToo;

}  // namespace

extern const Kernel kAddOut, kAddScalarOut, kSubOut, kSubScalarOut, kMulOut, kMulScalarOut, kDivOut,
    kDivScalarOut;
const Kernel kAddOut = overlay<fast_sum<1>, portable::kAddOut, kComplexToo>("aten::add.out");
const Kernel kAddScalarOut =
    overlay<fast_sum_number<1>, portable::kAddScalarOut, kComplexToo>("aten::add.Scalar_out");
const Kernel kSubOut = overlay<fast_sum<-1>, portable::kSubOut, kComplexToo>("aten::sub.out");
const Kernel kSubScalarOut =
    overlay<fast_sum_number<-1>, portable::kSubScalarOut, kComplexToo>("aten::sub.Scalar_out");
const Kernel kMulOut =
    overlay<fast_product<Binary::kMul>, portable::kMulOut, kComplexToo>("aten::mul.out");
const Kernel kMulScalarOut =
    overlay<fast_product_number<Binary::kMul>, portable::kMulScalarOut, kComplexToo>(
        "aten::mul.Scalar_out");
const Kernel kDivOut =
    overlay<fast_product<Binary::kDiv>, portable::kDivOut, kComplexToo>("aten::div.out");
const Kernel kDivScalarOut =
    overlay<fast_product_number<Binary::kDiv>, portable::kDivScalarOut, kComplexToo>(
        "aten::div.Scalar_out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
