// What the prim operators share. They work on number slots: an argument is read as a Scalar, a
// result overwrites its slot and keeps the slot's tag.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

inline Scalar read_number(const EValue& slot) { return internal::Arg<Scalar>::get(slot); }

// Writes `value` as the slot's tag says. An int slot refuses a double that is no integer.
// REQUIRES: the slot holds a number.
Status write_number(Scalar value, EValue* slot);

}  // namespace taper::portable
