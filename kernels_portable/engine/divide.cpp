// Division that rounds its result, of floats and integers; see divide.h.

#include "kernels_portable/engine/divide.h"

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct DivideTrunc {
  int64_t operator()(int64_t a, int64_t b) const { return b == 0 ? 0 : div_trunc(a, b); }
  template <typename C>
  C operator()(C a, C b) const {
    return std::trunc(a / b);
  }
};

// floor(a / b) would be wrong where rounding has raised the quotient to an integer. Instead the
// exact remainder is subtracted first: (a - fmod(a, b)) / b is an integer except for its own
// rounding error.
struct DivideFloor {
  int64_t operator()(int64_t a, int64_t b) const { return b == 0 ? 0 : div_floor(a, b); }
  template <typename C>
  C operator()(C a, C b) const {
    if (b == 0) return a / b;
    const C rest = std::fmod(a, b);
    C quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(C{0}, a / b);
    const C rounded = std::floor(quotient);
    return quotient - rounded > C{0.5} ? rounded + 1 : rounded;
  }
};

}  // namespace

Status divide_rounding(const Tensor& self, const Operand& other, bool floor, Tensor& out) {
  const Operand in[] = {self, other};
  const ScalarType type = result_type(in);
  TAPER_REQUIRE(type != ScalarType::kBool, Error::kInvalidType,
                "rounding division is not defined for bool");
  TAPER_REQUIRE(is_floating(type) || !has_integer_zero(other), Error::kInvalidArgument,
                "an integer divisor is zero");
  if (floor) return binary(DivideFloor{}, self, other, out);
  return binary(DivideTrunc{}, self, other, out);
}

}  // namespace taper::portable
