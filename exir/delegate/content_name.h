// Names for data of delegates, derived from the contents, so that equal bytes of several delegates
// or methods are written once.

#pragma once

#include <string>

#include "exir/ir/graph.h"

namespace taper::exir {

// 16 hexadecimal digits. A collision of different bytes is detected when the file is written.
std::string content_name(const TensorData& data);

}  // namespace taper::exir
