// The operators of each dialect. Used by the verifier alone.

#pragma once

#include <string>

#include "exir/dialect/verifier.h"

namespace taper::exir {

// Why the node is not legal in the dialect; empty if it is. `remedy` says what would help.
std::string illegal_because(const Node& node, const OperatorRegistry& operators, Dialect dialect,
                            const LegalCalls& also_legal, std::string* remedy);

}  // namespace taper::exir
