// A compiled program that runs as it is, delegates and all, while somebody looks at what its
// instructions give: by the exporter's names, which the program states (exir/emit/debug_info.h).

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exir/emit/debug_info.h"
#include "tools/program_runner.h"

namespace taper::tools {

// A tensor that can be seen.
struct ObservedTensor {
  std::vector<std::string> names;   // At least one.
  int64_t instruction = -1;         // That makes it; negative: it is known as an output only.
  uint32_t argument = 0, item = 0;  // Of the instruction, as HeldResult has them.
  size_t output = 0;                // Of the method, if there is no instruction.
  exir::Origin origin;              // Of the instruction.
  std::string runs_on;              // "portable", or a delegate's id.
  // Nodes that a delegate runs; empty for a kernel.
  std::vector<exir::Origin> parts;
  std::set<size_t>
      reads;  // The tensors that the instruction reads, through others that are unseen.
  ScalarType dtype = ScalarType::kFloat;
  uint64_t bytes = 0;
};

class ObservedProgram {
 public:
  // Loads the method, sets the inputs and runs it once. Without `files` the inputs are ones. Throws
  // InputError.
  ObservedProgram(const RunnerOptions& options, const std::vector<std::string>& files);

  ProgramRunner& runner() { return *runner_; }
  const std::vector<NpyArray>& inputs() const { return inputs_; }
  // Whether the program states where its tensors are.
  bool has_names() const { return has_names_; }
  // All instructions' nodes, by instruction.
  const exir::DebugInfo& origins() const { return origins_; }

  // In the order of execution.
  const std::vector<ObservedTensor>& tensors() const { return tensors_; }
  // The tensor with one of these names; negative if there is none.
  int64_t find(const std::vector<std::string>& names) const;
  // Says what an output of the method is called, in case no instruction is known to make it.
  void name_output(size_t output, const std::vector<std::string>& names);

  // Runs the method anew, from its first state, and returns those tensors. Throws InputError.
  std::map<size_t, NpyArray> read(const std::set<size_t>& wanted);

 private:
  void list_tensors();
  void look_at_flow();

  std::unique_ptr<ProgramRunner> runner_;
  std::vector<NpyArray> inputs_;
  exir::DebugInfo origins_;
  bool has_names_ = false;
  std::vector<ObservedTensor> tensors_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace taper::tools
