// The places of a .pte's tensors in its planned buffers and the instructions during which they are
// alive: as rows, and as a picture with time to the right and addresses upward.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  // The instruction that first names it, and the place among its arguments; none for inputs and
  // state.
  std::optional<uint32_t> instruction = std::nullopt;
  uint32_t argument = 0;
};

struct BufferUse {
  uint64_t bytes = 0;  // As planned.
  uint64_t peak = 0;   // The most bytes alive at once.
  size_t peak_at = 0;  // The instruction at which they are.
  // As many if tensors that share bytes, such as views and results in place, did not.
  uint64_t peak_without_sharing = 0;
};

struct MethodMemory {
  std::string name;
  size_t instructions = 0;
  std::vector<BufferUse> buffers;               // Buffer i + 1 of the program.
  std::vector<MemoryRow> rows;                  // Sorted by first use.
  std::map<uint32_t, uint32_t> delegate_calls;  // The first instruction that calls a delegate.
};

// REQUIRES: the runtime has verified the file.
std::vector<MethodMemory> read_memory(std::string_view file);
std::vector<MethodMemory> read_memory(const wire::Program& program);

// The most bytes of a buffer that are alive at once during that many steps; `use.bytes` stays 0.
// Bytes shared by several tensors count once.
BufferUse peak_of(const std::vector<MemoryRow>& rows, uint32_t buffer, size_t steps);

// What is alive at a step, the largest first.
std::vector<MemoryRow> alive_at(const std::vector<MemoryRow>& rows, uint32_t buffer, size_t step);

// An SVG of all methods, one below the other.
std::string memory_svg(const std::vector<MethodMemory>& methods);

}  // namespace taper::tools
