// aten::gather.out: out[i][j] = self[index[i][j]][j], for dim 0 of a matrix.
//
//   Sizes    out has the sizes of index, which is no larger than self except along dim.
//   Indices  int32 or int64, from 0 on.

#include <cstring>

#include "kernels_portable/scatter.h"

namespace taper::portable {
namespace {

Status gather(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, bool,
              Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "gather: out must have the dtype of self");
  TAPER_TRY(out.resize(index.sizes()));
  PickLoops loops;
  TAPER_TRY(loops.init(self, dim, index, view_of(out)));
  const size_t size = element_size(self.scalar_type());
  const char* from = static_cast<const char*>(self.const_data());
  char* to = static_cast<char*>(out.mutable_data());
  const int64_t bytes = static_cast<int64_t>(size);
  return loops.for_each_chunk(
      [&](const int64_t* picked, int64_t offset, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          std::memmove(to + (offset + i * stride) * bytes, from + picked[i] * bytes, size);
        }
      });
}

}  // namespace

extern const Kernel kGatherOut;
const Kernel kGatherOut = make_kernel<gather>("aten::gather.out");

}  // namespace taper::portable
