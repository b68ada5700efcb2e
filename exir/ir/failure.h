// How the compiler reports errors: Failure, its only exception, and Diagnostic, a single problem.
//
// A stage collects every problem that it can find and throws them together. what() is the one-line
// summary; the command line prints each diagnostic under it. Findings collects what several stages
// threw: a node that was refused stays in the graph, and later stages skip it.

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
  std::string expected = {};  // What was expected and what was found, such as "float32" and
  std::string actual = {};    // "int64"; empty if the message says it all.
  std::string stage = {};     // "import", a pass, "plan"; Findings fills it in.

  // Here and in graph.h, what is copied and destroyed all over the compiler is compiled once.
  Diagnostic() noexcept;
  Diagnostic(std::string id, std::string message, std::string where = {}, std::string source = {},
             std::string remedy = {}, std::string expected = {}, std::string actual = {});
  Diagnostic(const Diagnostic&);
  Diagnostic(Diagnostic&&) noexcept;
  Diagnostic& operator=(const Diagnostic&);
  Diagnostic& operator=(Diagnostic&&) noexcept;
  ~Diagnostic();
};

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& summary);
  Failure(const std::string& summary, std::vector<Diagnostic> diagnostics);
  Failure(const Failure&);
  ~Failure() override;
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// The problems of all stages, at most one stage's per node or value.
class Findings {
 public:
  // Adds what `stage` threw: its diagnostics, or its text if it has none. Diagnostics about a node
  // or value that an earlier stage has reported are dropped.
  void add(const std::string& stage, const Failure& failure);
  void add(const std::string& stage, std::vector<Diagnostic> diagnostics);
  bool empty() const { return all_.empty(); }
  // Throws all problems as one Failure, which keeps the text of the failure if there was only one.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> all_;
  std::string summary_;  // The text of the first failure.
  int failures_ = 0;
};

}  // namespace taper::exir
