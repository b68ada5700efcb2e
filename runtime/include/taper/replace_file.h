// Writes a file whole or not at all, for caches beside a model.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper {

struct FilePart {
  uint64_t offset;
  Span<const uint8_t> bytes;
};

// Writes a file with another name beside `path` and renames it to `path`, so that readers see
// either the old or the new file. It gets `size` bytes; those in none of the parts are zero. A file
// that its owner has made read-only is not replaced.
// Returns kAccessFailed with the reason; kNotSupported on systems without POSIX, except Windows. After a power
// failure the file may be cut short: readers must check it.
Status replace_file(const char* path, uint64_t size, Span<const FilePart> parts);

}  // namespace taper
