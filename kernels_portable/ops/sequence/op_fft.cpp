// taper::fft_r2c.out, fft_c2c.out, fft_c2r.out: Fourier transforms along the last dimension, as
// torch.fft's rfft, fft, ifft and irfft. Complex numbers are pairs of real ones in one more
// dimension.
//
//     out[k] = scale * sum over j of self[j] * e^(-+ 2 pi i j k / n)
//
// fft_r2c gives n / 2 + 1 terms if it is onesided, else n; fft_c2r takes n / 2 + 1 terms, of which
// it ignores the imaginary parts of the first and of the middle one.
//
//   Inputs    turns [n, 2] holds the cosine and the sine of 2 pi k / n, for kernels that use a
//             table; these compute what they need in double precision.
//   Types     float32 or float64, all the same.
//   Layout    contiguous.
//   Memory    needs no temp memory.

#include "kernels_portable/cores/fft.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

// The complex tensor whose pairs are the last dimension of another.
class Complexes {
 public:
  // REQUIRES: a contiguous tensor of float32 or float64; 2 is its last size.
  explicit Complexes(const Tensor& pairs) {
    const Span<const int32_t> sizes = pairs.sizes();
    size_t rank = 0;
    for (; rank + 1 < sizes.size() && rank < kMaxRank; ++rank) {
      sizes_[rank] = sizes[rank];
      dim_order_[rank] = static_cast<uint8_t>(rank);
    }
    const bool is_single = pairs.scalar_type() == ScalarType::kFloat;
    tensor_ = Tensor(is_single ? ScalarType::kComplexFloat : ScalarType::kComplexDouble, rank,
                     sizes_, dim_order_, strides_, pairs.mutable_data());
  }
  Complexes(const Complexes&) = delete;
  Complexes& operator=(const Complexes&) = delete;

  Tensor& tensor() { return tensor_; }

 private:
  int32_t sizes_[kMaxRank];
  int32_t strides_[kMaxRank];
  uint8_t dim_order_[kMaxRank];
  Tensor tensor_;
};

// Checks everything but the sizes of `self` and `out`. `n` is the number of samples.
Status check(const Tensor& self, const Tensor& turns, int64_t n, const Tensor& out) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE(type == ScalarType::kFloat || type == ScalarType::kDouble, Error::kInvalidType,
                "fft: self must be float32 or float64");
  TAPER_REQUIRE(turns.scalar_type() == type && out.scalar_type() == type, Error::kInvalidType,
                "fft: turns and out must have the dtype of self");
  TAPER_REQUIRE(self.is_contiguous() && out.is_contiguous(), Error::kNotSupported,
                "fft: tensors must be contiguous");
  TAPER_REQUIRE(turns.dim() == 2 && turns.size(1) == 2 && turns.size(0) == n && n > 0,
                Error::kInvalidArgument, "fft: turns must have a pair for each sample");
  return {};
}

Status check_pairs(const Tensor& self) {
  TAPER_REQUIRE(self.dim() >= 2 && self.size(self.dim() - 1) == 2, Error::kInvalidArgument,
                "fft: the last dimension of self must hold pairs, after another one");
  return {};
}

Status fft_r2c_out(KernelContext&, const Tensor& self, const Tensor& turns, bool onesided,
                   double scale, Tensor& out) {
  const int64_t axis = self.dim() - 1;
  TAPER_REQUIRE(axis >= 0 && self.dim() < static_cast<int64_t>(kMaxRank), Error::kInvalidArgument,
                "fft_r2c: self has no dimension, or too many");
  const int64_t n = self.size(axis);
  TAPER_TRY(check(self, turns, n, out));
  Sizes sizes = sizes_before(self, axis);
  sizes.push(onesided ? n / 2 + 1 : n);
  sizes.push(2);
  TAPER_TRY(out.resize(sizes));
  Complexes complexes(out);
  real_to_complex({axis, n, scale}, self, complexes.tensor());
  return {};
}

Status fft_c2c_out(KernelContext&, const Tensor& self, const Tensor& turns, bool forward,
                   double scale, Tensor& out) {
  TAPER_TRY(check_pairs(self));
  const int64_t axis = self.dim() - 2;
  TAPER_TRY(check(self, turns, self.size(axis), out));
  TAPER_TRY(out.resize(self.sizes()));
  Complexes from(self), to(out);
  complex_to_complex({axis, self.size(axis), scale}, forward, from.tensor(), to.tensor());
  return {};
}

Status fft_c2r_out(KernelContext&, const Tensor& self, const Tensor& turns, double scale,
                   Tensor& out) {
  TAPER_TRY(check_pairs(self));
  TAPER_REQUIRE(turns.dim() == 2, Error::kInvalidArgument,
                "fft_c2r: turns must have two dimensions");
  const int64_t axis = self.dim() - 2, n = turns.size(0);
  TAPER_TRY(check(self, turns, n, out));
  TAPER_REQUIRE(self.size(axis) == n / 2 + 1, Error::kInvalidArgument,
                "fft_c2r: self must have n / 2 + 1 terms");
  Sizes sizes = sizes_before(self, axis);
  sizes.push(n);
  TAPER_TRY(out.resize(sizes));
  Complexes from(self);
  complex_to_real({axis, n, scale}, from.tensor(), out);
  return {};
}

}  // namespace

extern const Kernel kFftR2cPairsOut, kFftC2cPairsOut, kFftC2rPairsOut;
const Kernel kFftR2cPairsOut = make_kernel<fft_r2c_out>("taper::fft_r2c.out");
const Kernel kFftC2cPairsOut = make_kernel<fft_c2c_out>("taper::fft_c2c.out");
const Kernel kFftC2rPairsOut = make_kernel<fft_c2r_out>("taper::fft_c2r.out");

}  // namespace taper::portable
