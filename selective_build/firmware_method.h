// What the sources of a firmware say of one method: its names in C, its arguments, its memory.

#pragma once

#include <string>
#include <vector>

#include "taper/program.h"

namespace taper::select {

// An input or output that the application hands memory for.
struct FirmwarePort {
  size_t index = 0;      // Among all inputs or outputs.
  std::string name;      // "input_0"
  std::string c_type;    // "float"
  std::string text;      // "float32 (1, 10)"
  size_t rank = 0;       // Of a tensor.
  bool dynamic = false;  // Its sizes may be smaller than those in `text`.
  size_t bytes = 0;      // At most.
};

struct FirmwareMethod {
  std::string name;    // As the program says it.
  std::string id;      // The same as a word of C.
  std::string prefix;  // Of its functions: "model_", or with several methods "model_encode_".
  std::string macro;   // Of its macros: "MODEL_", "MODEL_ENCODE_".
  std::vector<FirmwarePort> inputs, outputs;
  uint64_t block_bytes = 0, block_bytes_on_32_bits = 0;
  std::vector<uint64_t> buffers;    // Bytes of each planned buffer.
  std::vector<bool> holds_state;    // One per buffer: its contents live on between executions.
  uint64_t scratch_bytes = 0;       // The most that one of its kernels asks for.
  std::vector<std::string> ranges;  // What is known of sizes that change: "symbol s0 from 1 to 8"
};

// All methods of a program. Adds to `problems` what has no form in C.
std::vector<FirmwareMethod> firmware_methods(const Program& program,
                                             std::vector<std::string>* problems);

}  // namespace taper::select
