// Where the instructions of a method come from, as text in a program file:
//
//   text model.py:12 in forward: y = self.fc(x)
//   text encoder.fc
//   call 0 linear aten::linear 2 1
//   call 1 delegate_0 delegate::call 0 0
//   node gelu aten::gelu 0 1 3
//   holds 3 1 relu dropout
//
// A call is an instruction with its number; a node is one of those that the call before it, of a
// delegate, was compiled from. Each has the exporter's name, an operator, and the numbers of two
// texts, counted from 1: the module's path and the line of the user's source; 0 if it is not known.
// A node may have the number of a third one, the type of its first result; those of calls are in
// the program. After the call before it, its argument 3 holds the tensors that the exporter names
// relu and dropout; if the argument is a list, its item 1 does.
//
// It is named data under "taper.debug.METHOD", for tools; nothing in the runtime reads it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

inline constexpr std::string_view kDebugKey = "taper.debug.";

// One node.
struct Origin {
  std::string name, op;
  std::string module;     // "encoder.layers.0.fc1"; may be empty.
  std::string line;       // "model.py:12 in forward: y = self.fc(x)"; may be empty.
  std::string type = {};  // Of a part: its first result, "float32 (1, 8)"; may be empty.
};

// `source` may be null.
Origin origin_of(std::string_view name, std::string_view op, const Source* source);

// A result of an instruction.
struct HeldResult {
  uint32_t argument = 0, item = 0;  // The item counts if the argument is a list.
  std::vector<std::string> names;   // The exporter's, of the tensors that it holds.
};

struct InstructionOrigin {
  Origin node;
  std::vector<Origin> parts;  // What it was compiled from, if it calls a delegate.
  std::vector<HeldResult> results;
};

using DebugInfo = std::map<uint32_t, InstructionOrigin>;  // By instruction; not all are there.

std::string debug_text(const DebugInfo& info);

// Reads what debug_text() wrote. Throws Failure with the number of the line that is wrong.
DebugInfo read_debug_text(std::string_view text);

}  // namespace taper::exir
