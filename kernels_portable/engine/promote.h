// Type promotion: which dtype an operator on mixed operands computes in and yields.

#pragma once

#include "taper/dtypes.h"
#include "taper/kernel.h"
#include "taper/scalar_type.h"
#include "taper/span.h"
#include "taper/tensor.h"

namespace taper::portable {

// One operand: a tensor, or a number that stands for a tensor filled with it.
struct Operand {
  Operand(const Tensor& t) : tensor(&t), scalar(int64_t{0}) {}
  Operand(Scalar s) : tensor(nullptr), scalar(s) {}

  const Tensor* tensor;
  Scalar scalar;
};

// The dtype that both promote to. Categories are ordered bool < integer < float; an integer with a
// float gives that float; half with bfloat16 gives float; uint8 with int8 gives int16.
ScalarType promote_types(ScalarType a, ScalarType b);

// The dtype of an expression over `operands`. Tensors with dimensions decide; 0-d tensors, then
// numbers, matter only when they are of a higher category (bool, integer, float).
ScalarType result_type(Span<const Operand> operands);

// The dtypes that operators on tensors of `set` may compute in: those of `set` and what pairs of
// them promote to; float32, because of float numbers and true division; int64 if there are integers
// or bool; and the parts of complex dtypes.
DtypeSet closed_under_promotion(DtypeSet set);

// `type` if it is a float, else float: what true division and sqrt yield.
constexpr ScalarType to_floating(ScalarType type) {
  return is_floating(type) ? type : ScalarType::kFloat;
}

// True if a result of dtype `from` may be written to an out tensor of dtype `to`: a float never
// becomes an integer, and only a bool becomes a bool.
constexpr bool can_cast(ScalarType from, ScalarType to) {
  if (from == to) return true;
  if (is_complex(from) || is_complex(to)) return false;
  if (is_floating(from)) return is_floating(to);
  return from == ScalarType::kBool || to != ScalarType::kBool;
}

}  // namespace taper::portable
