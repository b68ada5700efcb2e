// A call of one of PyTorch's operators: slots become values that share their memory.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "taper/kernel.h"

namespace taper::aten {

// Which arguments have slots: all, those without defaults, or all, of which numbers are 0-d tensors
// and may be complex.
enum class Given : uint8_t { kAll, kWithoutDefaults, kNumbersAsTensors };

// What a slot of that argument may hold; none if no slot can hold its values. `written`: the
// operator changes it, or it is a result.
std::optional<ArgSpec> spec_of(const c10::Argument& argument, bool written,
                               Given given = Given::kAll);

// Whether a result is a new tensor, or a list of them, not an argument that the operator wrote.
bool is_fresh(const c10::Argument& result);

// Runs the operator on the slots of its arguments, then copies its fresh results into the slots
// behind them. What it throws is the error of the call, whose text is valid until the next one that
// fails in this thread.
Status call(const c10::OperatorHandle& handle, Given given, EValue* const* slots);

}  // namespace taper::aten
