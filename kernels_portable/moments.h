// Mean and variance over some dimensions: var, var_mean and batch norm in training.

#pragma once

#include "kernels_portable/reduce.h"

namespace taper::portable {

struct Moments {
  double mean;
  double squares;  // The sum of squared distances from the mean.
};

// Of the elements of one output. Two passes, in double: no cancellation.
Moments moments_of(const ReducePlan& plan, const Tensor& self, int64_t offset);

// Writes the variance, the squares divided by the number of elements less `correction`, and the
// mean where `mean` is given. NaN where there are too few elements.
Status variance(const Tensor& self, std::optional<IntList> dims, double correction, bool keepdim,
                Tensor& var, Tensor* mean);

}  // namespace taper::portable
