// exp, sigmoid, silu, gelu, tanh, erf and hardswish of floats: one pass over the memory,
// which is dense whatever the dim order, so that input and output need only share it.

#include "kernels_optimized/overlay.h"
#include "kernels_portable/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/unary.cpp"
#include "kernels_optimized/dispatch.h"
// After the choice of targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/vector_math.h"

// What all forms share: this file is read once for each.
#ifndef TAPER_UNARY_OPS
#define TAPER_UNARY_OPS
namespace taper::optimized {
namespace {

enum class Unary { kExp, kSigmoid, kSilu, kGelu, kGeluTanh, kTanh, kErf, kHardswish };

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <Unary kOp>
HWY_INLINE Vec apply(Vec x) {
  if constexpr (kOp == Unary::kExp) return exp_of(x);
  if constexpr (kOp == Unary::kSigmoid) return sigmoid_of(x);
  if constexpr (kOp == Unary::kSilu) {
    return hn::Div(x, hn::Add(constant(1), exp_of(hn::Neg(x))));
  }
  if constexpr (kOp == Unary::kGelu || kOp == Unary::kGeluTanh) {
    const Vec half = hn::Mul(x, constant(0.5f));
    if constexpr (kOp == Unary::kGelu) {
      return hn::MulAdd(half, erf_of(hn::Mul(x, constant(0.70710678f))), half);
    } else {
      const Vec cubed = hn::Mul(hn::Mul(x, x), hn::Mul(x, constant(0.044715f)));
      return hn::MulAdd(half, tanh_of(hn::Mul(constant(0.79788456f), hn::Add(x, cubed))), half);
    }
  }
  if constexpr (kOp == Unary::kTanh) return tanh_of(x);
  if constexpr (kOp == Unary::kErf) return erf_of(x);
  if constexpr (kOp == Unary::kHardswish) {
    const Vec gate = at_most(at_least(hn::Add(x, constant(3)), constant(0)), constant(6));
    return hn::Div(hn::Mul(x, gate), constant(6));
  }
}

template <Unary kOp>
void run(const float* in, float* out, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(apply<kOp>(hn::LoadU(kTag, in + i)), kTag, out + i);
  }
  if (i < count) store_some(apply<kOp>(load_some(in + i, count - i)), out + i, count - i);
}

}  // namespace

void unary_form(Unary op, const float* in, float* out, int64_t count) {
  switch (op) {
    case Unary::kExp:
      return run<Unary::kExp>(in, out, count);
    case Unary::kSigmoid:
      return run<Unary::kSigmoid>(in, out, count);
    case Unary::kSilu:
      return run<Unary::kSilu>(in, out, count);
    case Unary::kGelu:
      return run<Unary::kGelu>(in, out, count);
    case Unary::kGeluTanh:
      return run<Unary::kGeluTanh>(in, out, count);
    case Unary::kTanh:
      return run<Unary::kTanh>(in, out, count);
    case Unary::kErf:
      return run<Unary::kErf>(in, out, count);
    case Unary::kHardswish:
      return run<Unary::kHardswish>(in, out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Unary, const float*, float*, int64_t);

bool unary(Unary op, const Tensor& self, Tensor& out) {
  if (!are_float(self, out) || !portable::same_dim_order(self, out)) return false;
  const Form form = TAPER_CHOOSE(Form, unary_form);
  if (form == nullptr || !out.resize(self.sizes()).ok()) return false;
  form(op, self.const_data_ptr<float>(), out.mutable_data_ptr<float>(), self.numel());
  return true;
}

template <Unary kOp>
bool fast_unary(KernelContext&, const Tensor& self, Tensor& out) {
  return unary(kOp, self, out);
}

bool fast_gelu(KernelContext&, const Tensor& self, std::string_view approximate, Tensor& out) {
  if (approximate == "tanh") return unary(Unary::kGeluTanh, self, out);
  return approximate == "none" && unary(Unary::kGelu, self, out);
}

}  // namespace

extern const Kernel kExpOut, kSigmoidOut, kSiluOut, kGeluOut, kTanhOut, kErfOut, kHardswishOut;
const Kernel kExpOut = overlay<fast_unary<Unary::kExp>, portable::kExpOut>("aten::exp.out");
const Kernel kSigmoidOut =
    overlay<fast_unary<Unary::kSigmoid>, portable::kSigmoidOut>("aten::sigmoid.out");
const Kernel kSiluOut = overlay<fast_unary<Unary::kSilu>, portable::kSiluOut>("aten::silu.out");
const Kernel kGeluOut = overlay<fast_gelu, portable::kGeluOut>("aten::gelu.out");
const Kernel kTanhOut = overlay<fast_unary<Unary::kTanh>, portable::kTanhOut>("aten::tanh.out");
const Kernel kErfOut = overlay<fast_unary<Unary::kErf>, portable::kErfOut>("aten::erf.out");
const Kernel kHardswishOut =
    overlay<fast_unary<Unary::kHardswish>, portable::kHardswishOut>("aten::hardswish.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
