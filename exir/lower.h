// From an exported graph to one whose every node is a kernel call. lower.cpp is the table of
// contents of the compiler.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exir/delegate/partition.h"
#include "exir/dialect/verifier.h"
#include "exir/ir/graph.h"

namespace taper::exir {

struct PassReport {
  std::string name;
  int changes = 0;     // Nodes or values that the pass touched.
  double seconds = 0;  // With the verifier that follows it.
};

struct LowerOptions {
  // Names of passes to leave out; for bisecting. Passes that others stand on refuse.
  std::vector<std::string> disabled;
  // Called with a pass's name and the graph's text after it changed something; for --dump-after.
  std::function<void(std::string_view pass, const Graph& graph)> after_pass;
  // The last dialect to lower to; the passes after it are left out.
  Dialect until = Dialect::kBackend;
  // Who runs what it takes; null: kernels run everything. Outlives the call.
  const BackendCompiler* backend = nullptr;
  // Which groups of nodes it runs.
  Groups delegated = Groups::kThatPay;
  // Whether ExecuTorch's runtime, as its wheel brings it, is to run the program: nothing is left in
  // it that this runtime alone can run, and what it has no kernel for is refused.
  bool for_executorch = false;
  // Told of every node that stays outside of the backend, and why.
  NoteOutside outside;
  // Whether the target has a kernel of that name. If not set: the portable kernels, and those that
  // a declaration names, which the application brings.
  std::function<bool(std::string_view)> has_kernel;
};

// Lowers in place. Returns what each pass did. Throws Failure: problems of the user's model with
// their source lines, those of all passes together, or a broken rule of the compiler itself, naming
// the pass.
std::vector<PassReport> lower(Graph& graph, const LowerOptions& options);

// The names of all passes, in order.
const std::vector<std::string>& pass_names();

}  // namespace taper::exir
