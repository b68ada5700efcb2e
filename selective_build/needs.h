// What programs require of the binary that runs them, read from verified files.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "taper/backend.h"
#include "taper/dtypes.h"

namespace taper::select {

// What all programs together need of one operator.
struct OperatorNeed {
  int64_t calls = 0;
  DtypeSet dtypes = 0;           // The dtypes of the tensors that are passed to it.
  std::set<std::string> models;  // The programs that use it.
};

struct BackendNeed {
  int64_t calls = 0;
  uint64_t payload_bytes = 0;
  std::set<std::string> models;
  std::set<std::string> parts;  // Of the device half, if it consists of parts.
};

struct Needs {
  std::vector<std::string> models;  // The programs, in the order in which they were read.
  std::map<std::string, OperatorNeed> operators;
  std::map<std::string, BackendNeed> backends;
  std::map<std::string, int64_t> instructions;  // The number of instructions of each kind.
  uint64_t constant_bytes = 0;
};

// The parts of a backend's device half that a payload needs.
using PartsOf = std::function<std::set<std::string>(
    std::string_view delegate_id, std::span<const uint8_t> payload, CompileSpecs specs)>;

// Adds what all methods of the program in `file` need. `name` is its name in texts. Returns an
// empty text, or one line that says why the file is refused.
std::string add_needs(std::string_view file, const std::string& name, Needs* needs,
                      const PartsOf& parts_of = nullptr);

}  // namespace taper::select
