// Mapping a file into memory: the one thing a loader needs from the operating system.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Maps the whole file, read only. An empty file is an empty span. `version`, if not null, becomes
// what DataLoader::version_of() says.
// Returns kNotFound, kAccessFailed, or kNotSupported where there is no mapping.
Result<Span<const uint8_t>> map_file(const char* path, uint64_t* version = nullptr);

void unmap_file(Span<const uint8_t> bytes);

// True if `bytes` lie in `whole`.
bool contains(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// Gives back the memory of all pages that hold some of `bytes`, if they lie in the mapping `whole`.
void release_mapped(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// True if `path` can be opened but is a directory, which reads as an empty file on some systems.
bool is_directory(const char* path);

}  // namespace taper::internal
