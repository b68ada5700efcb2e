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
// The pair of both, marked as complex. They broadcast.
Value* pack(Builder& b, Value* re, Value* im);

const Decompositions& complex_rules();  // Arithmetic, parts and shapes.
const Decompositions& fourier_rules();  // Transforms between signals and spectra.

// Whether that is a transform of fourier_rules().
bool is_fourier(std::string_view target);

// The rule that writes a call over complex numbers with real ones, or null.
const Decomposition* find_complex_rule(std::string_view target);

}  // namespace taper::exir
