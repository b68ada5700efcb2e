// Arithmetic with sizes. It is done when a plan is made; the device sees nothing of it.

#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {
namespace {

enum : int { kAdd, kSub, kMul, kFloorDiv };

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
  const Operand x = call.tensor(0);
  const size_t d = call.dim(1, x.dims.rank);
  if (call.require(x.dims.rank > 0, "a scalar has no sizes")) call.symbol(x.dims[d]);
}

constexpr Operator kOperators[] = {
    {"add", nullptr, 2, plan_arithmetic, kAdd},
    {"sub", nullptr, 2, plan_arithmetic, kSub},
    {"mul", nullptr, 2, plan_arithmetic, kMul},
    {"floordiv", nullptr, 2, plan_arithmetic, kFloorDiv},
    {"sym_size.int", nullptr, 2, plan_size},
    {"aten.sym_size.int", nullptr, 2, plan_size},
};

}  // namespace

const Span<const Operator> kSymbolicOperators = kOperators;

}  // namespace taper::vulkan
