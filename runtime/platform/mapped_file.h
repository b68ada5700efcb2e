// Mapping a file into memory, which is all that the loaders need from the operating system.

#pragma once

#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Maps the whole file, read only. An empty file gives an empty span. `version`, unless it is null,
// receives the result of DataLoader::version_of().
// Returns kNotFound, kAccessFailed, or kNotSupported on systems that cannot map files.
Result<Span<const uint8_t>> map_file(const char* path, uint64_t* version = nullptr);

void unmap_file(Span<const uint8_t> bytes);

// True if `bytes` lie in `whole`.
bool contains(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// Releases the memory of all pages that hold some of `bytes`, if these lie in the mapping `whole`.
void release_mapped(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// True if `path` can be opened but is a directory, which reads as an empty file on some systems.
bool is_directory(const char* path);

}  // namespace taper::internal
