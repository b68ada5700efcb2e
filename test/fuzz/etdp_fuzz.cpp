// The libFuzzer target that reads its input as a .etdp.

#include <cstddef>
#include <cstdint>

#include "test/fuzz/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taper::fuzz::exercise_etdp({reinterpret_cast<const char*>(data), size});
  return 0;
}
