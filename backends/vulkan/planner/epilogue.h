// What a product does with each sum before it stores it, or with its input, so that the operators
// behind it and before it need no dispatch of their own.

#pragma once

#include <cstdint>

namespace taper::vulkan {

// shaders/epilogue.glsl has the same numbers.
enum class Activation : uint32_t {
  kNone,
  kClamp,
  kSigmoid,
  kSilu,
  kHardswish,
  kHardsigmoid,
  kGelu,
  kGeluTanh,
  kTanh,
};

// Where another tensor of the same sizes is added; or the result is multiplied by it in the end.
enum class Residual : uint32_t { kNone, kBeforeActivation, kAfterActivation, kFactor };

struct Epilogue {
  Activation activation = Activation::kNone;
  float least = 0, most = 0;  // Of kClamp.
  Residual residual = Residual::kNone;
  int32_t added = -1;  // The value that is added or multiplied by.
};

// An RMS norm of its rows that a product applies to its input.
struct RowNorm {
  int32_t weight = -1;  // The value with a weight for each column; negative: there is no norm.
  float eps = 0;
};

}  // namespace taper::vulkan
