// aten::abs.out: the magnitude of self.
//
//   Any dtype, kept; the smallest integer wraps around to itself. For complex numbers out is a
//   float.

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/lines.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 64;

struct Abs {
  int64_t operator()(int64_t x) const { return x < 0 ? wrap_neg(x) : x; }
  template <typename C>
  C operator()(C x) const {
    return std::fabs(x);
  }
};

// The magnitudes of complex numbers, element by element in memory order.
Status abs_of_complex(const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(is_floating(out.scalar_type()), Error::kInvalidType,
                "abs: out must be a float for complex numbers");
  TAPER_TRY(out.resize(self.sizes()));
  TAPER_REQUIRE(same_dim_order(self, out), Error::kNotSupported,
                "abs: complex self and out must have the same dim order");
  const ScalarType type = self.scalar_type();
  for_each_block(self.numel(), kBlock, [&](int64_t first, int64_t count) {
    double re[kBlock], im[kBlock];
    load_part(element(self.const_data(), first, type), type, 1, count, false, re);
    load_part(element(self.const_data(), first, type), type, 1, count, true, im);
    for (int64_t i = 0; i < count; ++i) re[i] = std::hypot(re[i], im[i]);
    const ScalarType to = out.scalar_type();
    storer<double>(to)(re, count, element(out.mutable_data(), first, to), 1);
  });
  return {};
}

Status abs_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (is_complex(self.scalar_type())) return abs_of_complex(self, out);
  return unary(Abs{}, self, out);
}

}  // namespace

extern const Kernel kAbsOut;
const Kernel kAbsOut = make_kernel<abs_out, Takes::kComplexToo>("aten::abs.out");

}  // namespace taper::portable
