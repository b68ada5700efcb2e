// BufferDataLoader: serves bytes that are already in memory.

#include "taper/data_loader.h"

namespace taper {

Result<Span<const uint8_t>> BufferDataLoader::load(uint64_t offset, uint64_t size) {
  TAPER_REQUIRE(offset <= bytes_.size() && size <= bytes_.size() - offset, Error::kInvalidArgument,
                "the range lies outside the buffer");
  return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

}  // namespace taper
