// Definitions shared by both halves of the understudy.

#pragma once

#include <string_view>

#include "taper/backend_device.h"

namespace taper::understudy {

inline constexpr BackendIdentity kIdentity = {"understudy", "TaperUnderstudyBackend"};

// The compile spec with the KiB of scratch memory for kernels, in four bytes; default kScratchKib.
inline constexpr std::string_view kScratchKey = "scratch_kib";
inline constexpr int kScratchKib = 1024;
inline constexpr int kMaxScratchKib = 1 << 16;

}  // namespace taper::understudy
