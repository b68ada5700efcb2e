// HierarchicalAllocator: addresses within planned buffers.

#include "taper/memory.h"

namespace taper {

Result<uint8_t*> HierarchicalAllocator::address(size_t i, uint64_t offset, uint64_t size) const {
  TAPER_REQUIRE(i < buffers_.size(), Error::kInvalidArgument, "there is no such planned buffer");
  const Span<uint8_t> buffer = buffers_[i];
  TAPER_REQUIRE(offset <= buffer.size() && size <= buffer.size() - offset,
                Error::kMemoryAllocationFailed, "a planned buffer is too small");
  return buffer.data() + offset;
}

}  // namespace taper
