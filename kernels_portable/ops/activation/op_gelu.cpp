// aten::gelu.out: self times the standard normal distribution function of self.
//
//   approximate "none": x / 2 * (1 + erf(x / sqrt 2)); "tanh": x / 2 * (1 + tanh(sqrt(2 / pi) *
//   (x + 0.044715 x^3))). Floats, dtype kept.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Gelu {
  template <typename C>
  C operator()(C x) const {
    return x * C{0.5} * (C{1} + erf_of(x * static_cast<C>(0.70710678118654752440)));
  }
};

struct GeluTanh {
  template <typename C>
  C operator()(C x) const {
    const C inner = x + static_cast<C>(0.044715) * x * x * x;
    return x * C{0.5} * (C{1} + tanh_of(static_cast<C>(0.79788456080286535588) * inner));
  }
};

Status gelu_out(KernelContext&, const Tensor& self, std::string_view approximate, Tensor& out) {
  if (approximate == "tanh") return unary_of_float(GeluTanh{}, self, out);
  TAPER_REQUIRE(approximate == "none", Error::kInvalidArgument,
                "gelu: approximate must be none or tanh");
  return unary_of_float(Gelu{}, self, out);
}

}  // namespace

extern const Kernel kGeluOut;
const Kernel kGeluOut = make_kernel<gelu_out>("aten::gelu.out");

}  // namespace taper::portable
