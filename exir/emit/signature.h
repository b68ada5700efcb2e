// The sizes that a method's inputs may have, as text in a program file: the format itself has only
// upper bounds.
//
//   input 0 x (s17, 6)
//   input 1 mask (s17, 2*s17)
//   symbol s17 from 2 to 10
//   guard eq(mod(s17, 4), 0): x.size()[0] % 4 == 0
//
// A guard is a condition on the symbols, once to evaluate and once to read.
//
// It is named data under "taper.signature.METHOD", which other readers ignore.

#pragma once

#include <cstdint>
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
  std::vector<Guard> guards;           // Conditions on the symbols.
};

Signature signature_of(const Graph& graph);

// Empty if no size is symbolic.
std::string signature_text(const Signature& signature);
// Reads such a text. Throws Failure naming a malformed line.
Signature parse_signature(std::string_view text);

// Why inputs of these sizes contradict the signature: a size out of its symbol's range, two sizes
// that must be equal, or a guard that does not hold. Empty if they do not. `shapes` has one entry
// per flattened input, empty where the input is not a tensor.
std::string contradiction(const Signature& signature,
                          const std::vector<std::vector<int64_t>>& shapes);

}  // namespace taper::exir
