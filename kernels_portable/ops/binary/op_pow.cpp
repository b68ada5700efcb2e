// aten::pow: out = self to the power of exponent, broadcast.
//
//   Types     the promoted dtype. Integers wrap around. An integer other than 1 and -1 to a
//             negative power is 0; if the exponent is a Scalar, a negative one is refused.
//   Overloads Tensor_Tensor_out, Tensor_Scalar_out, Scalar_out (self is a number).

#include <cmath>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

// Exponentiation by squaring; products wrap around.
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

struct Power {
  int64_t operator()(int64_t a, int64_t b) const { return integer_power(a, b); }
  template <typename C>
  C operator()(C a, C b) const {
    return std::pow(a, b);
  }
};

struct Square {
  template <typename C>
  C operator()(C a) const {
    return wrap_mul(a, a);
  }
};

struct Cube {
  template <typename C>
  C operator()(C a) const {
    return wrap_mul(wrap_mul(a, a), a);
  }
};

struct Reciprocal {
  template <typename C>
  C operator()(C a) const {
    return C{1} / a;
  }
};

struct ReciprocalSquare {
  template <typename C>
  C operator()(C a) const {
    return C{1} / (a * a);
  }
};

struct SquareRoot {
  template <typename C>
  C operator()(C a) const {
    return std::sqrt(a);
  }
};

struct ReciprocalRoot {
  template <typename C>
  C operator()(C a) const {
    return C{1} / std::sqrt(a);
  }
};

Status pow_tensor_tensor_out(KernelContext&, const Tensor& self, const Tensor& exponent,
                             Tensor& out) {
  return binary(Power{}, self, exponent, out);
}

Status pow_tensor_scalar_out(KernelContext&, const Tensor& self, Scalar exponent, Tensor& out) {
  const Operand in[] = {self, exponent};
  const ScalarType type = result_type(in);
  TAPER_REQUIRE(is_floating(type) || exponent.to_int() >= 0, Error::kInvalidArgument,
                "pow: an integer cannot be raised to a negative power");
  const bool own_type = type == self.scalar_type();
  if (own_type && exponent.to_double() == 2) return unary(Square{}, self, out);
  if (own_type && exponent.to_double() == 3) return unary(Cube{}, self, out);
  if (own_type && exponent.to_double() == -1) return unary_of_float(Reciprocal{}, self, out);
  if (own_type && exponent.to_double() == -2) return unary_of_float(ReciprocalSquare{}, self, out);
  // Square roots, as in PyTorch: that of -inf is NaN, where pow() gives infinity.
  if (own_type && exponent.to_double() == 0.5) return unary_of_float(SquareRoot{}, self, out);
  if (own_type && exponent.to_double() == -0.5) return unary_of_float(ReciprocalRoot{}, self, out);
  return binary(Power{}, self, exponent, out);
}

Status pow_scalar_out(KernelContext&, Scalar self, const Tensor& exponent, Tensor& out) {
  return binary(Power{}, self, exponent, out);
}

}  // namespace

extern const Kernel kPowTensorTensorOut;
extern const Kernel kPowTensorScalarOut;
extern const Kernel kPowScalarOut;
const Kernel kPowTensorTensorOut =
    make_kernel<pow_tensor_tensor_out>("aten::pow.Tensor_Tensor_out");
const Kernel kPowTensorScalarOut =
    make_kernel<pow_tensor_scalar_out>("aten::pow.Tensor_Scalar_out");
const Kernel kPowScalarOut = make_kernel<pow_scalar_out>("aten::pow.Scalar_out");

}  // namespace taper::portable
