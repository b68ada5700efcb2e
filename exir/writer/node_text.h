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
// The metadata of a tensor whose sizes are known. If its bytes are 8-bit floats, `float8` is the
// number of their dtype.
std::string tensor_meta_text(const TensorType& type, int64_t float8 = 0);
// Its number in a program; throws Failure if it has none.
int dtype_code(ScalarType type);

}  // namespace taper::exir
