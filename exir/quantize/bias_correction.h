// Rounded weights shift the mean of a layer's outputs; its bias takes the shift back.
//
//   b'[o] = b[o] - sum over i of (W'[o, i] - W[o, i]) E[x[i]]

#pragma once

#include "exir/quantize/plan.h"
#include "exir/quantize/statistics.h"

namespace taper::exir {

// `weight` and `rounded` are elements of the layer's weight, `bias` is empty if it has none. Empty
// if the layer is of a kind that is not corrected.
std::vector<float> corrected_bias(const QuantLayer& layer, const std::vector<float>& weight,
                                  const std::vector<float>& rounded, const std::vector<float>& bias,
                                  const ChannelStatistics& input);

}  // namespace taper::exir
