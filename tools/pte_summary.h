// What is inside a .pte, read from its tables by the schema alone: a second reader, independent of
// the runtime's.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taper::tools {

struct ValueSummary {
  std::string kind;            // "tensor", "int", "double", "bool", "string", "none", "... list"
  std::string dtype;           // Of a tensor.
  std::vector<int64_t> sizes;  // Of a tensor; the upper bound when dynamic.
  bool dynamic = false;
  bool channels_last = false;  // Any dim order but 0,1,2,...
  std::string text;            // A number's or string's value.
};

struct DelegateSummary {
  std::string id;
  uint64_t bytes = 0;
  std::vector<std::string> specs = {};   // "share_workspace=01": values in hexadecimal.
  std::optional<uint32_t> segment = {};  // Where the payload is, if not in the tables.
  std::string text = {};                 // What its backend says of it; empty if nothing.
};

struct MethodSummary {
  std::string name;
  std::vector<ValueSummary> inputs, outputs;
  std::map<std::string, int64_t> operators;  // Name with overload, to its number of calls.
  int64_t instructions = 0, values = 0;
  std::map<std::string, int64_t> instruction_kinds;
  std::vector<DelegateSummary> delegates;
  std::vector<int64_t> arenas;  // Bytes of each planned arena.
  uint64_t method_bytes = 0;    // What the runtime needs besides; 0 if not asked.
  int64_t constants = 0, mutable_buffers = 0;
  std::vector<std::string> external;  // Names of tensors whose bytes a .ptd holds.
};

struct PteSummary {
  uint64_t file_bytes = 0, program_bytes = 0, constant_bytes = 0, mutable_bytes = 0;
  uint64_t segment_bytes = 0;  // All segments together.
  std::vector<MethodSummary> methods;
  std::vector<std::string> named_data;
};

// REQUIRES nothing: a file that is no program throws InputError with `name` in its text.
PteSummary summarise_pte(std::string_view file, const std::string& name);

// "float32 (1, 3, 224, 224)", "int 3", "none".
std::string value_text(const ValueSummary& value);

}  // namespace taper::tools
