// Names of operators as exported programs spell them.

#pragma once

#include <string>
#include <string_view>

namespace taper::exir {

// "torch.ops.aten.add.Tensor" -> "aten::add.Tensor", "_operator.add" -> "python::add". Throws
// Failure if the text cannot be the name of an operator.
std::string import_target(std::string_view target);

}  // namespace taper::exir
