// The places of a .pte's tensors in its planned buffers and the instructions during which they are
// alive: as rows, and as a picture with time to the right and addresses upward.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taper::wire {
struct Program;
}

namespace taper::tools {

// One tensor in a planned buffer.
struct MemoryRow {
  int32_t slot = 0;  // Of the method's values.
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
  size_t first = 0, last = 0;  // Instructions, inclusive.
  std::string origin;          // "input 0", "state", or the operator that first names it.
};

struct BufferUse {
  uint64_t bytes = 0;  // As planned.
  uint64_t peak = 0;   // The most bytes alive at once.
  size_t peak_at = 0;  // The instruction at which they are.
};

struct MethodMemory {
  std::string name;
  size_t instructions = 0;
  std::vector<BufferUse> buffers;  // Buffer i + 1 of the program.
  std::vector<MemoryRow> rows;     // Sorted by first use.
};

// REQUIRES: the runtime has verified the file.
std::vector<MethodMemory> read_memory(std::string_view file);
std::vector<MethodMemory> read_memory(const wire::Program& program);

// `delegates` describes the memory of the delegates; empty if there are none.
void print_memory(const MethodMemory& method, uint64_t method_bytes, const std::string& delegates);

// An SVG of all methods, one below the other.
std::string memory_svg(const std::vector<MethodMemory>& methods);

}  // namespace taper::tools
