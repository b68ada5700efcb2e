// aten::_pdist_forward.out: the distances of all pairs of rows of self [n, k], as n * (n - 1) / 2
// elements: the pairs (i, j) with i < j in row-major order.

#include "kernels_portable/cores/distance.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

template <typename T>
void measure(const Tensor& self, double p, const Tensor& out) {
  const ScalarType type = out.scalar_type();
  const Distance<T> distance(p, type, self.size(1), LargestNaN::kSpreads);
  const Span<const int32_t> strides = self.strides();
  int64_t pair = 0;
  for (int64_t i = 0; i < self.size(0); ++i) {
    for (int64_t j = i + 1; j < self.size(0); ++j, ++pair) {
      const T value = distance(element(self.const_data(), i * strides[0], type), strides[1],
                               element(self.const_data(), j * strides[0], type), strides[1]);
      store_one(value, element(out.mutable_data(), pair, type), type);
    }
  }
}

Status pdist_forward_out(KernelContext&, const Tensor& self, double p, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && out.scalar_type() == self.scalar_type(),
                Error::kInvalidType, "pdist: self and out must share one floating dtype");
  TAPER_REQUIRE(self.dim() == 2, Error::kInvalidArgument, "pdist: self must be a matrix");
  TAPER_REQUIRE(p >= 0, Error::kInvalidArgument, "pdist: p must not be negative");
  const int64_t rows = self.size(0);
  const int64_t sizes[] = {rows > 1 ? rows * (rows - 1) / 2 : 0};
  TAPER_TRY(resize_out(out, sizes, 1));
  return with_float_type(self.scalar_type(), [&](auto zero) -> Status {
    measure<decltype(zero)>(self, p, out);
    return {};
  });
}

}  // namespace

extern const Kernel kPdistForwardOut;
const Kernel kPdistForwardOut = make_kernel<pdist_forward_out>("aten::_pdist_forward.out");

}  // namespace taper::portable
