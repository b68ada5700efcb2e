// aten::glu.out: the first half along dim times the sigmoid of the second half.
//
//   Floats; out may be another float dtype.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/lines.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 256;

template <typename C>
void glu_line(const Line& in, const Line& out) {
  C first_buffer[kBlock], second_buffer[kBlock], result[kBlock];
  for_each_block(out.size, kBlock, [&](int64_t first, int64_t count) {
    const C* a = in.read(first, count, first_buffer);
    const C* b = in.read(out.size + first, count, second_buffer);
    for (int64_t i = 0; i < count; ++i) result[i] = a[i] / (C{1} + exp_of(-b[i]));
    out.write(first, count, result);
  });
}

Status glu_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && is_floating(out.scalar_type()),
                Error::kInvalidType, "glu: self and out must be floats");
  TAPER_REQUIRE(self.dim() > 0, Error::kInvalidArgument, "glu: self has no dims");
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_REQUIRE(self.size(dim) % 2 == 0, Error::kInvalidArgument, "glu: the size of dim is odd");
  Sizes sizes;
  for (int64_t d = 0; d < self.dim(); ++d) sizes.push(d == dim ? self.size(d) / 2 : self.size(d));
  TAPER_TRY(out.resize(sizes));
  if (in_double(self.scalar_type())) {
    for_each_line(self, dim, out, glu_line<double>);
  } else {
    for_each_line(self, dim, out, glu_line<float>);
  }
  return {};
}

}  // namespace

extern const Kernel kGluOut;
const Kernel kGluOut = make_kernel<glu_out>("aten::glu.out");

}  // namespace taper::portable
