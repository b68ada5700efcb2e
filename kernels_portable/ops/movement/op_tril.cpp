// aten::tril.out and triu.out: matrices with zeros above, or below, a diagonal.
//
//   diagonal  0 is the main diagonal, positive numbers are above it. The diagonal itself is kept.

#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

// Columns [first, last) of one row of every matrix.
View row_part(View view, int64_t row, int64_t first, int64_t last, size_t element) {
  view.advance(view.rank - 2, row, element);
  view.advance(view.rank - 1, first, element);
  view.sizes[view.rank - 1] = last - first;
  view.remove_dim(view.rank - 2);
  return view;
}

Status keep_triangle(const Tensor& self, int64_t diagonal, bool lower, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "tril: out must have the dtype of self");
  TAPER_REQUIRE(self.dim() >= 2, Error::kInvalidArgument, "tril: self must be a matrix or more");
  TAPER_TRY(out.resize(self.sizes()));
  if (out.numel() == 0) return {};
  const View from = view_of(self);
  const View to = view_of(out);
  const size_t element = element_size(self.scalar_type());
  const int64_t rows = from.sizes[from.rank - 2];
  const int64_t columns = from.sizes[from.rank - 1];
  constexpr unsigned char kZero[8] = {};
  diagonal = diagonal < -rows ? -rows : (diagonal > columns ? columns : diagonal);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t split = row + diagonal + (lower ? 1 : 0);  // The first column on the other side.
    split = split < 0 ? 0 : (split > columns ? columns : split);
    const int64_t first = lower ? 0 : split;
    const int64_t last = lower ? split : columns;
    const View target = row_part(to, row, first, last, element);
    const View source = row_part(from, row, first, last, element);
    if (target.data != source.data) copy_view(target, source, element);
    const View rest =
        lower ? row_part(to, row, split, columns, element) : row_part(to, row, 0, split, element);
    fill_view(rest, kZero, element);
  }
  return {};
}

Status tril(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return keep_triangle(self, diagonal, true, out);
}

Status triu(KernelContext&, const Tensor& self, int64_t diagonal, Tensor& out) {
  return keep_triangle(self, diagonal, false, out);
}

}  // namespace

extern const Kernel kTrilOut;
const Kernel kTrilOut = make_kernel<tril>("aten::tril.out");
extern const Kernel kTriuOut;
const Kernel kTriuOut = make_kernel<triu>("aten::triu.out");

}  // namespace taper::portable
