// Constants of float32 that float16 holds as they are: those of programs in float16, and those that
// were quantised to it. Payloads have them in half the bytes.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// The elements of a constant of float32 as float16 if that changes no bit of them; no data if it
// does, or if there are few of them.
TensorData as_halves(const TensorData& floats);

}  // namespace taper::exir
