// Weights that are saved as objects of torchao's and ExecuTorch's classes, which programs have that
// were not decomposed: blocks of 4-bit and 8-bit floats, and 8-bit floats with scales.

#pragma once

#include "exir/frontend/tensor_store.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// Appends nodes that compute the elements of `weight` from what the object holds, and makes it the
// result of the last one. Returns false, and changes nothing, if its class is not known or
// quantises what it is multiplied by. Throws Failure if it lacks something.
bool define_weight(Graph& graph, Value* weight, TensorStore& object);

}  // namespace taper::exir
