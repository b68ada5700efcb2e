// Where blocks of memory lie in one arena, by the calls that need them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taper::vulkan {

struct ArenaBlock {
  uint64_t bytes = 0;
  uint32_t first = 0, last = 0;  // The first and the last call that need it.
  uint64_t offset = 0;           // Set by pack().
};

// First fit by decreasing size: a block gets the lowest offset at which nothing lies that is needed
// at the same time. Returns the bytes of the arena.
uint64_t pack(std::vector<ArenaBlock>& blocks);

// The most bytes that are needed at one call: no arena is smaller.
uint64_t least_bytes(const std::vector<ArenaBlock>& blocks, size_t calls);

}  // namespace taper::vulkan
