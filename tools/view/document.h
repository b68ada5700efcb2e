// What `taper view` shows of a model: its graph after each step of the compiler, and the program.
//
// Graphs consist of calls and values. Both are kept once, however many steps they appear in: two
// steps that hold the same number hold the same call, so the difference of two graphs is that of
// two lists of numbers, and a page is little larger than its largest graph.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace taper::tools {

struct ViewValue {
  std::string name;
  std::string scope;   // The body of control flow to which it belongs; empty: the method's graph.
  std::string type;    // "float32 (1, 3)", "int = s0"
  std::string role;    // "result", "input", "constant", "state"
  std::string from;    // The name of a constant's or state's tensor in the model; may be empty.
  uint64_t bytes = 0;  // 0 if its size is not known.
  int64_t slot = -1;   // In a program,
  // and the exporter's names of what it holds there, if the program says them.
  std::vector<std::string> holds = {};
};

// An argument of a call: text in which values appear by number.
struct ViewArgument {
  std::string name;
  std::vector<std::variant<std::string, size_t>> pieces;
};

struct ViewCall {
  std::string name;     // The exporter's name for it, or for what it was made from.
  std::string op;       // "aten::linear"
  std::string module;   // "encoder.layers.0"
  std::string line;     // "model.py:12 in forward: y = self.fc(x)"
  std::string trace;    // The whole stack, as Python prints it.
  std::string runs_on;  // In a program: a kernel table or a delegate.
  std::string place;    // In a program: "12", or "12.3" for a node of a delegate.
  std::string note;     // Why no backend took it, what a payload is.
  // Boxes around it, the outermost first: the parts of the module's path, a delegate, a body.
  std::vector<std::string> boxes;
  // The box that holds what it calls; empty if nothing does.
  std::string opens;
  std::vector<ViewArgument> args;
  std::vector<size_t> results;
};

// One graph.
struct ViewStep {
  std::string title;   // "decompose"
  std::string method;  // "forward"
  std::string note;    // What the step does, in words.
  bool is_program = false;
  std::vector<size_t> calls;
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  std::vector<std::pair<size_t, size_t>> writes;  // A state or input, and what it holds then.
};

// A tensor in the memory of a program.
struct ViewPlace {
  size_t value = 0;
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
  size_t first = 0, last = 0;  // Instructions, inclusive.
};

struct ViewMemory {
  struct Buffer {
    uint64_t bytes = 0;  // As planned.
    uint64_t peak = 0;   // The most bytes alive at once,
    size_t peak_at = 0;  // and the instruction at which they are.
  };
  std::string method;
  size_t instructions = 0;
  std::vector<Buffer> buffers;  // Buffer i + 1 of the program.
  std::vector<ViewPlace> places;
};

class ViewDocument {
 public:
  std::string file;
  std::vector<std::pair<std::string, std::string>> facts;  // "torch", "2.13.0"
  std::vector<std::string> problems;                       // Why the model is not compiled.
  std::vector<ViewStep> steps;
  std::vector<ViewMemory> memory;
  // Reports of other commands, as JSON; empty if there are none.
  std::string profile, comparison;

  // The number of a value or call, which is new unless an equal one was added before.
  size_t add(ViewValue value);
  size_t add(ViewCall call);
  const std::vector<ViewValue>& values() const { return values_; }
  const std::vector<ViewCall>& calls() const { return calls_; }

  // One JSON object, which page/document.js reads.
  std::string json() const;

 private:
  class Texts;
  static std::string row_of(const ViewValue& value, Texts& texts);
  static std::string row_of(const ViewCall& call, Texts& texts);

  std::vector<ViewValue> values_;
  std::vector<ViewCall> calls_;
  std::map<std::string, size_t, std::less<>> known_values_, known_calls_;  // By content.
};

}  // namespace taper::tools
