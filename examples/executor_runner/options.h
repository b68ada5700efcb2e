// The command line of executor_runner, with ExecuTorch's names.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taper::example {

enum class PrintOutput { kNone, kSummary, kAll };

struct Options {
  std::string model_path, data_path, method_name, output_file, etdump_path;
  std::vector<std::string> inputs;
  uint64_t num_executions = 1;
  PrintOutput print_output = PrintOutput::kSummary;
  bool print_memory = false;
  double rtol = 1e-5, atol = 1e-8;  // For the test cases of a .bpte.
  uint32_t threads = 0;  // The number of threads of a backend; 0 leaves the choice to it.
};

// Parses the command line. Exits for --help (exit code 0) and for a bad command line (2).
Options parse_or_exit(int argc, char** argv);

}  // namespace taper::example
