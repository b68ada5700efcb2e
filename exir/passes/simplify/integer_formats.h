// Weights in the formats of other libraries, as integers with scales: torchao's Int4Tensor and
// GGUF's blocks of 256 elements (q4_k, q5_k, q6_k).

#pragma once

#include <memory>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether a node dequantises weights of these formats to float32.
bool has_integer_format(const Node& node);

// The result of torchao::dequantize_int4_tensor or torchao::dequantize_gguf; null if its operands
// do not fit. REQUIRES: has_integer_format(node), and they are constants.
std::shared_ptr<Scales> integers_of_format(const Node& node);

}  // namespace taper::exir
