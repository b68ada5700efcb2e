// What programs need of the binary that runs them, read from verified files.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "taper/dtypes.h"

namespace taper::select {

// One operator, over all programs.
struct OperatorNeed {
  int64_t calls = 0;
  DtypeSet dtypes = 0;           // Of the tensors that it is handed.
  std::set<std::string> models;  // Which programs name it.
};

struct BackendNeed {
  int64_t calls = 0;
  uint64_t payload_bytes = 0;
  std::set<std::string> models;
};

struct Needs {
  std::vector<std::string> models;  // As read.
  std::map<std::string, OperatorNeed> operators;
  std::map<std::string, BackendNeed> backends;
  std::map<std::string, int64_t> instructions;  // Kinds, with how many there are.
  uint64_t constant_bytes = 0;
};

// Adds what the program in `file` needs, all methods. `name` stands for it in texts. Returns one
// line that says why the file is refused, or nothing.
std::string add_needs(std::string_view file, const std::string& name, Needs* needs);

}  // namespace taper::select
