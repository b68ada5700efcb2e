// The two ways to normalise by channel, of nodes that have the arguments of batch_norm by name.

#pragma once

#include <vector>

#include "exir/decompose/builder.h"

namespace taper::exir {

// With the statistics that run. Returns all results of the operator, the first of which is the
// normalised tensor.
std::vector<Value*> normalise_by_running(Builder& b);

// With those of the batch. Returns the same; the others are the statistics.
std::vector<Value*> normalise_by_batch(Builder& b);

}  // namespace taper::exir
