// Division that rounds its result, shared by div with a rounding mode and floor_divide.

#pragma once

#include "kernels_portable/engine/promote.h"
#include "taper/status.h"

namespace taper::portable {

// out = self / other in the promoted dtype, rounded toward negative infinity (`floor`) or toward
// zero. kInvalidArgument if an integer divisor is zero; a float one gives infinity or NaN.
Status divide_rounding(const Tensor& self, const Operand& other, bool floor, Tensor& out);

}  // namespace taper::portable
