// Complex numbers as pairs of real ones: a complex tensor of sizes [...] is a real one of sizes
// [..., 2] whose type says so (TensorType::pairs).

#pragma once

#include <optional>

#include "exir/decompose/rules.h"

namespace taper::exir {

// Real and imaginary part; the latter is null for a real tensor.
struct Parts {
  Value* re = nullptr;
  Value* im = nullptr;
};
Parts parts_of(Builder& b, Value* x);
// A complex tensor of these parts, which broadcast against each other.
Value* pack(Builder& b, Value* re, Value* im);
// Whether each number differs from zero.
Value* is_nonzero(Builder& b, Value* x);
// A rule: the same call on the real and on the imaginary parts.
void each_part(Builder& b);

const Decompositions& complex_rules();  // Arithmetic, parts and shapes.
// From numbers, part by part, comparisons, systems of equations.
const Decompositions& complex_part_rules();
const Decompositions& complex_product_rules();   // What is linear in each of two operands.
const Decompositions& complex_function_rules();  // Functions of each number by itself.
const Decompositions& fourier_rules();           // Transforms between signals and spectra.

// Whether `target` is a transform in fourier_rules().
bool is_fourier(std::string_view target);

// The rule that expresses a call on complex tensors by real ones; null if there is none.
const Decomposition* find_complex_rule(std::string_view target);

}  // namespace taper::exir
