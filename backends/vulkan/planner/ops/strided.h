// Shaders that walk tensors by strides: elementwise.comp and copy.comp.

#pragma once

#include <initializer_list>

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

enum ElementFunction : uint32_t {
#define TAPER_FUNCTION(name, number) name = number,
#include "backends/vulkan/shaders/elementwise_kinds.glsl"
#undef TAPER_FUNCTION
};

// The scalars of a function: floats, or integers where it computes with integers.
struct Scalars {
  float p = 0, q = 0;
};
float as_float_bits(int64_t integer);

// The sizes that operands broadcast to. Notes a problem if they do not.
Dims broadcast(Call& call, const Dims& a, const Dims& b);

// Dispatches `out` = function(operands), broadcast to the sizes of `out`.
void elementwise(Call& call, ElementFunction function, const Operand& out,
                 std::initializer_list<Operand> operands, Scalars scalars = {});

// All elements of a tensor, in order.
Walk dense(const Operand& tensor);

// Dispatches the copy of `sizes` elements.
void copy(Call& call, const Dims& sizes, const Walk& to, const Walk& from);

// Dispatches out[i] = first + i * step.
void fill(Call& call, const Operand& out, double first, double step);
// A number as an element of that dtype. Notes a problem if there is none.
uint32_t word_of(Call& call, double number, ScalarType dtype);

// Dimensions that all operands walk as one become one; those of size 1 go. One dimension is left at
// least.
void collapse(Dims& sizes, Dims* strides, size_t operands);
// Strides of `from` for an index into `to`, to whose sizes it is broadcast.
Dims broadcast_strides(const Dims& from, const Dims& to);
// The first `rank` items as a shader takes them; zeros after them.
template <size_t kCount>
void narrow(int32_t (&to)[kCount], const Dims& from, size_t rank) {
  for (size_t d = 0; d < kCount; ++d) to[d] = d < rank ? static_cast<int32_t>(from[d]) : 0;
}

}  // namespace taper::vulkan
