// The libFuzzer target that reads its input as a .pt2.

#include <cstddef>
#include <cstdint>

#include "test/fuzz/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taper::fuzz::exercise_pt2({reinterpret_cast<const char*>(data), size});
  return 0;
}
