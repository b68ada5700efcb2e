// What a kernel takes, found out by calling it: small tensors of every dtype, in the shapes and
// with the numbers that some family of operators wants.

#pragma once

#include <vector>

#include "exir/ir/schema.h"
#include "taper/kernel.h"

namespace taper::exir {

// The dtypes of the first tensor argument (of the result, if there is none) with which some call of
// the kernel succeeds. Empty for kernels that no sample call fits, and for those without tensors.
std::vector<ScalarType> kernel_dtypes(const Kernel& kernel, const Schema& schema);

// The dtypes that the kernel refuses, but not with kInvalidType before it looks at anything else:
// check_kernels would overlook them. A kernel that keeps the rules has none.
std::vector<ScalarType> overlooked_dtypes(const Kernel& kernel, const Schema& schema);

}  // namespace taper::exir
