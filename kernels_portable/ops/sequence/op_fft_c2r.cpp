// aten::_fft_c2r.out: the inverse Fourier transform along one dim, from the first
// last_dim_size / 2 + 1 terms of the transform of real numbers.
//
//   complex64 to float32, complex128 to float64. normalization as in _fft_r2c. The imaginary parts
//   of the first and the middle term, which are 0 for real numbers, are ignored.

#include "kernels_portable/cores/fft.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

bool fits(ScalarType complex, ScalarType real) {
  return is_complex(complex) && real == part_type(complex) && real != ScalarType::kHalf;
}

Status fft_c2r_out(KernelContext&, const Tensor& self, IntList dims, int64_t normalization,
                   int64_t last_dim_size, Tensor& out) {
  TAPER_REQUIRE(fits(self.scalar_type(), out.scalar_type()), Error::kInvalidType,
                "_fft_c2r: self must be complex64 or complex128, out of the same precision");
  TAPER_REQUIRE(dims.size() == 1 && self.dim() > 0, Error::kNotSupported,
                "_fft_c2r: there must be exactly one dim");
  int64_t dim = 0;
  TAPER_TRY(wrap_dim(dims[0], self.dim(), &dim));
  TAPER_REQUIRE(
      last_dim_size > 0 && last_dim_size <= INT32_MAX && self.size(dim) == last_dim_size / 2 + 1,
      Error::kInvalidArgument, "_fft_c2r: self must have last_dim_size / 2 + 1 terms");
  int64_t sizes[kMaxRank];
  for (int64_t d = 0; d < self.dim(); ++d) sizes[d] = d == dim ? last_dim_size : self.size(d);
  TAPER_TRY(resize_out(out, sizes, static_cast<size_t>(self.dim())));
  Fourier fourier = {dim, last_dim_size, 1};
  TAPER_TRY(fourier_factor(normalization, static_cast<double>(last_dim_size), &fourier.factor));
  complex_to_real(fourier, self, out);
  return {};
}

}  // namespace

extern const Kernel kFftC2rOut;
const Kernel kFftC2rOut = make_kernel<fft_c2r_out, Takes::kComplexToo>("aten::_fft_c2r.out");

}  // namespace taper::portable
