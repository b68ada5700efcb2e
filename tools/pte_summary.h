// A summary of a .pte's contents, read from its tables by the schema alone: a second reader,
// independent of the runtime's.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "taper/backend.h"

namespace taper::tools {

struct ValueSummary {
  std::string kind;            // "tensor", "int", "double", "bool", "string", "none", "... list"
  std::string dtype;           // For a tensor.
  std::vector<int64_t> sizes;  // For a tensor; the upper bounds if it is dynamic.
  bool dynamic = false;
  bool channels_last = false;  // Any dim order other than 0,1,2,...
  std::string text;            // The value of a number or string.
  bool varies = false;         // For an input: a number that the program reads.
};

struct DelegateSummary {
  std::string id;
  uint64_t bytes = 0;
  std::vector<std::string> specs = {};   // "share_workspace=01": values in hexadecimal.
  std::optional<uint32_t> segment = {};  // Where the payload is, if not in the tables.
  std::string text = {};                 // What `describe` of summarise_pte() said.
};

struct MethodSummary {
  std::string name;
  std::vector<ValueSummary> inputs, outputs;
  std::map<std::string, int64_t> operators;  // Number of calls by name with overload.
  int64_t instructions = 0, values = 0;
  std::map<std::string, int64_t> instruction_kinds;
  std::vector<DelegateSummary> delegates;
  std::vector<int64_t> arenas;  // Size in bytes of each planned buffer.
  uint64_t method_bytes = 0;    // Size of the runtime's method block; 0 if not queried.
  int64_t constants = 0, mutable_buffers = 0;
  std::vector<std::string> external;  // Names of tensors whose data is in a .ptd.
};

struct NamedDataSummary {
  std::string key;
  uint64_t bytes = 0;
};

struct PteSummary {
  uint64_t file_bytes = 0, program_bytes = 0, constant_bytes = 0, mutable_bytes = 0;
  uint64_t segment_bytes = 0;  // Total size of all segments.
  std::vector<MethodSummary> methods;
  std::vector<NamedDataSummary> named_data;
};

// What a backend says of a delegate, whose compile specs are given as well.
using DescribeDelegate = std::function<std::string(const DelegateSummary&, CompileSpecs)>;

// Accepts any bytes: throws an InputError that contains `name` if they are not a program.
PteSummary summarise_pte(std::string_view file, const std::string& name,
                         const DescribeDelegate& describe = {});

// Formats a value: "float32 (1, 3, 224, 224)", "int 3", "int 3, varies", "none".
std::string value_text(const ValueSummary& value);

}  // namespace taper::tools
