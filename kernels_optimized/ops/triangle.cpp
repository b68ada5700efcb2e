// tril and triu of contiguous matrices: each row is a copy and zeros.

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"

namespace taper::optimized {
namespace {

template <bool kLower>
bool fast_triangle(KernelContext& context, const Tensor& self, int64_t diagonal, Tensor& out) {
  if (self.scalar_type() != out.scalar_type() || self.dim() < 2 || !out.resize(self.sizes()).ok() ||
      out.numel() == 0 || !self.is_contiguous() || !out.is_contiguous()) {
    return false;
  }
  const int64_t rows = self.size(self.dim() - 2), columns = self.size(self.dim() - 1);
  const auto bytes = static_cast<int64_t>(element_size(self.scalar_type()));
  const auto* from = static_cast<const char*>(self.const_data());
  auto* to = static_cast<char*>(out.mutable_data());
  const int64_t shift = std::clamp(diagonal, -rows, columns) + (kLower ? 1 : 0);
  for_parts(context.pool(), out.numel() / columns, columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      // Columns before `split` are the lower triangle's.
      const int64_t split = std::clamp<int64_t>(row % rows + shift, 0, columns);
      const int64_t first = kLower ? 0 : split, last = kLower ? split : columns;
      const int64_t zeros = kLower ? split : 0, count = columns - (last - first);
      const int64_t kept = (row * columns + first) * bytes;
      if (from != to)
        std::memcpy(to + kept, from + kept, static_cast<size_t>((last - first) * bytes));
      std::memset(to + (row * columns + zeros) * bytes, 0, static_cast<size_t>(count * bytes));
    }
  });
  return true;
}

}  // namespace

extern const Kernel kTrilOut, kTriuOut;
const Kernel kTrilOut = overlay<fast_triangle<true>, portable::kTrilOut>("aten::tril.out");
const Kernel kTriuOut = overlay<fast_triangle<false>, portable::kTriuOut>("aten::triu.out");

}  // namespace taper::optimized
