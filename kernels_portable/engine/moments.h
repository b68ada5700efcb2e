// Mean and variance over some dimensions: var, var_mean and batch norm in training.

#pragma once

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {

struct Moments {
  double mean;
  double squares;  // The sum of squared distances from the mean.
};

// The moments of the elements that are reduced into one output; the first of them lies at `offset`.
// Two passes in double, so that nothing cancels.
Moments moments_of(const ReducePlan& plan, const Tensor& self, int64_t offset);

// Writes the variance, which is the sum of squares divided by the number of elements less
// `correction`, and the mean unless `mean` is null. The variance of too few elements is NaN or
// infinite.
Status variance(const Tensor& self, std::optional<IntList> dims, double correction, bool keepdim,
                Tensor& var, Tensor* mean);

}  // namespace taper::portable
