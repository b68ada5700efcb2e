// Recognises the nodes that turn constant integers into floats, so that constant folding keeps the
// integers: dequantisation in one node, or spelled out as
//
//     (cast(integers) - zero points) * scales
//
// with changes of sizes between the steps, as run_decompositions() leaves it.

#pragma once

#include <memory>

#include "exir/ir/graph.h"

namespace taper::exir {

// The result of a node as integers with scales; null if it cannot be stored so. REQUIRES: the
// tensors that it reads are constants, the sizes of its result are known.
std::shared_ptr<const Scales> integers_of(const Node& node);

// The result of a cast, a product with scales, a change of sizes or a look-up as codes, which are
// bytes that stand for at most 256 numbers: weights in 8-bit floats, which are looked up in a
// table, and in 4. Null if it cannot be stored so. `result` is what the node's kernel computed.
// REQUIRES: the same.
std::shared_ptr<const Scales> codes_of(const Node& node, const TensorData& result);

// Whether a node looks numbers up in a table of at most 256, so that its result has codes.
// REQUIRES: the same.
bool looks_up_few(const Node& node);

// The elements of a constant of floats or integers, as floats; empty for other dtypes.
std::vector<float> floats_of(const Value& constant);

}  // namespace taper::exir
