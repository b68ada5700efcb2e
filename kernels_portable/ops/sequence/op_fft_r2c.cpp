// aten::_fft_r2c.out: the Fourier transform of real numbers over dims; onesided keeps only the
// first n / 2 + 1 terms along the last of them, which determine the others.
//
//   float32 to complex64, float64 to complex128. normalization 0 leaves the terms as they are, 1
//   divides them by the square root of the number of elements, 2 by that number.

#include "kernels_portable/cores/fft.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

bool fits(ScalarType real, ScalarType complex) {
  return is_complex(complex) && real == part_type(complex) && real != ScalarType::kHalf;
}

Status fft_r2c_out(KernelContext& context, const Tensor& self, IntList dims, int64_t normalization,
                   bool onesided, Tensor& out) {
  TAPER_REQUIRE(fits(self.scalar_type(), out.scalar_type()), Error::kInvalidType,
                "_fft_r2c: self must be float32 or float64, out complex of the same precision");
  DimMask mask = 0;
  TAPER_REQUIRE(!dims.empty(), Error::kInvalidArgument, "_fft_r2c: dim is empty");
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  TAPER_REQUIRE(self.dim() > 0, Error::kInvalidArgument, "_fft_r2c: self has no dimension");
  int64_t last = 0;
  TAPER_TRY(wrap_dim(dims[dims.size() - 1], self.dim(), &last));
  int64_t sizes[kMaxRank];
  double count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    sizes[d] = self.size(d);
    if ((mask >> d & 1) != 0) count *= static_cast<double>(sizes[d]);
  }
  TAPER_REQUIRE(count > 0, Error::kInvalidArgument, "_fft_r2c: a dim has no elements");
  if (onesided) sizes[last] = sizes[last] / 2 + 1;
  TAPER_TRY(resize_out(out, sizes, static_cast<size_t>(self.dim())));
  Fourier fourier = {last, self.size(last), 1};
  TAPER_TRY(fourier_factor(normalization, count, &fourier.factor));
  real_to_complex(fourier, self, out);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == last || (mask >> d & 1) == 0) continue;
    TAPER_TRY(complex_in_place(context, {d, self.size(d), 1}, out));
    context.reset_temp();
  }
  return {};
}

}  // namespace

extern const Kernel kFftR2cOut;
const Kernel kFftR2cOut = make_kernel<fft_r2c_out, Takes::kComplexToo>("aten::_fft_r2c.out");

}  // namespace taper::portable
