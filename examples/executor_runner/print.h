// The output of executor_runner: what it prints and the files that it writes.

#pragma once

#include <string>

#include "options.h"
#include "taper/method.h"

namespace taper::example {

void print_outputs(const Method& method, PrintOutput how);
// Prints the exact size of each block of memory that the method needs.
void print_memory(const MethodMeta& meta);
// Writes the elements of tensor output K, in memory order, to PREFIX-K.bin. A no-op if the prefix
// is empty. Returns false if a file could not be written.
bool write_outputs(const Method& method, const std::string& prefix);

}  // namespace taper::example
