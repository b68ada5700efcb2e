// aten::_cdist_forward.out: the distances of all pairs of rows of x1 [.., m, k] and x2 [.., n, k];
// leading dimensions broadcast. out is [.., m, n].
//
// NaN propagates, except for p = inf, as in PyTorch. compute_mode, which in PyTorch selects between
// algorithms, is ignored.

#include "kernels_portable/cores/distance.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/strided.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

// The strides of `tensor` in the first `rank` dimensions of the output, 0 where it is broadcast.
void batch_strides(const Tensor& tensor, size_t rank, int64_t* strides) {
  const size_t own = static_cast<size_t>(tensor.dim()) - 2;
  for (size_t d = 0; d < rank; ++d) {
    const bool missing = d < rank - own;
    const size_t from = missing ? 0 : d - (rank - own);
    strides[d] = missing || tensor.sizes()[from] == 1 ? 0 : tensor.strides()[from];
  }
}

template <typename T>
void measure(const Tensor& x1, const Tensor& x2, double p, const Tensor& out) {
  const ScalarType type = out.scalar_type();
  const size_t rank = static_cast<size_t>(out.dim());
  const Distance<T> distance(p, type, x1.size(x1.dim() - 1), LargestNaN::kIgnored);
  const StoreFunction<T> store = storer<T>(type);
  int64_t of1[kMaxRank], of2[kMaxRank];
  batch_strides(x1, rank - 2, of1);
  batch_strides(x2, rank - 2, of2);
  const Span<const int32_t> s1 = x1.strides().subspan(static_cast<size_t>(x1.dim()) - 2, 2);
  const Span<const int32_t> s2 = x2.strides().subspan(static_cast<size_t>(x2.dim()) - 2, 2);
  LoopNest nest;
  nest.operands = 3;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t stride1 = d + 2 < rank ? of1[d] : d + 2 == rank ? s1[0] : 0;
    const int64_t stride2 = d + 2 < rank ? of2[d] : d + 1 == rank ? s2[0] : 0;
    const int64_t strides[] = {out.strides()[d], stride1, stride2};
    nest.add_loop(out.sizes()[d], strides);
  }
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first1 = offsets[1] + i * nest.inner_stride(1);
      const int64_t first2 = offsets[2] + i * nest.inner_stride(2);
      const T value = distance(element(x1.const_data(), first1, type), s1[1],
                               element(x2.const_data(), first2, type), s2[1]);
      store(&value, 1, element(out.mutable_data(), offsets[0] + i * nest.inner_stride(0), type), 1);
    }
  });
}

Status cdist_forward_out(KernelContext&, const Tensor& x1, const Tensor& x2, double p,
                         std::optional<int64_t>, Tensor& out) {
  const ScalarType type = x1.scalar_type();
  TAPER_REQUIRE(is_floating(type) && x2.scalar_type() == type && out.scalar_type() == type,
                Error::kInvalidType, "cdist: tensors must share one floating dtype");
  TAPER_REQUIRE(x1.dim() >= 2 && x2.dim() >= 2, Error::kInvalidArgument,
                "cdist: x1 and x2 must have at least two dimensions");
  const size_t rank1 = static_cast<size_t>(x1.dim());
  const size_t rank2 = static_cast<size_t>(x2.dim());
  TAPER_REQUIRE(x1.sizes()[rank1 - 1] == x2.sizes()[rank2 - 1], Error::kInvalidArgument,
                "cdist: rows of x1 and x2 have different lengths");
  TAPER_REQUIRE(p >= 0, Error::kInvalidArgument, "cdist: p must not be negative");
  Sizes sizes;
  TAPER_TRY(
      broadcast_sizes(x1.sizes().subspan(0, rank1 - 2), x2.sizes().subspan(0, rank2 - 2), &sizes));
  sizes.push(x1.sizes()[rank1 - 2]);
  sizes.push(x2.sizes()[rank2 - 2]);
  TAPER_TRY(out.resize(sizes));
  return with_float_type(type, [&](auto zero) -> Status {
    measure<decltype(zero)>(x1, x2, p, out);
    return {};
  });
}

}  // namespace

extern const Kernel kCdistForwardOut;
const Kernel kCdistForwardOut = make_kernel<cdist_forward_out>("aten::_cdist_forward.out");

}  // namespace taper::portable
