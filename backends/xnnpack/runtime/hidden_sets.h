// Hides instruction sets of the processor from XNNPACK, for tests and figures;
// kernels_optimized/engine/max_isa.h says which.

#pragma once

namespace taper::xnnpack {

// Hides those that TAPER_MAX_ISA in the environment does not allow. False if XNNPACK's queries of
// the processor fail. To be called before XNNPACK starts, which chooses its kernels then.
bool hide_sets();

}  // namespace taper::xnnpack
