// Writing the results of the prim operators; see prim.h.

#include "kernels_portable/cores/prim.h"

namespace taper::portable {

Status write_number(Scalar value, EValue* slot) {
  if (slot->is_double()) {
    *slot = EValue(value.to_double());
  } else if (slot->is_bool()) {
    *slot = EValue(value.to_bool());
  } else {
    const int64_t number = value.to_int();
    TAPER_REQUIRE(!value.is_double() || static_cast<double>(number) == value.to_double(),
                  Error::kInvalidType,
                  "a prim operator's result is not an integer, but its slot is");
    *slot = EValue(number);
  }
  return {};
}

}  // namespace taper::portable
