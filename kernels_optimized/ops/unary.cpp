// exp, logarithms, angles, roots, roundings and activations of floats: one pass over the memory,
// which is dense whatever the dim order; input and output need only have the same one. Floats of 16
// bits are widened block by block and rounded once.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels_optimized/cores/convert.h"
#include "kernels_optimized/engine/find_bounds.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_optimized/ops/integers.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/unary.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_UNARY_OPS
#define TAPER_UNARY_OPS
namespace taper::optimized {
namespace {

enum class Unary {
  kExp,
  kSigmoid,
  kSilu,
  kGelu,
  kGeluTanh,
  kTanh,
  kErf,
  kHardswish,
  kHardsigmoid,
  kClamp,
  kLeakyRelu,
  kElu,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kExpm1,
  kSin,
  kCos,
  kAtan,
  kSqrt,
  kRsqrt,
  kTan,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kAtanh,
  kAsinh,
  kAcosh,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kSign,
  kAbs,
  kNeg,
  kReciprocal
};

// The parameters of an operator, none of which is NaN. clamp: `low` and `high` are the bounds.
// leaky_relu: `low` is the slope. elu: `low` and `high` are the factors of the negative and the
// positive side, `inner` that of the exponent.
struct Parameters {
  float low = 0;
  float high = 0;
  float inner = 0;
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <Unary kOp>
HWY_INLINE Vec apply(Vec x, Vec low, Vec high, Vec inner) {
  if constexpr (kOp == Unary::kExp) return exp_of(x);
  if constexpr (kOp == Unary::kSigmoid) return sigmoid_of(x);
  if constexpr (kOp == Unary::kSilu) {
    return hn::Div(x, hn::Add(constant(1), exp_of(hn::Neg(x))));
  }
  if constexpr (kOp == Unary::kGelu) return gelu_of(x);
  if constexpr (kOp == Unary::kGeluTanh) return gelu_by_tanh(x);
  if constexpr (kOp == Unary::kTanh) return tanh_of(x);
  if constexpr (kOp == Unary::kErf) return erf_of(x);
  if constexpr (kOp == Unary::kHardswish || kOp == Unary::kHardsigmoid) {
    const Vec gate = hard_gate(x);
    return hn::Div(kOp == Unary::kHardswish ? hn::Mul(x, gate) : gate, constant(6));
  }
  if constexpr (kOp == Unary::kClamp) return at_most(at_least(x, low), high);
  if constexpr (kOp == Unary::kLeakyRelu) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(kTag)), x, hn::Mul(x, low));
  }
  if constexpr (kOp == Unary::kElu) {
    const Vec negative = hn::Mul(expm1_of(hn::Mul(x, inner)), low);
    return hn::IfThenElse(hn::Gt(x, hn::Zero(kTag)), hn::Mul(x, high), negative);
  }
  if constexpr (kOp == Unary::kLog) return log_of(x);
  if constexpr (kOp == Unary::kLog2) return log2_of(x);
  if constexpr (kOp == Unary::kLog10) return log10_of(x);
  if constexpr (kOp == Unary::kLog1p) return log1p_of(x);
  if constexpr (kOp == Unary::kExpm1) return expm1_of(x);
  if constexpr (kOp == Unary::kSin) return sin_or_cos<false>(x);
  if constexpr (kOp == Unary::kCos) return sin_or_cos<true>(x);
  if constexpr (kOp == Unary::kAtan) return atan_of(x);
  if constexpr (kOp == Unary::kSqrt) return hn::Sqrt(x);
  if constexpr (kOp == Unary::kRsqrt) return hn::Div(constant(1), hn::Sqrt(x));
  if constexpr (kOp == Unary::kTan) return hn::Div(sin_or_cos<false>(x), sin_or_cos<true>(x));
  if constexpr (kOp == Unary::kAsin) return asin_of(x);
  if constexpr (kOp == Unary::kAcos) return acos_of(x);
  if constexpr (kOp == Unary::kSinh) return sinh_of(x);
  if constexpr (kOp == Unary::kCosh) return cosh_of(x);
  if constexpr (kOp == Unary::kAtanh) return atanh_of(x);
  if constexpr (kOp == Unary::kAsinh) return asinh_of(x);
  if constexpr (kOp == Unary::kAcosh) return acosh_of(x);
  if constexpr (kOp == Unary::kFloor) return hn::Floor(x);
  if constexpr (kOp == Unary::kCeil) return hn::Ceil(x);
  if constexpr (kOp == Unary::kRound) return hn::Round(x);
  if constexpr (kOp == Unary::kTrunc) return hn::Trunc(x);
  if constexpr (kOp == Unary::kSign) {
    const Vec zero = hn::Zero(kTag), one = constant(1);
    return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one),
                   hn::IfThenElseZero(hn::Lt(x, zero), one));
  }
  if constexpr (kOp == Unary::kAbs) return hn::Abs(x);
  if constexpr (kOp == Unary::kNeg) return hn::Neg(x);
  if constexpr (kOp == Unary::kReciprocal) return hn::Div(constant(1), x);
}

template <Unary kOp>
void run(const Parameters& parameters, const float* in, float* out, int64_t count) {
  const Vec low = constant(parameters.low), high = constant(parameters.high);
  const Vec inner = constant(parameters.inner);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(apply<kOp>(hn::LoadU(kTag, in + i), low, high, inner), kTag, out + i);
  }
  if (i < count)
    store_some(apply<kOp>(load_some(in + i, count - i), low, high, inner), out + i, count - i);
}

}  // namespace

void unary_form(Unary op, const Parameters& p, const float* in, float* out, int64_t count) {
  switch (op) {
    case Unary::kExp:
      return run<Unary::kExp>(p, in, out, count);
    case Unary::kSigmoid:
      return run<Unary::kSigmoid>(p, in, out, count);
    case Unary::kSilu:
      return run<Unary::kSilu>(p, in, out, count);
    case Unary::kGelu:
      return run<Unary::kGelu>(p, in, out, count);
    case Unary::kGeluTanh:
      return run<Unary::kGeluTanh>(p, in, out, count);
    case Unary::kTanh:
      return run<Unary::kTanh>(p, in, out, count);
    case Unary::kErf:
      return run<Unary::kErf>(p, in, out, count);
    case Unary::kHardswish:
      return run<Unary::kHardswish>(p, in, out, count);
    case Unary::kHardsigmoid:
      return run<Unary::kHardsigmoid>(p, in, out, count);
    case Unary::kClamp:
      return run<Unary::kClamp>(p, in, out, count);
    case Unary::kLeakyRelu:
      return run<Unary::kLeakyRelu>(p, in, out, count);
    case Unary::kElu:
      return run<Unary::kElu>(p, in, out, count);
    case Unary::kLog:
      return run<Unary::kLog>(p, in, out, count);
    case Unary::kLog2:
      return run<Unary::kLog2>(p, in, out, count);
    case Unary::kLog10:
      return run<Unary::kLog10>(p, in, out, count);
    case Unary::kLog1p:
      return run<Unary::kLog1p>(p, in, out, count);
    case Unary::kExpm1:
      return run<Unary::kExpm1>(p, in, out, count);
    case Unary::kSin:
      return run<Unary::kSin>(p, in, out, count);
    case Unary::kCos:
      return run<Unary::kCos>(p, in, out, count);
    case Unary::kAtan:
      return run<Unary::kAtan>(p, in, out, count);
    case Unary::kSqrt:
      return run<Unary::kSqrt>(p, in, out, count);
    case Unary::kRsqrt:
      return run<Unary::kRsqrt>(p, in, out, count);
    case Unary::kTan:
      return run<Unary::kTan>(p, in, out, count);
    case Unary::kAsin:
      return run<Unary::kAsin>(p, in, out, count);
    case Unary::kAcos:
      return run<Unary::kAcos>(p, in, out, count);
    case Unary::kSinh:
      return run<Unary::kSinh>(p, in, out, count);
    case Unary::kCosh:
      return run<Unary::kCosh>(p, in, out, count);
    case Unary::kAtanh:
      return run<Unary::kAtanh>(p, in, out, count);
    case Unary::kAsinh:
      return run<Unary::kAsinh>(p, in, out, count);
    case Unary::kAcosh:
      return run<Unary::kAcosh>(p, in, out, count);
    case Unary::kFloor:
      return run<Unary::kFloor>(p, in, out, count);
    case Unary::kCeil:
      return run<Unary::kCeil>(p, in, out, count);
    case Unary::kRound:
      return run<Unary::kRound>(p, in, out, count);
    case Unary::kTrunc:
      return run<Unary::kTrunc>(p, in, out, count);
    case Unary::kSign:
      return run<Unary::kSign>(p, in, out, count);
    case Unary::kAbs:
      return run<Unary::kAbs>(p, in, out, count);
    case Unary::kNeg:
      return run<Unary::kNeg>(p, in, out, count);
    case Unary::kReciprocal:
      return run<Unary::kReciprocal>(p, in, out, count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Unary, const Parameters&, const float*, float*, int64_t);

// Whether an element costs an exponential or a similar function.
bool is_costly(Unary op) {
  return op != Unary::kClamp && op != Unary::kLeakyRelu && op != Unary::kHardswish &&
         op != Unary::kHardsigmoid && op != Unary::kSqrt && op != Unary::kRsqrt &&
         op < Unary::kFloor;
}

// Applies a form to elements [begin, end) of 16-bit floats of one dtype.
struct Narrow {
  Form form;
  Convert convert;
  Unary op;
  const Parameters& parameters;
  ScalarType type;
  const uint16_t* from;
  uint16_t* to;

  void operator()(int64_t begin, int64_t end) const {
    constexpr int64_t kBlock = 512;
    float block[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t count = std::min(kBlock, end - i);
      convert(type, ScalarType::kFloat, from + i, block, 0, count);
      form(op, parameters, block, block, count);
      convert(ScalarType::kFloat, type, block, to + i, 0, count);
    }
  }
};

bool narrow_unary(const KernelContext& context, Unary op, const Tensor& self, Tensor& out,
                  const Parameters& parameters) {
  const ScalarType type = self.scalar_type();
  const Form form = TAPER_CHOOSE(Form, unary_form);
  const Convert convert = find_narrow_convert(type);
  if (form == nullptr || convert == nullptr || out.scalar_type() != type ||
      !portable::same_dim_order(self, out) || !out.resize(self.sizes()).ok()) {
    return false;
  }
  const Narrow narrow = {form,
                         convert,
                         op,
                         parameters,
                         type,
                         static_cast<const uint16_t*>(self.const_data()),
                         static_cast<uint16_t*>(out.mutable_data())};
  for_parts(context.pool(), self.numel(), is_costly(op) ? kExponentialWork : 1, 2 * kLineFloats,
            narrow);
  return true;
}

bool unary(const KernelContext& context, Unary op, const Tensor& self, Tensor& out,
           const Parameters& parameters = {}) {
  if (!are_float(self)) return narrow_unary(context, op, self, out, parameters);
  if (!are_float(out) || !portable::same_dim_order(self, out)) return false;
  const Form form = TAPER_CHOOSE(Form, unary_form);
  if (form == nullptr || !out.resize(self.sizes()).ok()) return false;
  const float* from = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for_parts(context.pool(), self.numel(), is_costly(op) ? kExponentialWork : 1, kLineFloats,
            [&](int64_t begin, int64_t end) {
              form(op, parameters, from + begin, to + begin, end - begin);
            });
  return true;
}

template <Unary kOp>
bool fast_unary(KernelContext& context, const Tensor& self, Tensor& out) {
  return unary(context, kOp, self, out);
}

bool fast_gelu(KernelContext& context, const Tensor& self, std::string_view approximate,
               Tensor& out) {
  if (approximate == "tanh") return unary(context, Unary::kGeluTanh, self, out);
  return approximate == "none" && unary(context, Unary::kGelu, self, out);
}

// clamp, hardtanh and relu, whose arguments between the tensors are `by`.
template <typename... By>
bool fast_clamp(KernelContext& context, const Tensor& self, By... by, Tensor& out) {
  Bounds bounds;
  return find_bounds(by..., &bounds) &&
         unary(context, Unary::kClamp, self, out, {bounds.low, bounds.high});
}

// clamp takes whole numbers, too.
bool fast_clamp_any(KernelContext& context, const Tensor& self, std::optional<Scalar> min,
                    std::optional<Scalar> max, Tensor& out) {
  using Bound = std::optional<Scalar>;
  return is_floating(self.scalar_type()) ? fast_clamp<Bound, Bound>(context, self, min, max, out)
                                         : clamp_integers(context, self, min, max, out);
}

// These take whole numbers, too.
bool fast_abs(KernelContext& context, const Tensor& self, Tensor& out) {
  return is_floating(self.scalar_type()) ? unary(context, Unary::kAbs, self, out)
                                         : pairwise(context, Pairwise::kAbs, self, self, out);
}
bool fast_neg(KernelContext& context, const Tensor& self, Tensor& out) {
  return is_floating(self.scalar_type())
             ? unary(context, Unary::kNeg, self, out)
             : pairwise(context, Pairwise::kSub, Scalar(int64_t{0}), self, out);
}

bool fast_leaky_relu(KernelContext& context, const Tensor& self, Scalar slope, Tensor& out) {
  return unary(context, Unary::kLeakyRelu, self, out, {static_cast<float>(slope.to_double()), 0});
}

bool fast_elu(KernelContext& context, const Tensor& self, Scalar alpha, Scalar scale,
              Scalar input_scale, Tensor& out) {
  const auto outer = static_cast<float>(scale.to_double());
  return unary(context, Unary::kElu, self, out,
               {static_cast<float>(alpha.to_double()) * outer, outer,
                static_cast<float>(input_scale.to_double())});
}

}  // namespace

extern const Kernel kEluOut, kLogOut, kLog2Out, kLog10Out, kLog1pOut, kExpm1Out, kSinOut, kCosOut,
    kAtanOut, kSqrtOut, kRsqrtOut;
const Kernel kEluOut = overlay<fast_elu, portable::kEluOut>("aten::elu.out");
const Kernel kLogOut = overlay<fast_unary<Unary::kLog>, portable::kLogOut>("aten::log.out");
const Kernel kLog2Out = overlay<fast_unary<Unary::kLog2>, portable::kLog2Out>("aten::log2.out");
const Kernel kLog10Out = overlay<fast_unary<Unary::kLog10>, portable::kLog10Out>("aten::log10.out");
const Kernel kLog1pOut = overlay<fast_unary<Unary::kLog1p>, portable::kLog1pOut>("aten::log1p.out");
const Kernel kExpm1Out = overlay<fast_unary<Unary::kExpm1>, portable::kExpm1Out>("aten::expm1.out");
const Kernel kSinOut = overlay<fast_unary<Unary::kSin>, portable::kSinOut>("aten::sin.out");
const Kernel kCosOut = overlay<fast_unary<Unary::kCos>, portable::kCosOut>("aten::cos.out");
const Kernel kAtanOut = overlay<fast_unary<Unary::kAtan>, portable::kAtanOut>("aten::atan.out");
const Kernel kSqrtOut = overlay<fast_unary<Unary::kSqrt>, portable::kSqrtOut>("aten::sqrt.out");
const Kernel kRsqrtOut = overlay<fast_unary<Unary::kRsqrt>, portable::kRsqrtOut>("aten::rsqrt.out");

extern const Kernel kAsinOut, kAcosOut, kSinhOut, kCoshOut, kAtanhOut, kAsinhOut, kAcoshOut;
const Kernel kAsinOut = overlay<fast_unary<Unary::kAsin>, portable::kAsinOut>("aten::asin.out");
const Kernel kAcosOut = overlay<fast_unary<Unary::kAcos>, portable::kAcosOut>("aten::acos.out");
const Kernel kSinhOut = overlay<fast_unary<Unary::kSinh>, portable::kSinhOut>("aten::sinh.out");
const Kernel kCoshOut = overlay<fast_unary<Unary::kCosh>, portable::kCoshOut>("aten::cosh.out");
const Kernel kAtanhOut = overlay<fast_unary<Unary::kAtanh>, portable::kAtanhOut>("aten::atanh.out");
const Kernel kAsinhOut = overlay<fast_unary<Unary::kAsinh>, portable::kAsinhOut>("aten::asinh.out");
const Kernel kAcoshOut = overlay<fast_unary<Unary::kAcosh>, portable::kAcoshOut>("aten::acosh.out");

extern const Kernel kAbsOut, kNegOut, kReciprocalOut;
const Kernel kAbsOut = overlay<fast_abs, portable::kAbsOut, Takes::kComplexToo>("aten::abs.out");
const Kernel kNegOut = overlay<fast_neg, portable::kNegOut>("aten::neg.out");
const Kernel kReciprocalOut =
    overlay<fast_unary<Unary::kReciprocal>, portable::kReciprocalOut>("aten::reciprocal.out");

extern const Kernel kTanOut, kFloorOut, kCeilOut, kRoundOut, kTruncOut, kSignOut;
const Kernel kTanOut = overlay<fast_unary<Unary::kTan>, portable::kTanOut>("aten::tan.out");
const Kernel kFloorOut = overlay<fast_unary<Unary::kFloor>, portable::kFloorOut>("aten::floor.out");
const Kernel kCeilOut = overlay<fast_unary<Unary::kCeil>, portable::kCeilOut>("aten::ceil.out");
const Kernel kRoundOut = overlay<fast_unary<Unary::kRound>, portable::kRoundOut>("aten::round.out");
const Kernel kTruncOut = overlay<fast_unary<Unary::kTrunc>, portable::kTruncOut>("aten::trunc.out");
const Kernel kSignOut = overlay<fast_unary<Unary::kSign>, portable::kSignOut>("aten::sign.out");

extern const Kernel kExpOut, kSigmoidOut, kSiluOut, kGeluOut, kTanhOut, kErfOut, kHardswishOut,
    kHardsigmoidOut, kClampOut, kHardtanhOut, kReluOut, kLeakyReluOut;
const Kernel kExpOut = overlay<fast_unary<Unary::kExp>, portable::kExpOut>("aten::exp.out");
const Kernel kSigmoidOut =
    overlay<fast_unary<Unary::kSigmoid>, portable::kSigmoidOut>("aten::sigmoid.out");
const Kernel kSiluOut = overlay<fast_unary<Unary::kSilu>, portable::kSiluOut>("aten::silu.out");
const Kernel kGeluOut = overlay<fast_gelu, portable::kGeluOut>("aten::gelu.out");
const Kernel kTanhOut = overlay<fast_unary<Unary::kTanh>, portable::kTanhOut>("aten::tanh.out");
const Kernel kErfOut = overlay<fast_unary<Unary::kErf>, portable::kErfOut>("aten::erf.out");
const Kernel kHardswishOut =
    overlay<fast_unary<Unary::kHardswish>, portable::kHardswishOut>("aten::hardswish.out");

const Kernel kHardsigmoidOut =
    overlay<fast_unary<Unary::kHardsigmoid>, portable::kHardsigmoidOut>("aten::hardsigmoid.out");
const Kernel kClampOut = overlay<fast_clamp_any, portable::kClampOut>("aten::clamp.out");
const Kernel kHardtanhOut =
    overlay<fast_clamp<Scalar, Scalar>, portable::kHardtanhOut>("aten::hardtanh.out");
const Kernel kReluOut = overlay<fast_clamp<>, portable::kReluOut>("aten::relu.out");
const Kernel kLeakyReluOut =
    overlay<fast_leaky_relu, portable::kLeakyReluOut>("aten::leaky_relu.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
