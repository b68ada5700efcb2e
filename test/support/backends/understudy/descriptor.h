// What both halves of the understudy agree on.

#pragma once

#include <string_view>

#include "taper/backend_device.h"

namespace taper::understudy {

inline constexpr BackendIdentity kIdentity = {"understudy", "TaperUnderstudyBackend"};

// Compile spec, four bytes: KiB of scratch for kernels, in place of kScratchKib.
inline constexpr std::string_view kScratchKey = "scratch_kib";
inline constexpr int kScratchKib = 1024;
inline constexpr int kMaxScratchKib = 1 << 16;

}  // namespace taper::understudy
