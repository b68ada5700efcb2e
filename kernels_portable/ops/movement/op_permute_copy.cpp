// aten::permute_copy.out, transpose_copy.int_out and t_copy.out: the dimensions of self permuted.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

// Writes self permuted: dimension d of out is dimension order[d] of self.
Status write_permuted(const Tensor& self, const size_t* order, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "permute_copy: out must have the dtype of self");
  View view = view_of(self);
  const View source = view;
  for (size_t d = 0; d < view.rank; ++d) {
    view.sizes[d] = source.sizes[order[d]];
    view.strides[d] = source.strides[order[d]];
  }
  return write_view(view, out);
}

Status permute_copy(KernelContext&, const Tensor& self, IntList dims, Tensor& out) {
  TAPER_REQUIRE(static_cast<int64_t>(dims.size()) == self.dim(), Error::kInvalidArgument,
                "permute_copy: dims must name every dimension of self");
  size_t order[kMaxRank] = {};
  DimMask mask = 0;
  if (!dims.empty()) TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));  // Refuses repeated dims.
  for (size_t d = 0; d < dims.size(); ++d) {
    order[d] = static_cast<size_t>(dims[d] < 0 ? dims[d] + self.dim() : dims[d]);
  }
  return write_permuted(self, order, out);
}

Status transpose_copy(KernelContext&, const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out) {
  int64_t a = 0;
  int64_t b = 0;
  TAPER_TRY(wrap_dim(dim0, self.dim(), &a));
  TAPER_TRY(wrap_dim(dim1, self.dim(), &b));
  size_t order[kMaxRank] = {};
  for (size_t d = 0; d < kMaxRank; ++d) order[d] = d;
  order[a] = static_cast<size_t>(b);
  order[b] = static_cast<size_t>(a);
  return write_permuted(self, order, out);
}

Status t_copy(KernelContext& context, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.dim() <= 2, Error::kInvalidArgument,
                "t_copy: self has more than 2 dimensions");
  return self.dim() == 2 ? transpose_copy(context, self, 0, 1, out)
                         : transpose_copy(context, self, 0, 0, out);
}

}  // namespace

extern const Kernel kPermuteCopyOut;
const Kernel kPermuteCopyOut =
    make_kernel<permute_copy, Takes::kComplexToo>("aten::permute_copy.out");
extern const Kernel kTransposeCopyIntOut;
const Kernel kTransposeCopyIntOut =
    make_kernel<transpose_copy, Takes::kComplexToo>("aten::transpose_copy.int_out");
extern const Kernel kTCopyOut;
const Kernel kTCopyOut = make_kernel<t_copy, Takes::kComplexToo>("aten::t_copy.out");

}  // namespace taper::portable
