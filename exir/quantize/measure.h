// How much the outputs of a changed program differ from those of the original.

#pragma once

#include <cstdint>
#include <vector>

#include "exir/quantize/engine.h"

namespace taper::exir {

struct OutputDifference {
  double decibels = 0;  // Signal to noise, over all samples; infinite if nothing differs.
  double largest = 0;   // Of the differences.
  double scale = 0;     // The largest value of the original.
};

struct Difference {
  std::vector<OutputDifference> outputs;  // Of floating-point outputs, in order.
  // Of rows of the first such output: how many have their largest element at the same place.
  double agreement = 1;
  double accuracy = 0;           // Of the changed program, if there are labels.
  double original_accuracy = 0;  // Of the original.
  // What is lost: agreement, or accuracy if there are labels.
  double drop(bool labelled) const {
    return labelled ? original_accuracy - accuracy : 1 - agreement;
  }
  // The lowest of the outputs.
  double decibels() const;
};

using Outputs = std::vector<std::vector<SampleTensor>>;  // For each sample.

// How many rows the first floating-point output has in all samples.
size_t rows_of(const Outputs& outputs);

// `labels` has one class for each row of the first output, or is empty. Compares as many samples as
// `changed` has.
Difference difference(const Outputs& original, const Outputs& changed,
                      const std::vector<int64_t>& labels);

}  // namespace taper::exir
