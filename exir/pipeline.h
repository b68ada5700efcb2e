// Runs passes over a graph. After each one, in every build, the verifier checks that the graph is
// legal in the dialect that the pass leaves behind.
//
// Beyond a dialect's own operators a graph may contain composites that were kept whole, nodes that
// a pass refused and marked, and operators of the program that cannot be compiled, all of which
// to_out_variants refuses together by name. A pass that introduces anything else is reported by
// name.

#pragma once

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "exir/delegate/unpacked_weights.h"
#include "exir/lower.h"

namespace taper::exir {

// What the passes of one lowering share besides the graph.
struct Lowering {
  const LowerOptions& options;
  // Composite operators of which some calls are kept whole, for a backend or for a kernel.
  std::unordered_set<std::string> kept_whole;
  // Large constants of floats that were made of narrower elements; for reports.
  std::unordered_set<const Value*> widened = {};
  std::vector<FewBits> few_bits = {}, with_codes = {};  // Also for reports.
};

enum class Need { kAlways, kOptional };

struct Pass {
  const char* name;
  Need need;
  Dialect after;  // What the verifier checks when the pass is done.
  int (*run)(Graph&, Lowering&);
};

// The passes of lower(), in order.
std::span<const Pass> all_passes();

// lower() with other passes than its own, for tests.
std::vector<PassReport> lower(Graph& graph, const LowerOptions& options,
                              std::span<const Pass> passes);

}  // namespace taper::exir
