// Why this compiler does not take an operator that it knows by name, and what helps.

#pragma once

#include <string_view>

namespace taper::exir {

// One line, or null for an operator that nothing is known about. A name as in "aten::to_sparse".
const char* refusal_reason(std::string_view name);

}  // namespace taper::exir
