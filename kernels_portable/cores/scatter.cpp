// The loops of gather and scatter; see scatter.h.

#include "kernels_portable/cores/scatter.h"

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

View at_least_vector(View view) {
  if (view.rank == 0) view.add_dim(1, 1);
  return view;
}

}  // namespace

Status PickLoops::init(const Tensor& table, int64_t dim, const Tensor& index, const View& other) {
  TAPER_REQUIRE(is_index_type(index.scalar_type()) || index.numel() == 0, Error::kInvalidArgument,
                "index must be int32 or int64");
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, table.dim(), &d));
  const View to = at_least_vector(view_of(table));
  const View by = at_least_vector(view_of(index));
  const View with = at_least_vector(other);
  const size_t along = static_cast<size_t>(d);
  nest_.operands = 3;
  index_type_ = index.scalar_type();
  index_data_ = index.const_data();
  limit_ = to.sizes[along];
  stride_ = to.strides[along];
  if (by.is_empty()) {
    const int64_t zeros[] = {0, 0, 0};
    nest_.add_loop(0, zeros);
    return {};
  }
  TAPER_REQUIRE(to.rank == by.rank && with.rank == by.rank, Error::kInvalidArgument,
                "index must have the rank of the tensors it is used with");
  for (size_t i = 0; i < by.rank; ++i) {
    TAPER_REQUIRE(by.sizes[i] <= with.sizes[i] && (i == along || by.sizes[i] <= to.sizes[i]),
                  Error::kInvalidArgument, "index is larger than the tensors it is used with");
    const int64_t strides[] = {with.strides[i], by.strides[i], i == along ? 0 : to.strides[i]};
    nest_.add_loop(by.sizes[i], strides);
  }
  nest_.simplify();
  return {};
}

Status PickLoops::pick(const int64_t* offsets, int64_t first, int64_t count,
                       int64_t* picked) const {
  const int64_t index_stride = nest_.inner_stride(kIndex);
  const int64_t table_stride = nest_.inner_stride(kTable);
  loader<int64_t>(index_type_)(
      element(index_data_, offsets[kIndex] + first * index_stride, index_type_), index_stride,
      count, picked);
  for (int64_t i = 0; i < count; ++i) {
    TAPER_REQUIRE(picked[i] >= 0 && picked[i] < limit_, Error::kInvalidArgument,
                  "an index is outside of its dimension");
    picked[i] = offsets[kTable] + (first + i) * table_stride + picked[i] * stride_;
  }
  return {};
}

}  // namespace taper::portable
