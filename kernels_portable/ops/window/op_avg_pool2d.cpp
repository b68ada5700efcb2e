// aten::avg_pool2d.out: the mean of each window.
//
//   Divisor  divisor_override, or the number of elements of the window. The padding counts if
//            count_include_pad, but never what is beyond it, where ceil_mode may reach.
//   Types    floating point, and int64, whose quotient is rounded toward zero.

#include <algorithm>

#include "kernels_portable/cores/pool.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

template <typename T>
class MeanLanes final : public PoolLanes<T> {
 public:
  MeanLanes(const Pooling& pooling, bool count_padding, int64_t divisor)
      : pooling_(pooling),
        count_padding_(count_padding),
        divisor_(divisor),
        store_(storer<T>(pooling.out.type)) {}

  void begin(int64_t y, int64_t x, int64_t step, int64_t count) override {
    y_ = y;
    x_ = x;
    step_ = step;
    count_ = count;
    std::fill_n(sums_, count, T{});
  }
  void add(int64_t first, int64_t count, const T* values, int64_t, int64_t) override {
    T* sums = sums_ + first;
    for (int64_t i = 0; i < count; ++i) sums[i] = wrap_add(sums[i], values[i]);
  }
  void end(int64_t offset, int64_t stride) override {
    for (int64_t i = 0; i < count_; ++i) sums_[i] = quotient(sums_[i], divisor(x_ + i * step_));
    store_(sums_, count_, element(pooling_.out.data, offset, pooling_.out.type), stride);
  }

 private:
  // The divisor for column x; 0 if the window does not overlap the input.
  int64_t divisor(int64_t x) const {
    const Window &rows = pooling_.rows, &columns = pooling_.columns;
    if (rows.extent(y_, false) <= 0 || columns.extent(x, false) <= 0) return 0;
    if (divisor_ != 0) return divisor_;
    return rows.extent(y_, count_padding_) * columns.extent(x, count_padding_);
  }
  static T quotient(T sum, int64_t divisor) {
    if (divisor == 0) return T{};
    if constexpr (std::is_integral_v<T>) return div_trunc(sum, divisor);
    return sum / static_cast<T>(divisor);
  }

  const Pooling& pooling_;
  const bool count_padding_;
  const int64_t divisor_;
  const StoreFunction<T> store_;
  int64_t y_ = 0, x_ = 0, step_ = 0, count_ = 0;
  T sums_[kPoolLanes];
};

Status avg_pool2d_out(KernelContext&, const Tensor& self, IntList kernel_size, IntList stride,
                      IntList padding, bool ceil_mode, bool count_include_pad,
                      std::optional<int64_t> divisor_override, Tensor& out) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE((is_floating(type) || type == ScalarType::kLong) && out.scalar_type() == type,
                Error::kInvalidType,
                "avg_pool2d: self must be floating point or int64, and out of the same dtype");
  TAPER_REQUIRE(!divisor_override.has_value() || *divisor_override != 0, Error::kInvalidArgument,
                "avg_pool2d: divisor_override is zero");
  Pooling pooling;
  int64_t sizes[4];
  const int64_t one[] = {1};
  TAPER_TRY(
      describe_pooling(self, {kernel_size, stride, padding, one, ceil_mode}, &pooling, sizes));
  TAPER_TRY(resize_out(out, sizes, static_cast<size_t>(self.dim())));
  pooling.out = images_of(out);
  return with_compute_type(type, [&](auto zero) -> Status {
    MeanLanes<decltype(zero)> lanes(pooling, count_include_pad, divisor_override.value_or(0));
    pool(pooling, lanes);
    return {};
  });
}

}  // namespace

extern const Kernel kAvgPool2dOut;
const Kernel kAvgPool2dOut = make_kernel<avg_pool2d_out>("aten::avg_pool2d.out");

}  // namespace taper::portable
