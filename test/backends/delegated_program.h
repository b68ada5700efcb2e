// Graphs through the compiler with a backend, and the program through the runtime with it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/emit/program_file.h"
#include "exir/lower.h"
#include "taper/module.h"
#include "test/backends/subject.h"

namespace taper::test {

// Methods that are lowered, and may be changed before they become a file.
struct Lowered {
  std::vector<std::unique_ptr<exir::Graph>> graphs;
  std::vector<exir::Delegation> delegations;  // One for each graph.

  // How many delegates there are, and how many nodes run in them.
  size_t delegates() const;
  size_t delegated_nodes() const;
  // Why nodes stay outside: a reason for each.
  std::vector<std::string> refusals() const;
  // The program. Graphs without control flow may be changed and written again.
  std::vector<uint8_t> emit();
};

// Lowers with everything delegated that the backends take; their list is as --backend has it.
// Throws exir::Failure.
Lowered lower_for(const std::string& backends, std::vector<std::unique_ptr<exir::Graph>> graphs);
// The same of one graph as text. The methods' names are the graphs'.
Lowered lower_for(const std::string& backends, const std::string& graph_text);

// A program in memory with the devices that run it.
class DelegatedProgram {
 public:
  // The backends must outlive the program.
  DelegatedProgram(std::vector<uint8_t> file, std::vector<Backend> backends);

  // Empty, or what is wrong.
  std::string load_error(const std::string& method = "forward");
  // The outputs, which hold until the next call. Empty if it failed; error() says why then.
  std::vector<EValue> run(const std::vector<EValue>& inputs, const std::string& method = "forward");
  const std::string& error() const { return module_.last_error_text(); }
  Module& module() { return module_; }

 private:
  const std::vector<uint8_t> file_;
  const std::vector<Backend> backends_;
  Module module_;
};

Backend backend_of(const Subject& subject, Device& device);

}  // namespace taper::test
