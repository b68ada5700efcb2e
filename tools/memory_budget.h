// A bound on the memory that each method of a program takes when it runs.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taper::tools {

// "256K", "1M", "2G", "4096": bytes, in steps of 1024. Throws UsageError that names `option`.
uint64_t bytes_of_text(const std::string& text, const std::string& option);

// Throws InputError if a method needs more than `budget` bytes for its block and its planned
// buffers; what lies there at the peak is listed on stderr, the largest first.
// REQUIRES: `file` is a program that this compiler wrote.
void require_budget(std::string_view file, uint64_t budget);

}  // namespace taper::tools
