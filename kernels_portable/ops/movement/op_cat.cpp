// aten::cat.out: tensors concatenated along a dimension. aten::stack.out: along a new dimension.
//
//   Types  out has the promoted dtype of the tensors, or one that it can be cast to.
//   Sizes  equal except along `dim`. A tensor of size [0] is skipped, whatever the rank of the
//          others.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

Status check_types(TensorList tensors, const Tensor& out) {
  TAPER_REQUIRE(!tensors.empty(), Error::kInvalidArgument, "cat: the list of tensors is empty");
  ScalarType type = tensors[0]->scalar_type();
  for (const Tensor* tensor : tensors) {
    const bool same = tensor->scalar_type() == type;
    TAPER_REQUIRE(same || !(is_complex(type) || is_complex(tensor->scalar_type())),
                  Error::kNotSupported, "cat: complex tensors must share one dtype");
    if (!same) type = promote_types(type, tensor->scalar_type());
  }
  TAPER_REQUIRE(can_cast(type, out.scalar_type()), Error::kInvalidArgument,
                "cat: the tensors' dtype cannot be cast to that of out");
  return {};
}

// The part [offset, offset + size) of `out` along dimension `d`.
View part_of(const Tensor& out, size_t d, int64_t offset, int64_t size) {
  View part = view_of(out);
  part.advance(d, offset, element_size(out.scalar_type()));
  part.sizes[d] = size;
  return part;
}

// Computes the sizes of the result: adds up those along `d` and checks that the others are equal.
Status total_sizes(TensorList tensors, size_t d, const Tensor& first, int64_t* sizes) {
  for (int64_t i = 0; i < first.dim(); ++i) sizes[i] = first.size(i);
  sizes[d] = 0;
  for (const Tensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    TAPER_REQUIRE(tensor->dim() == first.dim(), Error::kInvalidArgument,
                  "cat: the tensors differ in rank");
    for (int64_t i = 0; i < first.dim(); ++i) {
      TAPER_REQUIRE(static_cast<size_t>(i) == d || tensor->size(i) == sizes[i],
                    Error::kInvalidArgument, "cat: sizes may differ along dim only");
    }
    sizes[d] += tensor->size(static_cast<int64_t>(d));
  }
  return {};
}

Status cat(KernelContext&, TensorList tensors, int64_t dim, Tensor& out) {
  TAPER_TRY(check_types(tensors, out));
  const Tensor* first = tensors[0];
  for (size_t i = 1; i < tensors.size() && is_skipped(*first); ++i) first = tensors[i];
  TAPER_REQUIRE(first->dim() > 0, Error::kInvalidArgument,
                "cat: 0-d tensors cannot be concatenated");
  int64_t wrapped = 0;
  TAPER_TRY(wrap_dim(dim, first->dim(), &wrapped));
  const size_t d = static_cast<size_t>(wrapped);
  int64_t sizes[kMaxRank];
  TAPER_TRY(total_sizes(tensors, d, *first, sizes));
  TAPER_TRY(resize_out(out, sizes, static_cast<size_t>(first->dim())));
  int64_t offset = 0;
  for (const Tensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    const View part = part_of(out, d, offset, tensor->size(wrapped));
    convert_view(part, out.scalar_type(), view_of(*tensor), tensor->scalar_type());
    offset += tensor->size(wrapped);
  }
  return {};
}

Status stack(KernelContext&, TensorList tensors, int64_t dim, Tensor& out) {
  TAPER_TRY(check_types(tensors, out));
  View shape = view_of(*tensors[0]);
  TAPER_REQUIRE(shape.rank < kMaxRank, Error::kInvalidArgument,
                "stack: the tensors already have 16 dimensions, the most that are supported");
  int64_t wrapped = 0;
  TAPER_TRY(wrap_dim(dim, tensors[0]->dim() + 1, &wrapped));
  for (const Tensor* tensor : tensors) {
    TAPER_REQUIRE(same_sizes(*tensor, *tensors[0]), Error::kInvalidArgument,
                  "stack: the tensors must have the same sizes");
  }
  const size_t d = static_cast<size_t>(wrapped);
  shape.insert_dim(d, static_cast<int64_t>(tensors.size()), 0);
  TAPER_TRY(resize_out(out, shape.sizes, shape.rank));
  for (size_t i = 0; i < tensors.size(); ++i) {
    View part = part_of(out, d, static_cast<int64_t>(i), 1);
    part.remove_dim(d);
    convert_view(part, out.scalar_type(), view_of(*tensors[i]), tensors[i]->scalar_type());
  }
  return {};
}

}  // namespace

extern const Kernel kCatOut;
const Kernel kCatOut = make_kernel<cat, Takes::kComplexToo>("aten::cat.out");
extern const Kernel kStackOut;
const Kernel kStackOut = make_kernel<stack, Takes::kComplexToo>("aten::stack.out");

}  // namespace taper::portable
