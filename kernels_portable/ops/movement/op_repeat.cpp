// aten::repeat.out: self tiled along each dimension; new dimensions come first.
// aten::repeat_interleave.Tensor_out: index i, repeats[i] times, for all i.
//
// repeat writes self once and then doubles what is written, dimension by dimension.

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

// Fills dimension `d` of `box`, a part of out, with copies of its first `filled` indices.
void double_along(const View& box, size_t d, int64_t filled, size_t element) {
  const int64_t size = box.sizes[d];
  while (filled < size) {
    View from = box;
    View to = box;
    to.advance(d, filled, element);
    from.sizes[d] = to.sizes[d] = filled < size - filled ? filled : size - filled;
    copy_view(to, from, element);
    filled += to.sizes[d];
  }
}

Status repeat(KernelContext&, const Tensor& self, IntList repeats, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "repeat: out must have the dtype of self");
  View source = view_of(self);
  TAPER_REQUIRE(repeats.size() >= source.rank && repeats.size() <= kMaxRank,
                Error::kInvalidArgument, "repeat: there must be one repeat for each dimension");
  while (source.rank < repeats.size()) source.insert_dim(0, 1, 0);
  int64_t sizes[kMaxRank] = {};
  for (size_t d = 0; d < source.rank; ++d) {
    TAPER_REQUIRE(repeats[d] >= 0 && checked_mul(repeats[d], source.sizes[d], &sizes[d]),
                  Error::kInvalidArgument, "repeat: a repeat is negative or too large");
  }
  TAPER_TRY(resize_out(out, sizes, source.rank));
  if (out.numel() == 0) return {};
  const size_t element = element_size(self.scalar_type());
  View box = view_of(out);
  for (size_t d = 0; d < box.rank; ++d) box.sizes[d] = source.sizes[d];
  copy_view(box, source, element);
  for (size_t d = box.rank; d-- > 0;) {
    box.sizes[d] = sizes[d];
    double_along(box, d, source.sizes[d], element);
  }
  return {};
}

Status repeat_interleave(KernelContext&, const Tensor& repeats, std::optional<int64_t> output_size,
                         Tensor& out) {
  const ScalarType type = repeats.scalar_type();
  TAPER_REQUIRE(is_index_type(type) && is_index_type(out.scalar_type()), Error::kInvalidType,
                "repeat_interleave: repeats and out must be int32 or int64");
  TAPER_REQUIRE(repeats.dim() == 1, Error::kInvalidArgument,
                "repeat_interleave: repeats must be a vector");
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t count = read_index(element(repeats.const_data(), i, type), type);
    TAPER_REQUIRE(count >= 0 && checked_add(total, count, &total), Error::kInvalidArgument,
                  "repeat_interleave: a repeat is negative or too large");
  }
  TAPER_REQUIRE(output_size.value_or(total) == total, Error::kInvalidArgument,
                "repeat_interleave: the repeats do not add up to output_size");
  TAPER_TRY(resize_out(out, &total, 1));
  int64_t written = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    int64_t count = read_index(element(repeats.const_data(), i, type), type);
    for (; count > 0 && written < total; --count, ++written) {
      store_one(i, element(out.mutable_data(), written, out.scalar_type()), out.scalar_type());
    }
  }
  return {};
}

}  // namespace

extern const Kernel kRepeatOut;
const Kernel kRepeatOut = make_kernel<repeat>("aten::repeat.out");
extern const Kernel kRepeatInterleaveTensorOut;
const Kernel kRepeatInterleaveTensorOut =
    make_kernel<repeat_interleave>("aten::repeat_interleave.Tensor_out");

}  // namespace taper::portable
