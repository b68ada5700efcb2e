// One function, so that binaries have it once; see row_sizes.h.

#include "kernels_portable/cores/quantized/row_sizes.h"

namespace taper::portable {

Status resize_rows(Tensor& out, const Tensor& like, size_t leading, int64_t last) {
  int64_t sizes[kMaxRank];
  for (size_t d = 0; d < leading; ++d) sizes[d] = like.sizes()[d];
  sizes[leading] = last;
  return resize_out(out, sizes, leading + 1);
}

}  // namespace taper::portable
