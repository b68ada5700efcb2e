// cat.out of contiguous tensors of one dtype: rows of the result are filled one after another, and
// short pieces of them are copied without calling memcpy.

#include <algorithm>

#include "kernels_optimized/engine/copy_piece.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

namespace taper::optimized {
namespace {

bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

// Whether a tensor can be a part of the result beside `first`, along dimension `dim`.
bool fits(const Tensor& tensor, const Tensor& first, int64_t dim) {
  if (tensor.scalar_type() != first.scalar_type() || tensor.dim() != first.dim() ||
      !tensor.is_contiguous()) {
    return false;
  }
  for (int64_t d = 0; d < first.dim(); ++d) {
    if (d != dim && tensor.size(d) != first.size(d)) return false;
  }
  return true;
}

// Resizes the result. False if the portable kernel has to do it, or to say what is wrong.
bool resize_to_all(TensorList tensors, const Tensor& first, int64_t dim, Tensor& out) {
  int64_t total = 0;
  for (const Tensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    if (!fits(*tensor, first, dim)) return false;
    total += tensor->size(dim);
  }
  if (total > INT32_MAX || out.scalar_type() != first.scalar_type()) return false;
  int32_t sizes[kMaxRank];
  std::copy(first.sizes().begin(), first.sizes().end(), sizes);
  sizes[dim] = static_cast<int32_t>(total);
  return out.resize({sizes, static_cast<size_t>(first.dim())}).ok() && out.is_contiguous();
}

// The part of a tensor that belongs to the rows from `row` on.
const char* rows_of(const Tensor& tensor, int64_t row, size_t width) {
  return static_cast<const char*>(tensor.const_data()) + static_cast<size_t>(row) * width;
}

bool fast_cat(KernelContext& context, TensorList tensors, int64_t dim, Tensor& out) {
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    if (first == nullptr && !is_skipped(*tensor)) first = tensor;
  }
  if (first == nullptr || first->dim() == 0 || !portable::wrap_dim(dim, first->dim(), &dim).ok() ||
      !resize_to_all(tensors, *first, dim, out)) {
    return false;
  }
  if (out.numel() == 0) return true;
  const portable::AroundDim around = portable::around_dim(out, dim);
  const size_t unit = static_cast<size_t>(around.inner) * element_size(out.scalar_type());
  const size_t row = static_cast<size_t>(around.size) * unit;
  const auto work = static_cast<int64_t>(row / sizeof(float)) + 1;
  const bool are_halves = tensors.size() == 2 && tensors[0]->numel() == tensors[1]->numel();
  for_parts(context.pool(), around.outer, work, 1, [&](int64_t begin, int64_t end) {
    char* part = static_cast<char*>(out.mutable_data()) + static_cast<size_t>(begin) * row;
    if (are_halves &&
        join_halves(rows_of(*tensors[0], begin, row / 2), rows_of(*tensors[1], begin, row / 2),
                    row / 2, part, end - begin)) {
      return;
    }
    for (const Tensor* tensor : tensors) {
      if (is_skipped(*tensor)) continue;
      const size_t width = static_cast<size_t>(tensor->size(dim)) * unit;
      copy_pieces(rows_of(*tensor, begin, width), width, part, row, end - begin);
      part += width;
    }
  });
  return true;
}

}  // namespace

extern const Kernel kCatOut;
const Kernel kCatOut = overlay<fast_cat, portable::kCatOut, Takes::kComplexToo>("aten::cat.out");

}  // namespace taper::optimized
