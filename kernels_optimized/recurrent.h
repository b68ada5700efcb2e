// The steps of an LSTM or GRU layer of floats: the product of the state with the weights, whose
// sums stay in registers until the gates are applied.

#pragma once

#include <cstdint>

#include "kernels_portable/recurrence.h"

namespace taper::optimized {

// Tensors as recurrence.h lays them out.
struct RecurrentLayer {
  portable::Recurrence r;
  const float* gates = nullptr;
  const float* h0 = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // Of a GRU's fresh gate, [D, units]; may be null.
  float* cells = nullptr;       // Of an LSTM: [D, batch, units], updated in place.
  float* out = nullptr;
  float* whole = nullptr;  // Where [batch, units] go that are then projected; null: to out.
};

// Some of the blocks of 16 units, in one direction, for some items of the batch.
struct RecurrentPart {
  int64_t direction = 0;
  int64_t begin = 0, end = 0;
  int64_t first_item = 0, last_item = 0;

  // Of its weights.
  int64_t bytes(const portable::Recurrence& r) const {
    return (end - begin) * portable::kUnitsTogether * r.gates * r.outputs * 4;
  }
};

// Null if this processor has no vector form. Computes step `i` of a part; of the steps before
// all blocks must be complete.
using RecurrentStep = void (*)(const RecurrentLayer& layer, int64_t i, const RecurrentPart& part);
RecurrentStep lstm_step();
RecurrentStep gru_step();

// The outputs of step `i` are what is in layer.whole times projection [D, units, outputs].
using RecurrentProjection = void (*)(const RecurrentLayer& layer, int64_t i, int64_t direction,
                                     const float* projection);
RecurrentProjection lstm_projection();

}  // namespace taper::optimized
