// Normalising rows and channels: layer norm, group norm and the batch norms.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

// How one element is scaled and shifted after normalisation. Element i of row r takes entry
// (r * row_step + i / repeat) % count of weight and bias, either of which may be null (1 and 0).
struct Affine {
  const Tensor* weight;
  const Tensor* bias;
  int64_t count;
  int64_t row_step;
  int64_t repeat;
};

// Each of `rows` rows of `width` elements of contiguous `input`, less its mean and divided by its
// standard deviation (with eps added to the variance), is written to out; the mean and the
// reciprocal deviation to elements of `mean` and `rstd`. REQUIRES: dtypes and sizes were checked.
void normalise_rows(const Tensor& input, int64_t rows, int64_t width, const Affine& affine,
                    double eps, Tensor& out, Tensor& mean, Tensor& rstd);

// That weight and bias, where they are given, are 1-d floats of `count` elements (or have the sizes
// `count` elements take up: only the number is compared).
Status check_affine(const Tensor* weight, const Tensor* bias, int64_t count);

// out = (input - mean[c]) / sqrt(variance[c] + eps) * weight[c] + bias[c] for channel c,
// dimension 1. `mean` and `scale_is_rstd` choose what `spread` holds: variances, or reciprocal
// deviations.
struct ChannelStatistics {
  const Tensor& mean;
  const Tensor& spread;
  bool spread_is_rstd;
  double eps;
};
Status normalise_channels(const Tensor& input, const Tensor* weight, const Tensor* bias,
                          const ChannelStatistics& statistics, Tensor& out);

}  // namespace taper::portable
