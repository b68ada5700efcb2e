// Why the compiler refuses an operator that it knows by name, and what helps.

#pragma once

#include <string_view>

namespace taper::exir {

// One line for an operator such as "aten::to_sparse"; null if no reason is known.
const char* refusal_reason(std::string_view name);

}  // namespace taper::exir
