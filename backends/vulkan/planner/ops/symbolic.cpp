// Arithmetic with sizes and with numbers that inputs hold. It is done when a plan is made; the
// device sees nothing of it.

#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {
namespace {

enum : int { kAdd, kSub, kMul, kFloorDiv, kLess, kGreater, kLessOrEqual, kGreaterOrEqual, kEqual };

void plan_arithmetic(Call& call, int kind) {
  const int64_t a = call.integer(0), b = call.integer(1);
  int64_t result = 0;
  bool fits = true;
  switch (kind) {
    case kAdd:
      fits = !__builtin_add_overflow(a, b, &result);
      break;
    case kSub:
      fits = !__builtin_sub_overflow(a, b, &result);
      break;
    case kMul:
      fits = !__builtin_mul_overflow(a, b, &result);
      break;
    default:
      fits = b != 0 && !(a == INT64_MIN && b == -1);
      if (fits) result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      break;
  }
  if (call.require(fits, "its arithmetic with sizes overflows")) call.symbol(result);
}

// sym_size.int(x, dim)
void plan_size(Call& call, int) {
  const View x = call.view(0);
  const size_t d = call.dim(1, x.dims.rank);
  if (call.require(x.dims.rank > 0, "a scalar has no sizes")) call.symbol(x.dims[d]);
}

// A truth is the number 1.
void plan_comparison(Call& call, int kind) {
  const int64_t a = call.integer(0), b = call.integer(1);
  const bool is_less = a < b, is_equal = a == b;
  const bool truth = kind == kLess             ? is_less
                     : kind == kGreater        ? !is_less && !is_equal
                     : kind == kLessOrEqual    ? is_less || is_equal
                     : kind == kGreaterOrEqual ? !is_less
                                               : is_equal;
  call.symbol(truth ? 1 : 0);
}

// select_as_symint(x, dim, index): an element of an input.
void plan_select(Call& call, int) {
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  int64_t index = call.integer(2);
  if (!call.require(x.dims.rank > 0 && x.dims.numel() == x.dims[d],
                    "it reads a number off a tensor of several dimensions")) {
    return;
  }
  if (index < 0) index += x.dims[d];
  if (!call.require(index >= 0 && index < x.dims[d], "its index is out of range")) return;
  call.symbol(call.element(0, index));
}

constexpr Operator kOperators[] = {
    {"add", nullptr, 2, plan_arithmetic, kAdd},
    {"sub", nullptr, 2, plan_arithmetic, kSub},
    {"mul", nullptr, 2, plan_arithmetic, kMul},
    {"floordiv", nullptr, 2, plan_arithmetic, kFloorDiv},
    {"lt", nullptr, 2, plan_comparison, kLess},
    {"gt", nullptr, 2, plan_comparison, kGreater},
    {"le", nullptr, 2, plan_comparison, kLessOrEqual},
    {"ge", nullptr, 2, plan_comparison, kGreaterOrEqual},
    {"eq", nullptr, 2, plan_comparison, kEqual},
    {"et_vk.select_as_symint.default", nullptr, 3, plan_select},
    {"sym_size.int", nullptr, 2, plan_size},
    {"aten.sym_size.int", nullptr, 2, plan_size},
};

}  // namespace

const Span<const Operator> kSymbolicOperators = kOperators;

}  // namespace taper::vulkan
