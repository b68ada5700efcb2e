// aten::logit.out: ln(x / (1 - x)), with x first clamped to [eps, 1 - eps] if eps is given.
//
//   Floats in their own dtype, integers and bool as float.

#include <cmath>
#include <limits>

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Logit {
  double low, high;
  template <typename C>
  C operator()(C x) const {
    C y = x < static_cast<C>(low) ? static_cast<C>(low) : x;
    y = y > static_cast<C>(high) ? static_cast<C>(high) : y;
    return std::log(y / (C{1} - y));
  }
};

Status logit_out(KernelContext&, const Tensor& self, std::optional<double> eps, Tensor& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Logit logit = {eps ? *eps : -kInfinity, eps ? 1 - *eps : kInfinity};
  return unary_to_float(logit, self, out);
}

}  // namespace

extern const Kernel kLogitOut;
const Kernel kLogitOut = make_kernel<logit_out>("aten::logit.out");

}  // namespace taper::portable
