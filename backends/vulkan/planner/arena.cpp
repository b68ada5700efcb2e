#include "backends/vulkan/planner/arena.h"

#include <algorithm>

namespace taper::vulkan {

uint64_t pack(std::vector<ArenaBlock>& blocks) {
  std::vector<ArenaBlock*> by_size;
  for (ArenaBlock& block : blocks) by_size.push_back(&block);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->bytes > b->bytes; });
  const auto by_offset = [](const ArenaBlock* a, const ArenaBlock* b) {
    return a->offset < b->offset;
  };
  uint64_t arena = 0;
  std::vector<const ArenaBlock*> placed;  // By offset.
  for (ArenaBlock* block : by_size) {
    block->offset = 0;
    for (const ArenaBlock* other : placed) {
      if (other->last < block->first || block->last < other->first) continue;
      const bool overlaps = block->offset < other->offset + other->bytes &&
                            other->offset < block->offset + block->bytes;
      if (overlaps) block->offset = other->offset + other->bytes;
    }
    arena = std::max(arena, block->offset + block->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block, by_offset), block);
  }
  return arena;
}

uint64_t least_bytes(const std::vector<ArenaBlock>& blocks, size_t calls) {
  std::vector<int64_t> change(calls + 2);
  for (const ArenaBlock& block : blocks) {
    change[block.first] += static_cast<int64_t>(block.bytes);
    change[block.last + size_t{1}] -= static_cast<int64_t>(block.bytes);
  }
  int64_t needed = 0, most = 0;
  for (const int64_t each : change) most = std::max(most, needed += each);
  return static_cast<uint64_t>(most);
}

}  // namespace taper::vulkan
