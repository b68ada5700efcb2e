// A bound on the memory that each method of a program uses when it runs.

#pragma once

#include <cstdint>
#include <string>

#include "exir/emit/program_file.h"

namespace taper::tools {

// Parses a size in bytes: "4096", "256K", "1M" or "2G", with units of 1024. Throws a UsageError
// that names `option`.
uint64_t bytes_of_text(const std::string& text, const std::string& option);

// Throws exir::Failure if a method needs more than `budget` bytes for its block and its planned
// buffers; the lines after the first list the tensors alive at the peak.
// REQUIRES: this compiler wrote the program.
void require_budget(const exir::FilePieces& pte, uint64_t budget);

}  // namespace taper::tools
