// Element-wise operators on whole numbers of 8 to 64 bits of one dtype, and comparisons of floats.

#pragma once

#include <optional>

#include "taper/kernel.h"

namespace taper::optimized {

enum class Pairwise {
  kAdd,
  kSub,
  kMul,
  kAnd,
  kOr,
  kXor,
  kLeftShift,
  kRightShift,
  kMaximum,
  kMinimum,
  kClamp,  // See clamp_integers().
  kAbs,    // Of the first operand.
  kFloorDivide,
  kLess,  // Those from here on give bools, and take floats, too.
  kLessEqual,
  kEqual,
  kUnequal
};

// out = a op b, broadcast. Like a fast kernel they return false, before anything is written, for
// what they do not support: other dtypes, a divisor of zero, the baseline of the processor.
bool pairwise(const KernelContext& context, Pairwise op, const Tensor& a, const Tensor& b,
              Tensor& out);
bool pairwise(const KernelContext& context, Pairwise op, const Tensor& a, Scalar b, Tensor& out);
bool pairwise(const KernelContext& context, Pairwise op, Scalar a, const Tensor& b, Tensor& out);

// min(max(self, low), high); an absent bound does nothing.
bool clamp_integers(const KernelContext& context, const Tensor& self, std::optional<Scalar> low,
                    std::optional<Scalar> high, Tensor& out);

}  // namespace taper::optimized
