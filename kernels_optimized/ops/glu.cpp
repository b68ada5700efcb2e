// glu.out of contiguous floats: the halves of a row, and so those of all that lies within it, are
// side by side.

#include <algorithm>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/glu.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// out = a / (1 + e^-b)
void glu_form(const float* a, const float* b, float* out, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t some = std::min(kLanes, count - i);
    const Vec share = hn::Add(constant(1), exp_of(hn::Neg(load_count(b + i, some))));
    store_count(hn::Div(load_count(a + i, some), share), out + i, some);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const float*, const float*, float*, int64_t);

bool fast_glu(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, glu_form);
  if (form == nullptr || !are_float(self, out) || !self.is_contiguous() || !out.is_contiguous() ||
      self.dim() == 0 || !portable::wrap_dim(dim, self.dim(), &dim).ok() ||
      self.size(dim) % 2 != 0) {
    return false;
  }
  portable::Sizes sizes;
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push(d == dim ? self.size(d) / 2 : self.size(d));
  if (!out.resize(sizes).ok()) return false;
  const portable::AroundDim around = portable::around_dim(out, dim);
  const int64_t half = around.size * around.inner;
  const auto* from = self.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_parts(context.pool(), out.numel(), kExponentialWork, kLineFloats,
            [&](int64_t begin, int64_t end) {
              while (begin < end) {
                const int64_t row = begin / half, first = begin % half;
                const int64_t count = std::min(half - first, end - begin);
                const float* a = from + row * 2 * half + first;
                form(a, a + half, to + begin, count);
                begin += count;
              }
            });
  return true;
}

}  // namespace

extern const Kernel kGluOut;
const Kernel kGluOut = overlay<fast_glu, portable::kGluOut>("aten::glu.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
