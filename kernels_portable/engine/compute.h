// The type that an operator computes in: float (for half and bfloat16 too), double, or int64_t for
// all integers. Matrix products, convolution and pooling are templates over these three alone, and
// read and write their rows through loader() and storer().

#pragma once

#include <cstdint>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"
#include "taper/dtypes.h"
#include "taper/status.h"

namespace taper::portable {

// True for the dtypes that those kernels take: real floats, uint8 and the signed integers.
constexpr bool is_computable(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kChar:
    case ScalarType::kShort:
    case ScalarType::kInt:
    case ScalarType::kLong:
      return true;
    default:
      return is_floating(type);
  }
}

// Calls f(T{}), where T is the compute type of `type`.
template <typename F>
static Status with_compute_type(ScalarType type, F f) {
  if (in_double(type)) return f(double{});
  if (in_float(type)) return f(float{});
  return f(int64_t{});
}

// The same for a `type` that is a float: T is float or double.
template <typename F>
static Status with_float_type(ScalarType type, F f) {
  if (in_double(type)) return f(double{});
  return f(float{});
}

// a * b + c. Integers wrap around.
template <typename T>
inline T multiply_add(T a, T b, T c) {
  return wrap_add(wrap_mul(a, b), c);
}

}  // namespace taper::portable
