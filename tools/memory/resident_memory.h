// The resident memory of this process, now and at its peak.

#pragma once

#include <cstdint>

namespace taper::tools {

struct ResidentMemory {
  uint64_t now_bytes = 0, peak_bytes = 0;  // 0 on systems that do not report it.
};

ResidentMemory resident_memory();

// The peak becomes what is resident now. False if this system cannot do so.
bool restart_peak();

}  // namespace taper::tools
