// What the prim operators share. They work on values that are numbers: an argument is read as a
// Scalar, and a result overwrites its slot. The tag of the slot stays the same, but that of an int
// becomes that of a double where the result is one: ExecuTorch writes the int 0 for every result
// whose type its exporter does not know.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

inline Scalar read_number(const EValue& slot) { return internal::Arg<Scalar>::get(slot); }

// Writes `value` in this way. Returns ok, which the operators return.
// REQUIRES: the slot holds a number.
Status write_number(Scalar value, EValue* slot);

}  // namespace taper::portable
