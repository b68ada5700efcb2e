// aten::split_copy.Tensor_out, split_with_sizes_copy.out and unbind_copy.int_out: a tensor split
// along a dimension, with one output for each part. unbind removes the dimension.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/slice.h"

namespace taper::portable {
namespace {

Status check_types(const Tensor& self, MutableTensorList outs) {
  for (const Tensor* out : outs) {
    TAPER_REQUIRE(out->scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                  "split_copy: every out must have the dtype of self");
  }
  return {};
}

Status write_part(const Tensor& self, int64_t dim, int64_t start, int64_t length, Tensor& out) {
  View view = view_of(self);
  TAPER_TRY(narrow_view(&view, dim, start, length, element_size(self.scalar_type())));
  return write_view(view, out);
}

Status split_copy(KernelContext&, const Tensor& self, int64_t split_size, int64_t dim,
                  MutableTensorList outs) {
  TAPER_TRY(check_types(self, outs));
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &d));
  TAPER_REQUIRE(self.dim() > 0, Error::kInvalidArgument, "split_copy: self is 0-d");
  const int64_t size = self.size(d);
  TAPER_REQUIRE(split_size > 0 || (split_size == 0 && size == 0), Error::kInvalidArgument,
                "split_copy: split_size must be positive");
  const int64_t count = size == 0 ? 1 : (size - 1) / split_size + 1;
  TAPER_REQUIRE(static_cast<int64_t>(outs.size()) == count, Error::kInvalidArgument,
                "split_copy: there must be one out for each part");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * split_size;
    const int64_t length = size - start < split_size ? size - start : split_size;
    TAPER_TRY(write_part(self, d, start, length, *outs[static_cast<size_t>(i)]));
  }
  return {};
}

Status split_with_sizes_copy(KernelContext&, const Tensor& self, IntList sizes, int64_t dim,
                             MutableTensorList outs) {
  TAPER_TRY(check_types(self, outs));
  TAPER_REQUIRE(outs.size() == sizes.size(), Error::kInvalidArgument,
                "split_with_sizes_copy: there must be one out for each size");
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &d));
  TAPER_REQUIRE(self.dim() > 0, Error::kInvalidArgument, "split_with_sizes_copy: self is 0-d");
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TAPER_TRY(write_part(self, d, start, sizes[i], *outs[i]));  // Refuses what does not fit.
    start += sizes[i];
  }
  TAPER_REQUIRE(start == self.size(d), Error::kInvalidArgument,
                "split_with_sizes_copy: the sizes must add up to the dimension");
  return {};
}

Status unbind_copy(KernelContext&, const Tensor& self, int64_t dim, MutableTensorList outs) {
  TAPER_TRY(check_types(self, outs));
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &d));
  TAPER_REQUIRE(self.dim() > 0 && static_cast<int64_t>(outs.size()) == self.size(d),
                Error::kInvalidArgument, "unbind_copy: there must be one out for each index");
  for (size_t i = 0; i < outs.size(); ++i) {
    View view = view_of(self);
    const int64_t index = static_cast<int64_t>(i);
    TAPER_TRY(select_view(&view, d, index, element_size(self.scalar_type())));
    TAPER_TRY(write_view(view, *outs[i]));
  }
  return {};
}

}  // namespace

extern const Kernel kSplitCopyTensorOut;
const Kernel kSplitCopyTensorOut = make_kernel<split_copy>("aten::split_copy.Tensor_out");
extern const Kernel kSplitWithSizesCopyOut;
const Kernel kSplitWithSizesCopyOut =
    make_kernel<split_with_sizes_copy>("aten::split_with_sizes_copy.out");
extern const Kernel kUnbindCopyIntOut;
const Kernel kUnbindCopyIntOut = make_kernel<unbind_copy>("aten::unbind_copy.int_out");

}  // namespace taper::portable
