// aten::slice_scatter.out, select_scatter.out and diagonal_scatter.out: self with one part replaced
// by src, which has the sizes of that part.

#include "kernels_portable/engine/slice.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status copy_self(const Tensor& self, const Tensor& src, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type() && src.scalar_type() == self.scalar_type(),
                Error::kInvalidArgument, "slice_scatter: src and out must have the dtype of self");
  return write_view(view_of(self), out);
}

Status write_part(const View& part, const Tensor& src) {
  const View from = view_of(src);
  bool same = from.rank == part.rank;
  for (size_t d = 0; same && d < part.rank; ++d) same = from.sizes[d] == part.sizes[d];
  TAPER_REQUIRE(same, Error::kInvalidArgument,
                "slice_scatter: src must have the sizes of the part it replaces");
  copy_view(part, from, element_size(src.scalar_type()));
  return {};
}

Status slice_scatter(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                     Tensor& out) {
  TAPER_TRY(copy_self(self, src, out));
  View part = view_of(out);
  TAPER_TRY(slice_view(&part, dim, start, end, step, element_size(out.scalar_type())));
  return write_part(part, src);
}

Status select_scatter(KernelContext&, const Tensor& self, const Tensor& src, int64_t dim,
                      int64_t index, Tensor& out) {
  TAPER_TRY(copy_self(self, src, out));
  View part = view_of(out);
  TAPER_TRY(select_view(&part, dim, index, element_size(out.scalar_type())));
  return write_part(part, src);
}

Status diagonal_scatter(KernelContext&, const Tensor& self, const Tensor& src, int64_t offset,
                        int64_t dim1, int64_t dim2, Tensor& out) {
  TAPER_TRY(copy_self(self, src, out));
  View part = view_of(out);
  TAPER_TRY(diagonal_view(&part, offset, dim1, dim2, element_size(out.scalar_type())));
  return write_part(part, src);
}

}  // namespace

extern const Kernel kSliceScatterOut;
const Kernel kSliceScatterOut = make_kernel<slice_scatter>("aten::slice_scatter.out");
extern const Kernel kSelectScatterOut;
const Kernel kSelectScatterOut = make_kernel<select_scatter>("aten::select_scatter.out");
extern const Kernel kDiagonalScatterOut;
const Kernel kDiagonalScatterOut = make_kernel<diagonal_scatter>("aten::diagonal_scatter.out");

}  // namespace taper::portable
