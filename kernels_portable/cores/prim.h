// What the prim operators share. They work on values that are numbers: an argument is read as a
// Scalar; a result overwrites its slot, whose tag stays the same.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

inline Scalar read_number(const EValue& slot) { return internal::Arg<Scalar>::get(slot); }

// Writes `value`, converted to the type that the slot's tag says. An int slot refuses a double that
// is not an integer. REQUIRES: the slot holds a number.
Status write_number(Scalar value, EValue* slot);

}  // namespace taper::portable
