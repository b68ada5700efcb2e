// The description of a method for firmware sources: its names in C, its arguments, its memory.

#pragma once

#include <string>
#include <vector>

#include "taper/program.h"

namespace taper::select {

// An input or output, for which the application provides the memory.
struct FirmwarePort {
  size_t index = 0;      // Among all inputs or outputs.
  std::string name;      // "input_0"
  std::string c_type;    // "float"
  std::string text;      // "float32 (1, 10)"
  size_t rank = 0;       // The rank of a tensor.
  bool dynamic = false;  // True if its sizes may be smaller than those in `text`.
  size_t bytes = 0;      // The size in bytes, or its upper bound.
};

struct FirmwareMethod {
  std::string name;    // The name in the program.
  std::string id;      // The name as a C identifier.
  std::string prefix;  // Starts its functions: "model_", or with several methods "model_encode_".
  std::string macro;   // Starts its macros: "MODEL_", "MODEL_ENCODE_".
  std::vector<FirmwarePort> inputs, outputs;
  uint64_t block_bytes = 0, block_bytes_on_32_bits = 0;
  std::vector<uint64_t> buffers;    // The size of each planned buffer in bytes.
  std::vector<bool> holds_state;    // Per buffer: whether its contents persist between executions.
  uint64_t scratch_bytes = 0;       // The most scratch memory that one of its kernels uses.
  std::vector<std::string> ranges;  // The ranges of dynamic sizes: "symbol s0 from 1 to 8".
};

// Describes all methods of a program. Adds to `problems` whatever cannot be expressed in C.
std::vector<FirmwareMethod> firmware_methods(const Program& program,
                                             std::vector<std::string>* problems);

}  // namespace taper::select
