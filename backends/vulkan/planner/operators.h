// The operators of payloads. A row is all that is said about one: its name, how its arguments are
// checked and its work becomes dispatches, and the kernel that computes it where there is no GPU.
// The compiler half asks the same rows, so it offers nothing that a device would refuse.

#pragma once

#include <cstddef>
#include <string_view>

#include "taper/span.h"

namespace taper::vulkan {

class Call;

struct Operator {
  static constexpr size_t kMostFactors = 3;
  const char* name;  // As payloads have it: "aten.add.Tensor".
  // The out variant with the same arguments, "aten::add.out", or, "vulkan::mish", a kernel of this
  // backend's own; null: none.
  const char* kernel;
  size_t arguments;  // Of the schema; the result comes after them.
  // Checks the arguments and adds dispatches.
  void (*plan)(Call& call, int variant);
  int variant = 0;  // For functions that plan several operators.
  // Whether it is a product of matrices or of images, which asks Call::epilogue().
  bool is_product = false;
  // Where dtype, layout, device and pin_memory stand, which the kernel does not take; -1: nowhere.
  int options = -1;
  // How many of the last arguments are bounds of a clamp that comes after the kernel: 0 or 2.
  size_t bounds = 0;
  // The first of the arguments that a product multiplies, and how many: kMostFactors at most.
  size_t factors = 0, num_factors = 2;
  // The weights that are bytes, behind which their scales stand: the kernel takes floats instead of
  // both; -1: there are none.
  int scaled = -1;
  // The first of the arguments that it writes in place, and how many follow each other.
  size_t written = 0, num_written = 0;
  // Where a dtype of integers stands, which ExecuTorch's exporter leaves out; -1: nowhere.
  int dtype = -1;
};

// The row of an operator with a dtype, a layout, a device and pin_memory from that argument on.
constexpr Operator with_options(Operator row, int first) {
  row.options = first;
  return row;
}

// The row of an operator whose last two arguments are bounds.
constexpr Operator with_bounds(Operator row) {
  row.bounds = 2;
  return row;
}

// The row of a product whose factors are `count` arguments from `first` on.
constexpr Operator with_factors(Operator row, size_t first, size_t count = 2) {
  row.factors = first;
  row.num_factors = count;
  return row;
}

// The row of an operator whose argument `at` is the dtype of the integers that it reads or makes.
constexpr Operator with_dtype(Operator row, int at) {
  row.dtype = at;
  return row;
}

// The row of a product whose argument `weights` is bytes, with scales behind it.
constexpr Operator with_scales(Operator row, int weights) {
  row.scaled = weights;
  return row;
}

// The row of an operator that writes `count` arguments from `first` on.
constexpr Operator with_writes(Operator row, size_t first, size_t count) {
  row.written = first;
  row.num_written = count;
  return row;
}

// By family; each is beside the functions that plan it (planner/ops).
extern const Span<const Operator> kElementwiseOperators;
extern const Span<const Operator> kMovementOperators;
extern const Span<const Operator> kMatrixOperators;
extern const Span<const Operator> kQuantisedOperators;
extern const Span<const Operator> kQuantiseOperators;
extern const Span<const Operator> kCacheOperators;
extern const Span<const Operator> kIntegerTensorOperators;
extern const Span<const Operator> kRotaryOperators;
extern const Span<const Operator> kConvolutionOperators;
extern const Span<const Operator> kPoolOperators;
extern const Span<const Operator> kResampleOperators;
extern const Span<const Operator> kAttentionOperators;
extern const Span<const Operator> kPartOperators;
extern const Span<const Operator> kReductionOperators;
extern const Span<const Operator> kOrderOperators;
extern const Span<const Operator> kNormOperators;
extern const Span<const Operator> kIndexOperators;
extern const Span<const Operator> kRecurrentOperators;
extern const Span<const Operator> kSymbolicOperators;

// All of them.
Span<const Span<const Operator>> operator_families();

// Null if there is none of that name.
const Operator* find_operator(std::string_view name);

}  // namespace taper::vulkan
