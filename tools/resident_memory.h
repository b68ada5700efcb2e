// The memory of this process that is resident now, and the most that ever was.

#pragma once

#include <cstdint>

namespace taper::tools {

struct ResidentMemory {
  uint64_t now_bytes = 0, peak_bytes = 0;  // 0 where the system does not say.
};

ResidentMemory resident_memory();

}  // namespace taper::tools
