// What the two halves of the XNNPACK backend agree on besides the payload: their names, and the
// compile specs that the device half reads.

#pragma once

#include "taper/backend_device.h"

namespace taper::xnnpack {

inline constexpr BackendIdentity kIdentity = {"xnnpack", "XnnpackBackend"};

// A flag: the delegate shares memory for intermediate results with all others that set it; see
// XnnpackOptions::share_workspace.
inline constexpr char kShareWorkspace[] = "share_workspace";

// A flag: processors with arithmetic of float16 compute in it; others do as without the flag.
inline constexpr char kPreferHalf[] = "prefer_float16";

// A flag: processors with products of bfloat16 round factors to it; others do as without the flag.
inline constexpr char kPreferBfloat[] = "prefer_bfloat16";

}  // namespace taper::xnnpack
