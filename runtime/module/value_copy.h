// Conversion between the values of taper/taper.h and those of the runtime.

#pragma once

#include <string>

#include "runtime/module/model_table.h"
#include "taper/taper.h"

namespace taper {

// True if `number` is that of a dtype that tensors can have.
bool is_dtype(int32_t number);

void describe_tensor(const TensorInfo& from, taper_value_info* to);

// Whether the elements of an input are copied, or used where the caller keeps them.
enum class Holding : uint8_t { kCopy, kPlace };

// Holds a tensor if its dtype, sizes and bytes fit `info`. Otherwise `problem` says what was
// expected and what was given, and `to` stays as it was.
Error hold_input(const TensorInfo& info, const taper_value& from, Holding how, HeldInput* to,
                 std::string* problem);

// Describes an output to the caller, who may read its elements in place.
void show_value(const EValue& from, taper_value* to);

}  // namespace taper
