// aten::max_pool2d_with_indices.out: the largest element of each window, and its index in its
// plane. NaN counts as the largest; of equal elements the first is found.
//
//   Types  floating point and integers; indices are int64.

#include <limits>

#include "kernels_portable/cores/pool.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

template <typename T>
class MaxLanes final : public PoolLanes<T> {
 public:
  MaxLanes(Tensor& out, Tensor& indices)
      : out_(out), indices_(indices), store_(storer<T>(out.scalar_type())) {}

  void begin(int64_t, int64_t, int64_t, int64_t count) override {
    count_ = count;
    for (int64_t i = 0; i < count; ++i) {
      best_[i] = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                      : std::numeric_limits<T>::lowest();
      where_[i] = -1;
    }
  }
  void add(int64_t first, int64_t count, const T* values, int64_t index, int64_t step) override {
    for (int64_t i = 0; i < count; ++i) {
      const T value = values[i];
      const bool better = value > best_[first + i] || value != value || where_[first + i] < 0;
      best_[first + i] = better ? value : best_[first + i];
      where_[first + i] = better ? static_cast<int32_t>(index + i * step) : where_[first + i];
    }
  }
  void end(int64_t offset, int64_t stride) override {
    store_(best_, count_, element(out_.mutable_data(), offset, out_.scalar_type()), stride);
    int64_t* to = indices_.mutable_data_ptr<int64_t>() + offset;
    for (int64_t i = 0; i < count_; ++i) to[i * stride] = where_[i] < 0 ? 0 : where_[i];
  }

 private:
  Tensor& out_;
  Tensor& indices_;
  StoreFunction<T> store_;
  int64_t count_ = 0;
  T best_[kPoolLanes];
  int32_t where_[kPoolLanes];  // int32_t suffices: it is the type of the stride of a plane.
};

Status max_pool2d_with_indices_out(KernelContext&, const Tensor& self, IntList kernel_size,
                                   IntList stride, IntList padding, IntList dilation,
                                   bool ceil_mode, Tensor& out, Tensor& indices) {
  TAPER_REQUIRE(is_computable(self.scalar_type()) && out.scalar_type() == self.scalar_type(),
                Error::kInvalidType,
                "max_pool2d: self must be floating point or integers, and out of the same dtype");
  TAPER_REQUIRE(indices.scalar_type() == ScalarType::kLong, Error::kInvalidType,
                "max_pool2d: indices must be int64");
  Pooling pooling;
  int64_t sizes[4];
  TAPER_TRY(
      describe_pooling(self, {kernel_size, stride, padding, dilation, ceil_mode}, &pooling, sizes));
  const size_t rank = static_cast<size_t>(self.dim());
  TAPER_TRY(resize_out(out, sizes, rank));
  TAPER_TRY(resize_out(indices, sizes, rank));
  for (size_t d = 0; d < rank; ++d) {
    TAPER_REQUIRE(out.strides()[d] == indices.strides()[d], Error::kNotSupported,
                  "max_pool2d: out and indices must share one dim order");
  }
  pooling.out = images_of(out);
  return with_compute_type(self.scalar_type(), [&](auto zero) -> Status {
    MaxLanes<decltype(zero)> lanes(out, indices);
    pool(pooling, lanes);
    return {};
  });
}

}  // namespace

extern const Kernel kMaxPool2dWithIndicesOut;
const Kernel kMaxPool2dWithIndicesOut =
    make_kernel<max_pool2d_with_indices_out>("aten::max_pool2d_with_indices.out");

}  // namespace taper::portable
