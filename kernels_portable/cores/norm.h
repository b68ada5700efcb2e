// Normalisation of rows and of channels: layer norm, group norm and the batch norms.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

// How elements are scaled and shifted after normalisation. Element i of row r uses entry
// (r * row_step + i / repeat) % count of weight and bias. Either may be null, which stands for 1
// and 0.
struct Affine {
  const Tensor* weight;
  const Tensor* bias;
  int64_t count;
  int64_t row_step;
  int64_t repeat;
};

// Normalises `rows` rows of `width` elements of contiguous `input`: subtracts the mean, divides by
// the standard deviation (with eps added to the variance), scales and shifts, and writes to out.
// The mean and the reciprocal deviation of each row go to `mean` and `rstd`. REQUIRES: dtypes and
// sizes were checked.
void normalise_rows(const Tensor& input, int64_t rows, int64_t width, const Affine& affine,
                    double eps, Tensor& out, Tensor& mean, Tensor& rstd);

// Requires of weight and bias, unless they are null, that they are contiguous floats with `count`
// elements, whatever their rank.
Status check_affine(const Tensor* weight, const Tensor* bias, int64_t count);

// The statistics of each channel. `spread` holds variances, or reciprocal standard deviations if
// `spread_is_rstd`.
struct ChannelStatistics {
  const Tensor& mean;
  const Tensor& spread;
  bool spread_is_rstd;
  double eps;
};

// out = (input - mean[c]) / sqrt(variance[c] + eps) * weight[c] + bias[c], where c is the index
// into dimension 1, the channels. weight and bias may be null.
Status normalise_channels(const Tensor& input, const Tensor* weight, const Tensor* bias,
                          const ChannelStatistics& statistics, Tensor& out);

}  // namespace taper::portable
