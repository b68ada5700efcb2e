// Checks that graphs are legal: one verifier for all dialects, run after every pass in every build.
//
//   kAten       what torch.export writes: any operator, writes and views included
//   kCoreAten   functional: nothing is written; operators of the Core ATen set, and those that the
//               caller allows; view operators remain, but their results alias nothing
//   kEdge       every operator has an out variant, or the caller allows it; no views, no numbers
//               for tensors, operands of arithmetic have one dtype
//   kBackend    every node is a kernel call (an out variant or a prim), a delegate call or control
//               flow
//
// In every dialect the graph is well formed: values are defined once and before their use, names
// are unique, arguments fit their schema, results match it, constants hold exactly their bytes, dim
// orders are permutations, bodies of control flow take and return what their operator passes.

#pragma once

#include <functional>

#include "exir/ir/graph.h"

namespace taper::exir {

enum class Dialect : uint8_t { kAten, kCoreAten, kEdge, kBackend };

const char* to_string(Dialect dialect);

// True for calls that are legal beyond the dialect's own operators; used in Core ATen and Edge.
using LegalCalls = std::function<bool(const Node&)>;

// Throws Failure that lists every broken rule.
void verify(const Graph& graph, Dialect dialect, const LegalCalls& also_legal = {});

}  // namespace taper::exir
