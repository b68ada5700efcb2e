// The steps of an LSTM or GRU layer of floats: the product of the state and the weights, whose sums
// stay in registers until the gates are applied.

#pragma once

#include <cstdint>

#include "kernels_portable/cores/recurrence.h"

namespace taper::optimized {

// The tensors of a layer, laid out as recurrence.h says.
struct RecurrentLayer {
  portable::Recurrence r;
  const float* gates = nullptr;
  const float* h0 = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // GRU: the bias of the new gate, [D, units]; may be null.
  float* cells = nullptr;       // LSTM: the cell states, [D, batch, units], updated in place.
  float* out = nullptr;
  float* whole = nullptr;  // With a projection: scratch [batch, units] for h before it. Else null.
};

// A part of a step: some blocks of 16 units, in one direction, for some items of the batch.
struct RecurrentPart {
  int64_t direction = 0;
  int64_t begin = 0, end = 0;
  int64_t first_item = 0, last_item = 0;

  // The size of the weights that the part reads.
  int64_t bytes(const portable::Recurrence& r) const {
    return (end - begin) * portable::kUnitsTogether * r.gates * r.outputs * 4;
  }
};

// Computes a part of step `i`. REQUIRES: all blocks of the steps before are complete. The functions
// below return null if this processor has no vector form.
using RecurrentStep = void (*)(const RecurrentLayer& layer, int64_t i, const RecurrentPart& part);
RecurrentStep lstm_step();
RecurrentStep gru_step();

// Computes the outputs of step `i` of a direction: layer.whole times projection [D, units,
// outputs].
using RecurrentProjection = void (*)(const RecurrentLayer& layer, int64_t i, int64_t direction,
                                     const float* projection);
RecurrentProjection lstm_projection();

}  // namespace taper::optimized
