// Names for data of delegates, made from contents: equal bytes of several delegates or methods are
// written once.

#pragma once

#include <string>

#include "exir/ir/graph.h"

namespace taper::exir {

// 32 hexadecimal digits. That different bytes get one name is noticed when the file is written.
std::string content_name(const TensorData& data);

}  // namespace taper::exir
