// aten::arange.out and .start_out: start, start + step, ... up to but not including end.
//
//   Types  floats are computed in double and rounded once. For integers, start and step are
//          truncated to integers; except for int64, the number of values is computed before that.

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr int64_t kChunk = 128;

// The number of values start, start + step, ... before end.
Status count_steps(int64_t start, int64_t end, int64_t step, int64_t* count) {
  TAPER_REQUIRE(step != 0 && (start == end || (start < end) == (step > 0)), Error::kInvalidArgument,
                "arange: step must lead from start to end");
  const uint64_t low = static_cast<uint64_t>(step > 0 ? start : end);
  const uint64_t high = static_cast<uint64_t>(step > 0 ? end : start);
  const uint64_t stride = static_cast<uint64_t>(step > 0 ? step : wrap_neg(step));
  const uint64_t steps = high == low ? 0 : (high - low - 1) / stride + 1;
  TAPER_REQUIRE(steps <= INT32_MAX, Error::kInvalidArgument, "arange: too many elements");
  *count = static_cast<int64_t>(steps);
  return {};
}

Status count_steps(double start, double end, double step, int64_t* count) {
  TAPER_REQUIRE(step != 0 && (start == end || (start < end) == (step > 0)), Error::kInvalidArgument,
                "arange: step must lead from start to end");
  const double steps = std::ceil((end - start) / step);
  TAPER_REQUIRE(steps >= 0 && steps <= INT32_MAX, Error::kInvalidArgument,
                "arange: a bound is not finite, or too many elements");
  *count = static_cast<int64_t>(steps);
  return {};
}

template <typename C>
void write_steps(C start, C step, int64_t count, Tensor& out) {
  const ScalarType type = out.scalar_type();
  const StoreFunction<C> store = storer<C>(type);
  C values[kChunk];
  for (int64_t first = 0; first < count; first += kChunk) {
    const int64_t length = count - first < kChunk ? count - first : kChunk;
    for (int64_t i = 0; i < length; ++i) {
      values[i] = wrap_add(start, wrap_mul(static_cast<C>(first + i), step));
    }
    store(values, length, element(out.mutable_data(), first, type), 1);
  }
}

Status arange_start(KernelContext&, Scalar start, Scalar end, Scalar step, Tensor& out) {
  const ScalarType type = out.scalar_type();
  const bool whole = !start.is_double() && !end.is_double() && !step.is_double();
  int64_t count = 0;
  TAPER_TRY(count_steps(start.to_double(), end.to_double(), step.to_double(), &count));
  if (whole || type == ScalarType::kLong) {
    TAPER_TRY(count_steps(start.to_int(), end.to_int(), step.to_int(), &count));
  }
  TAPER_TRY(resize_out(out, &count, 1));
  if (whole || !is_floating(type)) {
    write_steps(start.to_int(), step.to_int(), count, out);
  } else {
    write_steps(start.to_double(), step.to_double(), count, out);
  }
  return {};
}

Status arange(KernelContext& context, Scalar end, Tensor& out) {
  return arange_start(context, int64_t{0}, end, int64_t{1}, out);
}

}  // namespace

extern const Kernel kArangeOut;
const Kernel kArangeOut = make_kernel<arange>("aten::arange.out");
extern const Kernel kArangeStartOut;
const Kernel kArangeStartOut = make_kernel<arange_start>("aten::arange.start_out");

}  // namespace taper::portable
