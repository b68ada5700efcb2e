// The text of nodes, arguments and tensors in a program, as PyTorch's serializer spells them.

#pragma once

#include <string>

#include "exir/ir/graph.h"

namespace taper::exir {

// An argument: {"as_int": 3}. REQUIRES: no graph.
std::string argument_text(const Argument& arg);
// "torch.ops.aten.add.Tensor".
std::string target_text(std::string_view target);
// {"name": "x", "arg": ..., "kind": 1}
std::string input_text(const SchemaArg& schema, const Argument& arg);
// The metadata of a tensor whose sizes are known.
std::string tensor_meta_text(const TensorType& type);
// Its number in a program; throws Failure if it has none.
int dtype_code(ScalarType type);

}  // namespace taper::exir
