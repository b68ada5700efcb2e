// The sizes that a method's inputs may have, as the text that a program file carries beside it: the
// format itself knows only upper bounds.
//
//   input 0 x (s17, 6)
//   input 1 mask (s17, 2*s17)
//   symbol s17 from 2 to 10
//
// It is named data under "taper.signature.METHOD"; a reader that does not know it loses nothing.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

inline constexpr std::string_view kSignatureKey = "taper.signature.";

struct SignatureInput {
  size_t index = 0;  // Among the flattened inputs, those that are no tensors included.
  std::string name;
  std::vector<Sym> sizes;
};

struct Signature {
  std::vector<SignatureInput> inputs;  // Those with symbolic sizes.
  SymRanges ranges;                    // Of the symbols in them.
};

Signature signature_of(const Graph& graph);

// Empty if no size is symbolic.
std::string signature_text(const Signature& signature);
// Throws Failure if that is not what the text is.
Signature parse_signature(std::string_view text);

// Why inputs of these sizes do not go together, or empty: a size out of its symbol's range, or two
// sizes that must be one. `shapes` has one entry per flattened input (empty where it is no tensor).
std::string contradiction(const Signature& signature,
                          const std::vector<std::vector<int64_t>>& shapes);

}  // namespace taper::exir
