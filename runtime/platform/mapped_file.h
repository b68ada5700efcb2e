// Mapping a file into memory: the one thing a loader needs from the operating system.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Maps the whole file, read only. An empty file is an empty span.
// Returns kNotFound, kAccessFailed, or kNotSupported where there is no mapping.
Result<Span<const uint8_t>> map_file(const char* path);

void unmap_file(Span<const uint8_t> bytes);

// True if `path` can be opened but is a directory, which reads as an empty file on some systems.
bool is_directory(const char* path);

}  // namespace taper::internal
