// Whole numbers, and comparisons, in plain loops (plain_loops.h).

#include "kernels_optimized/ops/integers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/pairs.h"
#include "kernels_optimized/engine/plain_loops.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/integers.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_INTEGERS_OPS
#define TAPER_INTEGERS_OPS
namespace taper::optimized {
namespace {

struct Operands {
  const void* a;
  const void* b;
  void* out;
  int64_t count;
  const void *low, *high;  // kClamp: the bounds, instead of `b`.
  bool negated;            // kEqual: whether to compute the opposite.
};
using Loop = void (*)(const Operands&);

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The rounded quotient is exact in a float that has twice as many digits, or some more: it is
// farther from the next whole number than rounding moves it.
template <typename T>
HWY_INLINE T floor_divide(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return portable::div_floor(a, b);
  } else if constexpr (sizeof(T) == 4) {
    const double by = b == -1 ? 1 : b;  // The quotient of -1 may be too large.
    const auto quotient = static_cast<int32_t>(std::floor(a / by));
    return b == -1 ? static_cast<T>(0u - static_cast<uint32_t>(a)) : quotient;
  } else {
    return static_cast<T>(
        static_cast<int32_t>(std::floor(static_cast<float>(a) / static_cast<float>(b))));
  }
}

// Unsigned arithmetic wraps around. A shift by less than 0, or by the width or more, leaves none of
// the bits.
template <Pairwise kOp, typename T>
HWY_INLINE T apply_integers(T a, T b) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr U kWidth = 8 * sizeof(T);
  const Wide x = static_cast<U>(a), y = static_cast<U>(b);
  if constexpr (kOp == Pairwise::kAdd) return static_cast<T>(x + y);
  if constexpr (kOp == Pairwise::kSub) return static_cast<T>(x - y);
  if constexpr (kOp == Pairwise::kMul) return static_cast<T>(x * y);
  if constexpr (kOp == Pairwise::kAnd) return a & b;
  if constexpr (kOp == Pairwise::kOr) return a | b;
  if constexpr (kOp == Pairwise::kXor) return a ^ b;
  if constexpr (kOp == Pairwise::kLeftShift) {
    if constexpr (sizeof(T) == 1) {  // No vectors shift bytes by amounts that differ.
      T r = a;
      r = (b & 1) != 0 ? static_cast<T>(r << 1) : r;
      r = (b & 2) != 0 ? static_cast<T>(r << 2) : r;
      r = (b & 4) != 0 ? static_cast<T>(r << 4) : r;
      return b < kWidth ? r : T{0};
    }
    return y < kWidth ? static_cast<T>(x << (y & (kWidth - 1))) : T{0};
  }
  if constexpr (kOp == Pairwise::kRightShift) {
    const T none = a < 0 ? static_cast<T>(-1) : T{0};
    return y < kWidth ? static_cast<T>(a >> (y & (kWidth - 1))) : none;
  }
  if constexpr (kOp == Pairwise::kMaximum) return a > b ? a : b;
  if constexpr (kOp == Pairwise::kMinimum) return a < b ? a : b;
  if constexpr (kOp == Pairwise::kAbs) return a < 0 ? static_cast<T>(0 - x) : a;
  if constexpr (kOp == Pairwise::kFloorDivide) return floor_divide(a, b);
}

template <Pairwise kOp, typename T>
HWY_INLINE auto apply(T a, T b, T low, T high, bool negated) {
  if constexpr (kOp == Pairwise::kLess) {
    return static_cast<uint8_t>(a < b);
  } else if constexpr (kOp == Pairwise::kLessEqual) {
    return static_cast<uint8_t>(a <= b);
  } else if constexpr (kOp == Pairwise::kEqual) {
    return static_cast<uint8_t>((a == b) != negated);
  } else if constexpr (kOp == Pairwise::kClamp) {
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  } else {
    return apply_integers<kOp, T>(a, b);
  }
}

template <Pairwise kOp, typename T>
void run(const Operands& operands) {
  using Result = decltype(apply<kOp, T>(T{1}, T{1}, T{1}, T{1}, false));
  const T* a = static_cast<const T*>(operands.a);
  const T* b = static_cast<const T*>(operands.b);
  auto* out = static_cast<Result*>(operands.out);
  T low = 0, high = 0;
  if constexpr (kOp == Pairwise::kClamp) {
    low = *static_cast<const T*>(operands.low);
    high = *static_cast<const T*>(operands.high);
  }
  const int64_t count = operands.count;
  const bool negated = operands.negated;
  int64_t i = 0;
  for (; i + kPlainStep <= count; i += kPlainStep) {
    TAPER_ROLLED_LOOP
    for (int64_t k = i; k < i + kPlainStep; ++k)
      out[k] = apply<kOp, T>(a[k], b[k], low, high, negated);
  }
  for (; i < count; ++i) {
    TAPER_FEW_ELEMENTS;
    out[i] = apply<kOp, T>(a[i], b[i], low, high, negated);
  }
}

// The operators that do not look at the sign, on unsigned numbers of each width.
template <typename T>
Loop find_unsigned(Pairwise op) {
  switch (op) {
    case Pairwise::kAdd:
      return run<Pairwise::kAdd, T>;
    case Pairwise::kSub:
      return run<Pairwise::kSub, T>;
    case Pairwise::kMul:
      return run<Pairwise::kMul, T>;
    case Pairwise::kAnd:
      return run<Pairwise::kAnd, T>;
    case Pairwise::kOr:
      return run<Pairwise::kOr, T>;
    case Pairwise::kXor:
      return run<Pairwise::kXor, T>;
    case Pairwise::kLeftShift:
      return run<Pairwise::kLeftShift, T>;
    case Pairwise::kEqual:
    case Pairwise::kUnequal:
      return run<Pairwise::kEqual, T>;
    default:
      return nullptr;
  }
}

// The others, on whole numbers.
template <typename T>
Loop find_signed(Pairwise op) {
  switch (op) {
    case Pairwise::kRightShift:
      return run<Pairwise::kRightShift, T>;
    case Pairwise::kMaximum:
      return run<Pairwise::kMaximum, T>;
    case Pairwise::kMinimum:
      return run<Pairwise::kMinimum, T>;
    case Pairwise::kClamp:
      return run<Pairwise::kClamp, T>;
    case Pairwise::kAbs:
      return run<Pairwise::kAbs, T>;
    case Pairwise::kFloorDivide:
      return run<Pairwise::kFloorDivide, T>;
    case Pairwise::kLess:
      return run<Pairwise::kLess, T>;
    case Pairwise::kLessEqual:
      return run<Pairwise::kLessEqual, T>;
    default:
      return find_unsigned<std::make_unsigned_t<T>>(op);
  }
}

template <typename T>
Loop find_floats(Pairwise op) {
  switch (op) {
    case Pairwise::kLess:
      return run<Pairwise::kLess, T>;
    case Pairwise::kLessEqual:
      return run<Pairwise::kLessEqual, T>;
    case Pairwise::kEqual:
    case Pairwise::kUnequal:
      return run<Pairwise::kEqual, T>;
    default:
      return nullptr;
  }
}

}  // namespace

// Null if the operator does not take the dtype.
Loop pairwise_form(Pairwise op, ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
      return find_signed<uint8_t>(op);
    case ScalarType::kChar:
      return find_signed<int8_t>(op);
    case ScalarType::kShort:
      return find_signed<int16_t>(op);
    case ScalarType::kInt:
      return find_signed<int32_t>(op);
    case ScalarType::kLong:
      return find_signed<int64_t>(op);
    case ScalarType::kFloat:
      return find_floats<float>(op);
    case ScalarType::kDouble:
      return find_floats<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = Loop (*)(Pairwise, ScalarType);

constexpr int64_t kLine = 64;  // As many elements as bytes in a cache line.

Loop find_loop(Pairwise op, ScalarType type) {
  const Form form = TAPER_CHOOSE(Form, pairwise_form);
  return form != nullptr ? form(op, type) : nullptr;
}

constexpr ScalarType result_of(Pairwise op, ScalarType type) {
  return op >= Pairwise::kLess ? ScalarType::kBool : type;
}

// Runs over `count` elements of two operands, not both numbers.
struct Runner {
  Loop loop;
  int64_t element;  // In bytes.
  int64_t result;
  bool negated;
  const void* low = nullptr;
  const void* high = nullptr;

  __attribute__((noinline)) void operator()(Line a, Line b, char* out, int64_t count) const {
    if (a.step != 0 && b.step != 0) return loop({a.data, b.data, out, count, low, high, negated});
    Repeated repeated;
    const int64_t some = std::min(count, Repeated::kCount);
    Line& number = a.step == 0 ? a : b;
    number.data = repeated.fill(number.data, element, some);
    for (int64_t i = 0; i < count; i += some) {
      loop({a.data, b.data, out, std::min(some, count - i), low, high, negated});
      a.data += a.step * some * element, b.data += b.step * some * element;
      out += some * result;
    }
  }
};

Runner runner_of(Pairwise op, ScalarType type) {
  return {find_loop(op, type), static_cast<int64_t>(element_size(type)),
          static_cast<int64_t>(element_size(result_of(op, type))), op == Pairwise::kUnequal};
}

template <typename T>
bool holds_zero(const void* data, int64_t count) {
  const auto* x = static_cast<const T*>(data);
  T zeros = 0;
  for (int64_t i = 0; i < count; ++i) zeros |= static_cast<T>(x[i] == 0);
  return zeros != 0;
}

bool holds_zero(const Tensor& x) {
  switch (element_size(x.scalar_type())) {
    case 1:
      return holds_zero<uint8_t>(x.const_data(), x.numel());
    case 2:
      return holds_zero<uint16_t>(x.const_data(), x.numel());
    case 4:
      return holds_zero<uint32_t>(x.const_data(), x.numel());
    default:
      return holds_zero<uint64_t>(x.const_data(), x.numel());
  }
}

// A number as an element of `type`. Returns false if the operator would compute in another dtype.
bool to_element(Scalar number, ScalarType type, uint64_t* element) {
  if (type == ScalarType::kFloat) {
    portable::store_one<float>(as_float(number), element, type);
  } else if (type == ScalarType::kDouble) {
    portable::store_one<double>(number.to_double(), element, type);
  } else if (!number.is_double()) {
    portable::store_one<int64_t>(number.to_int(), element, type);
  } else {
    return false;
  }
  return true;
}

// A bound of clamp. One beyond the dtype wraps around in unsigned dtypes only.
bool to_bound(Scalar bound, ScalarType type, uint64_t* element) {
  return to_element(bound, type, element) &&
         (type == ScalarType::kByte ||
          portable::load_one<int64_t>(element, type) == bound.to_int());
}

// Calls run(first, count) for parts of a tensor and a result of its layout. False if it is not so.
template <typename Run>
bool for_each_part(const KernelContext& context, const Tensor& self, Tensor& out, const Run& run) {
  if (!portable::same_dim_order(self, out) || !out.resize(self.sizes()).ok()) return false;
  for_parts(context.pool(), self.numel(), 1, kLine,
            [&](int64_t begin, int64_t end) { run(begin, end - begin); });
  return true;
}

}  // namespace

bool pairwise(const KernelContext& context, Pairwise op, const Tensor& a, const Tensor& b,
              Tensor& out) {
  const ScalarType type = a.scalar_type();
  const Runner run = runner_of(op, type);
  portable::LoopNest nest;
  if (run.loop == nullptr || b.scalar_type() != type || out.scalar_type() != result_of(op, type) ||
      (op == Pairwise::kFloorDivide && holds_zero(b)) || !nest_of_pair(a, b, out, &nest)) {
    return false;
  }
  const auto* x = static_cast<const char*>(a.const_data());
  const auto* y = static_cast<const char*>(b.const_data());
  auto* to = static_cast<char*>(out.mutable_data());
  const int64_t x_step = nest.inner_stride(1), y_step = nest.inner_stride(2);
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    for_parts(context.pool(), count, 1, kLine, [&](int64_t begin, int64_t end) {
      run({x + (offsets[1] + begin * x_step) * run.element, x_step},
          {y + (offsets[2] + begin * y_step) * run.element, y_step},
          to + (offsets[0] + begin) * run.result, end - begin);
    });
  });
  return true;
}

namespace {

// Whether bools equal 0 or 1, or do not: whether their bytes equal 0, of which any other is true.
bool compares_bools(ScalarType type, Scalar number, Pairwise* op) {
  const bool is_equality = *op == Pairwise::kEqual || *op == Pairwise::kUnequal;
  if (type != ScalarType::kBool || !is_equality || number.is_double()) return false;
  if (number.to_int() == 1) *op = *op == Pairwise::kEqual ? Pairwise::kUnequal : Pairwise::kEqual;
  return number.to_int() == 0 || number.to_int() == 1;
}

// A tensor and a number; which of them is the first operand, `swapped` says.
bool with_number(const KernelContext& context, Pairwise op, const Tensor& a, Scalar b, bool swapped,
                 Tensor& out) {
  const ScalarType type = a.scalar_type();
  uint64_t number = 0;
  const bool has_bools = compares_bools(type, b, &op);
  if (!has_bools && !to_element(b, type, &number)) return false;
  const Runner run = runner_of(op, has_bools ? ScalarType::kByte : type);
  if (run.loop == nullptr || out.scalar_type() != result_of(op, type) ||
      (op == Pairwise::kFloorDivide && number == 0)) {
    return false;
  }
  const auto* x = static_cast<const char*>(a.const_data());
  auto* to = static_cast<char*>(out.mutable_data());
  return for_each_part(context, a, out, [&](int64_t first, int64_t count) {
    const Line left = {x + first * run.element, 1};
    const Line right = {reinterpret_cast<const char*>(&number), 0};
    run(swapped ? right : left, swapped ? left : right, to + first * run.result, count);
  });
}

}  // namespace

bool pairwise(const KernelContext& context, Pairwise op, const Tensor& a, Scalar b, Tensor& out) {
  return with_number(context, op, a, b, false, out);
}
bool pairwise(const KernelContext& context, Pairwise op, Scalar a, const Tensor& b, Tensor& out) {
  return with_number(context, op, b, a, true, out);
}

bool clamp_integers(const KernelContext& context, const Tensor& self, std::optional<Scalar> low,
                    std::optional<Scalar> high, Tensor& out) {
  const ScalarType type = self.scalar_type();
  uint64_t least = 0, most = 0;
  if (!low.has_value() || !high.has_value()) {
    const Scalar bound = low.has_value() ? *low : high.has_value() ? *high : Scalar(0.0);
    return to_bound(bound, type, &least) &&
           pairwise(context, low.has_value() ? Pairwise::kMaximum : Pairwise::kMinimum, self, bound,
                    out);
  }
  Runner run = runner_of(Pairwise::kClamp, type);
  run.low = &least, run.high = &most;
  if (run.loop == nullptr || out.scalar_type() != type || !to_bound(*low, type, &least) ||
      !to_bound(*high, type, &most)) {
    return false;
  }
  const auto* x = static_cast<const char*>(self.const_data());
  auto* to = static_cast<char*>(out.mutable_data());
  return for_each_part(context, self, out, [&](int64_t first, int64_t count) {
    const Line part = {x + first * run.element, 1};
    run(part, part, to + first * run.element, count);
  });
}

namespace {

template <Pairwise kOp>
bool fast_pair(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return pairwise(context, kOp, self, other, out);
}
template <Pairwise kOp>
bool fast_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return pairwise(context, kOp, self, other, out);
}
// Greater is less with the operands exchanged.
template <Pairwise kOp>
bool fast_swapped(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  return pairwise(context, kOp, other, self, out);
}
template <Pairwise kOp>
bool fast_swapped_number(KernelContext& context, const Tensor& self, Scalar other, Tensor& out) {
  return pairwise(context, kOp, other, self, out);
}
// NaN alone is not equal to itself.
bool fast_isnan(KernelContext& context, const Tensor& self, Tensor& out) {
  return is_floating(self.scalar_type()) && pairwise(context, Pairwise::kUnequal, self, self, out);
}

}  // namespace

extern const Kernel kMaximumOut, kMinimumOut, kIsnanOut, kBitwiseLeftShiftTensorOut,
    kBitwiseLeftShiftTensorScalarOut, kBitwiseRightShiftTensorOut,
    kBitwiseRightShiftTensorScalarOut, kBitwiseAndScalarOut, kBitwiseOrScalarOut,
    kBitwiseXorScalarOut, kEqTensorOut, kEqScalarOut, kNeTensorOut, kNeScalarOut, kLtTensorOut,
    kLtScalarOut, kLeTensorOut, kLeScalarOut, kGtTensorOut, kGtScalarOut, kGeTensorOut,
    kGeScalarOut;
const Kernel kMaximumOut =
    overlay<fast_pair<Pairwise::kMaximum>, portable::kMaximumOut>("aten::maximum.out");
const Kernel kMinimumOut =
    overlay<fast_pair<Pairwise::kMinimum>, portable::kMinimumOut>("aten::minimum.out");
const Kernel kIsnanOut = overlay<fast_isnan, portable::kIsnanOut>("aten::isnan.out");
const Kernel kBitwiseLeftShiftTensorOut =
    overlay<fast_pair<Pairwise::kLeftShift>, portable::kBitwiseLeftShiftTensorOut>(
        "aten::bitwise_left_shift.Tensor_out");
const Kernel kBitwiseLeftShiftTensorScalarOut =
    overlay<fast_number<Pairwise::kLeftShift>, portable::kBitwiseLeftShiftTensorScalarOut>(
        "aten::bitwise_left_shift.Tensor_Scalar_out");
const Kernel kBitwiseRightShiftTensorOut =
    overlay<fast_pair<Pairwise::kRightShift>, portable::kBitwiseRightShiftTensorOut>(
        "aten::bitwise_right_shift.Tensor_out");
const Kernel kBitwiseRightShiftTensorScalarOut =
    overlay<fast_number<Pairwise::kRightShift>, portable::kBitwiseRightShiftTensorScalarOut>(
        "aten::bitwise_right_shift.Tensor_Scalar_out");
const Kernel kBitwiseAndScalarOut =
    overlay<fast_number<Pairwise::kAnd>, portable::kBitwiseAndScalarOut>(
        "aten::bitwise_and.Scalar_out");
const Kernel kBitwiseOrScalarOut =
    overlay<fast_number<Pairwise::kOr>, portable::kBitwiseOrScalarOut>(
        "aten::bitwise_or.Scalar_out");
const Kernel kBitwiseXorScalarOut =
    overlay<fast_number<Pairwise::kXor>, portable::kBitwiseXorScalarOut>(
        "aten::bitwise_xor.Scalar_out");
const Kernel kEqTensorOut =
    overlay<fast_pair<Pairwise::kEqual>, portable::kEqTensorOut>("aten::eq.Tensor_out");
const Kernel kEqScalarOut =
    overlay<fast_number<Pairwise::kEqual>, portable::kEqScalarOut>("aten::eq.Scalar_out");
const Kernel kNeTensorOut =
    overlay<fast_pair<Pairwise::kUnequal>, portable::kNeTensorOut>("aten::ne.Tensor_out");
const Kernel kNeScalarOut =
    overlay<fast_number<Pairwise::kUnequal>, portable::kNeScalarOut>("aten::ne.Scalar_out");
const Kernel kLtTensorOut =
    overlay<fast_pair<Pairwise::kLess>, portable::kLtTensorOut>("aten::lt.Tensor_out");
const Kernel kLtScalarOut =
    overlay<fast_number<Pairwise::kLess>, portable::kLtScalarOut>("aten::lt.Scalar_out");
const Kernel kLeTensorOut =
    overlay<fast_pair<Pairwise::kLessEqual>, portable::kLeTensorOut>("aten::le.Tensor_out");
const Kernel kLeScalarOut =
    overlay<fast_number<Pairwise::kLessEqual>, portable::kLeScalarOut>("aten::le.Scalar_out");
const Kernel kGtTensorOut =
    overlay<fast_swapped<Pairwise::kLess>, portable::kGtTensorOut>("aten::gt.Tensor_out");
const Kernel kGtScalarOut =
    overlay<fast_swapped_number<Pairwise::kLess>, portable::kGtScalarOut>("aten::gt.Scalar_out");
const Kernel kGeTensorOut =
    overlay<fast_swapped<Pairwise::kLessEqual>, portable::kGeTensorOut>("aten::ge.Tensor_out");
const Kernel kGeScalarOut =
    overlay<fast_swapped_number<Pairwise::kLessEqual>, portable::kGeScalarOut>(
        "aten::ge.Scalar_out");
}  // namespace taper::optimized
#endif  // HWY_ONCE
