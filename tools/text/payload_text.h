// What backends say of their payloads.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "taper/backend.h"
#include "taper/program.h"

namespace taper::tools {

// The description of a payload, which is a segment of the program, by the backend whose delegates
// have that id; empty if it has none.
std::string payload_text(std::string_view delegate_id, uint32_t segment, CompileSpecs specs,
                         const Program& program);

}  // namespace taper::tools
