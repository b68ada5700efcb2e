// Lowers an exported graph to one in which every node is a kernel call or a delegate call.
// lower.cpp is the table of contents of the compiler.

#pragma once

#include <functional>
#include <optional>
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
  double seconds = 0;  // Includes the verifier that runs after it.
};

struct LowerOptions {
  // Names of passes to skip, for bisecting. Throws Failure for a pass on which others rely.
  std::vector<std::string> disabled;
  // Called before each pass, with how many come before it and how many there are; for a display of
  // progress.
  std::function<void(std::string_view pass, size_t done, size_t total)> before_pass;
  // Called after each pass that changed something, with its name and the graph; for --dump-after.
  std::function<void(std::string_view pass, const Graph& graph)> after_pass;
  // The dialect to lower to; later passes are skipped.
  Dialect until = Dialect::kBackend;
  // The dialect that the graph was lowered to before, by passes that are then skipped.
  std::optional<Dialect> from;
  // The backends, in order of preference; kernels run what they leave.
  BackendCompilers backends;
  // Which groups of nodes they run.
  Groups delegated = Groups::kThatPay;
  // Whether the program must run in the runtime of ExecuTorch's wheel: operators that only this
  // runtime has are not emitted, and operators without a kernel there are refused.
  bool for_executorch = false;
  // Whether calls for which there is no kernel are left to PyTorch's own operators, if they can be:
  // the program then needs a runtime that has them (ops/aten_calls.h).
  bool aten = false;
  // Receives what the backends took, and why not the rest; may be null. Must outlive the call.
  Delegation* delegation = nullptr;
  // Receives what the user should know, a line each; may be null. Must outlive the call.
  std::vector<std::string>* warnings = nullptr;
  // Whether the target has a kernel of that name. The default: the portable kernels, and those that
  // declarations name, which the application provides.
  std::function<bool(std::string_view)> has_kernel;
};

// Lowers in place. Returns what each pass did. Throws Failure: the problems of the user's model
// that all passes found, with source lines, or a rule that a pass of the compiler itself has
// broken, with its name.
std::vector<PassReport> lower(Graph& graph, const LowerOptions& options);

// The names of all passes, in order.
const std::vector<std::string>& pass_names();

}  // namespace taper::exir
