// aten::clamp: out = min(max(self, min), max); one of the bounds may be absent.
//
//   Types     the promoted dtype of self and the bounds; not bool. A negative bound wraps around in
//             an unsigned dtype, as in PyTorch: clamp(uint8, -1, 2) is 2.
//   NaN       in self or in a bound gives NaN.
//   Overloads out (numbers), Tensor_out (tensors, broadcast).

#include "kernels_portable/engine/clamp.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct AtLeast {
  template <typename C>
  C operator()(C x, C low) const {
    return x < low || low != low ? low : x;
  }
};

struct AtMost {
  template <typename C>
  C operator()(C x, C high) const {
    return x > high || high != high ? high : x;
  }
};

struct Between {
  template <typename C>
  C operator()(C x, C low, C high) const {
    const C raised = AtLeast{}(x, low);
    return raised != raised ? raised : AtMost{}(raised, high);
  }
};

Status check(ScalarType type) {
  TAPER_REQUIRE(type != ScalarType::kBool, Error::kInvalidType, "clamp: not defined for bool");
  return {};
}

void wrap(ScalarType type, int64_t& bound) {
  if (type == ScalarType::kByte) bound = static_cast<uint8_t>(bound);
  if (type == ScalarType::kUInt16) bound = static_cast<uint16_t>(bound);
}

Status clamp_out(KernelContext&, const Tensor& self, std::optional<Scalar> min,
                 std::optional<Scalar> max, Tensor& out) {
  TAPER_REQUIRE(min.has_value() || max.has_value(), Error::kInvalidArgument,
                "clamp: neither min nor max is given");
  const Operand operands[] = {self, min ? *min : *max, max ? *max : *min};
  const ScalarType type = result_type(operands);
  TAPER_TRY(check(type));
  ClampToBounds op(min, max);
  if (min.has_value()) wrap(type, op.low_int);
  if (max.has_value()) wrap(type, op.high_int);
  const Operand in[] = {self};
  return elementwise(type, type, unary_loops<ClampToBounds>(), &op, in, out);
}

Status clamp_tensor_out(KernelContext&, const Tensor& self, const Tensor* min, const Tensor* max,
                        Tensor& out) {
  TAPER_REQUIRE(min != nullptr || max != nullptr, Error::kInvalidArgument,
                "clamp: neither min nor max is given");
  const Operand in[] = {self, min ? *min : *max, max ? *max : *min};
  const ScalarType type = result_type(in);
  TAPER_TRY(check(type));
  if (max == nullptr) return binary(AtLeast{}, self, *min, out);
  if (min == nullptr) return binary(AtMost{}, self, *max, out);
  const Between op;
  return elementwise(type, type, ternary_loops<Between>(), &op, in, out);
}

}  // namespace

extern const Kernel kClampOut;
extern const Kernel kClampTensorOut;
const Kernel kClampOut = make_kernel<clamp_out>("aten::clamp.out");
const Kernel kClampTensorOut = make_kernel<clamp_tensor_out>("aten::clamp.Tensor_out");

}  // namespace taper::portable
