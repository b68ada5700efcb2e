// The shaders that the program is linked with.

#pragma once

#include <cstdint>
#include <string_view>

#include "taper/span.h"

namespace taper::vulkan {

struct ShaderCode {
  std::string_view name;       // As planner/shaders.def has it.
  Span<const uint32_t> words;  // SPIR-V.
};

Span<const ShaderCode> shader_code();

}  // namespace taper::vulkan
