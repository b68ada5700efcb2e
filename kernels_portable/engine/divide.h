// Division that rounds its result: of tensors, shared by div with a rounding mode and floor_divide,
// and of sizes.

#pragma once

#include "kernels_portable/engine/promote.h"
#include "taper/status.h"

namespace taper::portable {

// a / b, rounded toward negative or positive infinity. REQUIRES: b > 0.
inline int64_t divide_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
inline int64_t divide_up(int64_t a, int64_t b) { return -divide_down(-a, b); }

// out = self / other in the promoted dtype, rounded toward negative infinity (`floor`) or toward
// zero. kInvalidArgument if an integer divisor is zero; a float one gives infinity or NaN.
Status divide_rounding(const Tensor& self, const Operand& other, bool floor, Tensor& out);

}  // namespace taper::portable
