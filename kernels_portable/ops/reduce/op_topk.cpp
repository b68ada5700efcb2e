// aten::topk.values: the k largest or smallest elements of each row along a dimension.
// aten::sort.values, .values_stable and argsort.stable_out: all of them.
//
//   Order  NaN is the largest. Equal elements keep their order, even where PyTorch leaves it
//          unspecified; topk always sorts.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/sorting.h"

namespace taper::portable {
namespace {

Status topk(KernelContext&, const Tensor& self, int64_t k, int64_t dim, bool largest, bool,
            Tensor& values, Tensor& indices) {
  return write_sorted(self, dim, {largest, k}, &values, indices);
}

// The size of `dim`; 1 for a 0-d tensor.
Status row_length(const Tensor& self, int64_t dim, int64_t* length) {
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &d));
  *length = self.dim() == 0 ? 1 : self.size(d);
  return {};
}

Status sort(KernelContext&, const Tensor& self, int64_t dim, bool descending, Tensor& values,
            Tensor& indices) {
  int64_t length = 0;
  TAPER_TRY(row_length(self, dim, &length));
  return write_sorted(self, dim, {descending, length}, &values, indices);
}

Status sort_stable(KernelContext& context, const Tensor& self, std::optional<bool>, int64_t dim,
                   bool descending, Tensor& values, Tensor& indices) {
  return sort(context, self, dim, descending, values, indices);
}

Status argsort(KernelContext&, const Tensor& self, bool, int64_t dim, bool descending,
               Tensor& indices) {
  int64_t length = 0;
  TAPER_TRY(row_length(self, dim, &length));
  return write_sorted(self, dim, {descending, length}, nullptr, indices);
}

}  // namespace

extern const Kernel kTopkValues;
const Kernel kTopkValues = make_kernel<topk>("aten::topk.values");
extern const Kernel kSortValues;
const Kernel kSortValues = make_kernel<sort>("aten::sort.values");
extern const Kernel kSortValuesStable;
const Kernel kSortValuesStable = make_kernel<sort_stable>("aten::sort.values_stable");
extern const Kernel kArgsortStableOut;
const Kernel kArgsortStableOut = make_kernel<argsort>("aten::argsort.stable_out");

}  // namespace taper::portable
