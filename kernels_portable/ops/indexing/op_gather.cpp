// aten::gather.out: out[i][j] = self[index[i][j]][j], for dim 0 of a matrix.
//
//   Sizes    out has the sizes of index, which is no larger than self except along dim.
//   Indices  int32 or int64; not negative.

#include "kernels_portable/cores/scatter.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

template <typename T>
void take(const int64_t* picked, const void* from, int64_t stride, int64_t count, void* to) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) target[i * stride] = source[picked[i]];
}

// The function that gathers elements of `bytes` bytes.
auto taker(size_t bytes) {
  switch (bytes) {
    case 1:
      return take<uint8_t>;
    case 2:
      return take<uint16_t>;
    case 4:
      return take<uint32_t>;
    default:
      return take<uint64_t>;
  }
}

Status gather(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, bool,
              Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "gather: out must have the dtype of self");
  TAPER_TRY(out.resize(index.sizes()));
  PickLoops loops;
  TAPER_TRY(loops.init(self, dim, index, view_of(out)));
  const ScalarType type = self.scalar_type();
  const auto take_chunk = taker(element_size(type));
  return loops.for_each_chunk([&](const int64_t* picked, int64_t offset, int64_t stride,
                                  int64_t count) {
    take_chunk(picked, self.const_data(), stride, count, element(out.mutable_data(), offset, type));
  });
}

}  // namespace

extern const Kernel kGatherOut;
const Kernel kGatherOut = make_kernel<gather>("aten::gather.out");

}  // namespace taper::portable
