// How the compiler says no: Failure, its only exception, and Diagnostic, one thing that is wrong.
//
// A stage collects every problem it can find and throws them together. what() is the one-line
// summary; the command line prints each diagnostic under it. Findings gathers what several stages
// threw: a node that was refused stays in the graph as one that later stages pass over.

#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace taper::exir {

struct Diagnostic {
  std::string id;       // Stable: "unsupported-op", "bad-archive", ...
  std::string message;  // What is wrong, naming the thing.
  std::string where;    // Node name, member name; may be empty.
  // The user's own line: "model.py:12 in forward: y = torch.foo(x)"; may be empty.
  std::string source;
  std::string remedy;         // What would work; may be empty.
  std::string expected = {};  // What would have been right and what was found: "float32",
  std::string actual = {};    // "int64"; empty where the message says it all.
  std::string stage = {};     // "import", a pass, "plan": filled in by whoever runs the stages.
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

// The problems of all stages, each thing once.
class Findings {
 public:
  // Adds what `stage` threw: its diagnostics, or its text if it has none. A node or value about
  // which an earlier stage said something is not named again.
  void add(const std::string& stage, const Failure& failure);
  void add(const std::string& stage, std::vector<Diagnostic> diagnostics);
  bool empty() const { return all_.empty(); }
  // Throws everything as one Failure, with the text of the only failure if there was but one.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> all_;
  std::string summary_;  // Of the first.
  int failures_ = 0;
};

}  // namespace taper::exir
