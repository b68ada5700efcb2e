// What executor_runner shows and writes.

#pragma once

#include <string>

#include "options.h"
#include "taper/method.h"

namespace taper::example {

void print_outputs(const Method& method, PrintOutput how);
// Each block of memory that the method needs, exactly.
void print_memory(const MethodMeta& meta);
// The elements of tensor output K to PREFIX-K.bin, as they lie in memory. Nothing for an empty
// prefix. Returns whether all were written.
bool write_outputs(const Method& method, const std::string& prefix);

}  // namespace taper::example
