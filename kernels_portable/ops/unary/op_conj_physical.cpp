// aten::_conj_physical.out: the complex conjugate; real numbers stay as they are.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/lines.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 64;

Status conj_physical_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "_conj_physical: out must have the dtype of self");
  TAPER_TRY(out.resize(self.sizes()));
  TAPER_TRY(copy_elements(self, out));
  const ScalarType type = out.scalar_type();
  if (!is_complex(type)) return {};
  for_each_block(out.numel(), kBlock, [&](int64_t first, int64_t count) {
    double imaginary[kBlock];
    void* at = element(out.mutable_data(), first, type);
    load_part(at, type, 1, count, true, imaginary);
    for (int64_t i = 0; i < count; ++i) imaginary[i] = -imaginary[i];
    store_part(imaginary, count, at, type, 1, true);
  });
  return {};
}

}  // namespace

extern const Kernel kConjPhysicalOut;
const Kernel kConjPhysicalOut =
    make_kernel<conj_physical_out, Takes::kComplexToo>("aten::_conj_physical.out");

}  // namespace taper::portable
