// Writing the results of the prim operators; see prim.h.

#include "kernels_portable/cores/prim.h"

namespace taper::portable {

Status write_number(Scalar value, EValue* slot) {
  if (slot->is_bool()) {
    *slot = EValue(value.to_bool());
  } else if (slot->is_double() || value.is_double()) {
    *slot = EValue(value.to_double());
  } else {
    *slot = EValue(value.to_int());
  }
  return {};
}

}  // namespace taper::portable
