// aten::allclose.out: true if |self - other| <= atol + rtol * |other| for all elements; out is one
// bool.
//
//   Infinities are close if they are equal. NaN is close to NaN if equal_nan is true.

#include <cmath>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/cursor.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

struct Tolerance {
  double relative, absolute;
  bool equal_nan;
};

bool is_close(double a, double b, const Tolerance& allowed) {
  if (a == b) return true;
  if (std::isnan(a) || std::isnan(b)) return allowed.equal_nan && std::isnan(a) && std::isnan(b);
  const double limit = allowed.absolute + allowed.relative * std::fabs(b);
  return std::isfinite(limit) && std::fabs(a - b) <= limit;
}

Status allclose(KernelContext&, const Tensor& self, const Tensor& other, double rtol, double atol,
                bool equal_nan, bool, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() == other.scalar_type(), Error::kInvalidArgument,
                "allclose: self and other must share one dtype");
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kBool && out.numel() == 1, Error::kInvalidArgument,
                "allclose: out must be one bool");
  TAPER_REQUIRE(rtol >= 0 && atol >= 0, Error::kInvalidArgument,
                "allclose: a tolerance is negative");
  Sizes sizes;
  TAPER_TRY(broadcast_sizes(self.sizes(), other.sizes(), &sizes));
  View shape;
  for (size_t d = 0; d < sizes.rank; ++d) shape.add_dim(sizes.values[d], 0);
  const ScalarType type = self.scalar_type();
  Cursor a(broadcast_view(view_of(self), shape));
  Cursor b(broadcast_view(view_of(other), shape));
  bool close = true;
  for (int64_t left = shape.numel(); left > 0 && close; --left) {
    close = is_close(load_one<double>(element(self.const_data(), a.offset(), type), type),
                     load_one<double>(element(other.const_data(), b.offset(), type), type),
                     {rtol, atol, equal_nan});
    a.advance(1);
    b.advance(1);
  }
  *out.mutable_data_ptr<bool>() = close;
  return {};
}

}  // namespace

extern const Kernel kAllcloseOut;
const Kernel kAllcloseOut = make_kernel<allclose>("aten::allclose.out");

}  // namespace taper::portable
