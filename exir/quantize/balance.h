// Moves scale between the channels of a tensor and the weights that read it, which leaves the
// program's numbers as they are.
//
//   x / s, then W s        s[c] = sqrt(largest |x[c]| / largest |W[c]|)
//
// so that all channels of x fill the one scale of the tensor equally.

#pragma once

#include "exir/quantize/plan.h"
#include "exir/quantize/statistics.h"

namespace taper::exir {

// A tensor whose channels can be scaled: by whoever made it, and by all who read it.
struct BalanceSite {
  std::string tensor;                      // The one that is read.
  std::vector<Value*> made_by;             // Constants whose first dimension is its channels.
  std::vector<const QuantLayer*> readers;  // Of the Sites, which must outlive this.
};

// Cross-layer equalisation: tensors between two layers, behind a ReLU or nothing, which commutes
// with positive factors.
std::vector<BalanceSite> equalisation_sites(const Graph& graph, const Sites& sites);
// SmoothQuant: tensors between a normalisation with weights and linear layers.
std::vector<BalanceSite> smoothing_sites(const Graph& graph, const Sites& sites);

// The factors for channels of which the tensor holds `values` at most, and the weights `weights`.
std::vector<double> balance_factors(const std::vector<float>& values,
                                    const std::vector<float>& weights);

// The new elements of all constants that change.
NewConstants balanced(const std::vector<BalanceSite>& sites, const Calibration& calibration);

}  // namespace taper::exir
