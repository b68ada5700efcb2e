// How the compiler says no: Failure, its only exception, and Diagnostic, one thing that is wrong.
//
// A stage collects every problem it can find and throws them together. what() is the one-line
// summary; the command line prints each diagnostic under it.

#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace taper::exir {

struct Diagnostic {
  std::string id;       // Stable: "unsupported-op", "bad-archive", ...
  std::string message;  // What is wrong, naming the thing.
  std::string where;    // Node name, member name; may be empty.
  std::string
      source;  // The user's own line: "model.py:12 in forward: y = torch.foo(x)"; may be empty.
  std::string remedy;  // What would work; may be empty.
};

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& summary) : std::runtime_error(summary) {}
  Failure(const std::string& summary, std::vector<Diagnostic> diagnostics)
      : std::runtime_error(summary), diagnostics_(std::move(diagnostics)) {}
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace taper::exir
