// What a product does with each sum before it stores it, or with its input, so that the operators
// behind it and before it need no dispatch of their own.

#pragma once

#include <cstdint>

#include "taper/scalar_type.h"

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

// The integers with a scale and a zero point that a result becomes, or the numbers that these stand
// for.
struct Grid {
  enum class Form : uint32_t { kNone, kIntegers, kNumbers };
  Form form = Form::kNone;
  ScalarType dtype = ScalarType::kChar;  // Of the integers.
  float inverse = 1, scale = 1, zero = 0, least = 0, most = 0;
};

struct Epilogue {
  Activation activation = Activation::kNone;
  float least = 0, most = 0;  // Of kClamp.
  Residual residual = Residual::kNone;
  int32_t added = -1;  // The value that is added or multiplied by.
  Grid grid;

  ScalarType dtype() const {
    return grid.form == Grid::Form::kIntegers ? grid.dtype : ScalarType::kFloat;
  }
};

// An epilogue as shaders take it: a specialisation constant, and push constants.
inline uint32_t ending_kind(const Epilogue& e) {
  return static_cast<uint32_t>(e.activation) | static_cast<uint32_t>(e.grid.form) << 4;
}
struct Ending {
  explicit Ending(const Epilogue& e)
      : least(e.least),
        most(e.most),
        inverse(e.grid.inverse),
        scale(e.grid.scale),
        zero(e.grid.zero),
        low(e.grid.least),
        high(e.grid.most) {}
  float least, most, inverse, scale, zero, low, high;
};

// The integers of 8 bits, less 128 if they are unsigned, that the numbers of a factor stand for:
// x = (q - zero) * scale.
struct FactorGrid {
  // Scale and zero point are numbers; or they are tensors of one element, and `zero` is added.
  enum class Form : uint32_t { kNone, kStated, kTensors };
  Form form = Form::kNone;
  float inverse = 1, scale = 1;
  int32_t zero = 0;
  int32_t scale_tensor = -1, zero_tensor = -1;  // Values.
};

// An RMS norm of its rows that a product applies to its input.
struct RowNorm {
  int32_t weight = -1;  // The value with a weight for each column; negative: there is no norm.
  float eps = 0;
};

}  // namespace taper::vulkan
