// Mapping a file into memory, and reading one: all that the loaders need from the operating system.
// Paths are UTF-8 on every system.

#pragma once

#include <cstdint>
#include <cstdio>

#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// Maps the whole file, read only. An empty file gives an empty span. `version`, unless it is null,
// receives the result of DataLoader::version_of().
// Returns kNotFound, kAccessFailed, or kNotSupported on systems that cannot map files. After the
// first two errno has the system's reason, and 0 for what is neither a file nor a folder.
Result<Span<const uint8_t>> map_file(const char* path, uint64_t* version = nullptr);

void unmap_file(Span<const uint8_t> bytes);

// True if `bytes` lie in `whole`.
bool contains(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// Releases the memory of all pages that hold some of `bytes`, if these lie in the mapping `whole`.
void release_mapped(Span<const uint8_t> whole, Span<const uint8_t> bytes);

// True if `path` can be opened but is a directory, which reads as an empty file on some systems.
bool is_directory(const char* path);

// As fopen() for reading bytes.
std::FILE* open_to_read(const char* path);

// Its size, and moves to its end; negative if there is none.
int64_t size_of(std::FILE* file);

// A hash, never 0, of facts about a file that change whenever the file does.
uint64_t hash_of_facts(Span<const uint64_t> facts);

}  // namespace taper::internal
