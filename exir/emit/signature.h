// The sizes that a method's inputs may have, as text in a program file: the format itself has only
// upper bounds.
//
//   input 0 x (s17, 6)
//   input 1 mask (s17, 2*s17)
//   symbol s17 from 2 to 10
//
// It is named data under "taper.signature.METHOD", for people and for tools; the program holds
// sizes against it by its own instructions (exir/passes/simplify/keep_assertions.h).

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

inline constexpr std::string_view kSignatureKey = "taper.signature.";

struct SignatureInput {
  size_t index = 0;  // Among all flattened inputs, tensors or not.
  std::string name;
  std::vector<Sym> sizes;
};

struct Signature {
  std::vector<SignatureInput> inputs;  // The inputs with symbolic sizes.
  SymRanges ranges;                    // The ranges of the symbols in them.
};

Signature signature_of(const Graph& graph);

// Empty if no size is symbolic.
std::string signature_text(const Signature& signature);

}  // namespace taper::exir
