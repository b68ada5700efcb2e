// The loops of a matrix product on vectors, for operands of any dtype that the portable kernels
// widen to float, double or int64 (kernels_portable/cores/gemm.h): what the fast product of floats
// (gemm.h) does not take.

#pragma once

#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/engine/compute.h"
#include "taper/kernel.h"

namespace taper::optimized {

// True if all have one dtype that products take.
template <typename... Tensors>
bool share_dtype(const Tensor& first, const Tensors&... others) {
  const ScalarType type = first.scalar_type();
  return portable::is_computable(type) && ((others.scalar_type() == type) && ...);
}

// Takes the scratch memory from the context. False if there is too little, or no vector form for
// this processor.
bool find_multipliers(KernelContext& context, portable::Multipliers* result);

}  // namespace taper::optimized
