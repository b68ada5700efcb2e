// Lowers graphs with backends and runs the resulting program with them.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/emit/program_file.h"
#include "exir/lower.h"
#include "taper/module.h"
#include "test/backends/subject.h"

namespace taper::test {

// Lowered methods, which a test may change before they are emitted.
struct Lowered {
  std::vector<std::unique_ptr<exir::Graph>> graphs;
  std::vector<exir::Delegation> delegations;  // One for each graph.
  exir::BackendCompilers backends;

  // The number of delegates, and of nodes that run in them.
  size_t delegates() const;
  size_t delegated_nodes() const;
  // The reason for each node that is not delegated.
  std::vector<std::string> refusals() const;
  // Emits the program. Graphs without control flow may be changed and emitted again.
  std::vector<uint8_t> emit();
};

// Lowers and delegates everything that the backends take. `backends` has the form of --backend;
// methods are named after their graphs. Throws exir::Failure.
Lowered lower_for(const std::string& backends, std::vector<std::unique_ptr<exir::Graph>> graphs);
// The same for one graph given as text.
Lowered lower_for(const std::string& backends, const std::string& graph_text);

// A program in memory with the backends that run it.
class DelegatedProgram {
 public:
  // The backends must outlive the program.
  DelegatedProgram(std::vector<uint8_t> file, std::vector<Backend> backends);

  // Loads the method. Returns what is wrong, or an empty string.
  std::string load_error(const std::string& method = "forward");
  // Returns the outputs, which are valid until the next call; empty on failure, see error().
  std::vector<EValue> run(const std::vector<EValue>& inputs, const std::string& method = "forward");
  const std::string& error() const { return module_.last_error_text(); }
  Module& module() { return module_; }

 private:
  const std::vector<uint8_t> file_;
  const std::vector<Backend> backends_;
  Module module_;
};

Backend backend_of(const Subject& subject, Device& device);

// Whether it gives numbers of float16 for comparison on this processor. REQUIRES: it has a
// half_option.
bool can_round(const Subject& subject);

}  // namespace taper::test
