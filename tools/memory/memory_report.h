// What `taper inspect --memory` prints of a method: the planned memory, what delegates and the
// whole program take on this machine, what is alive at the peaks, and what options change.

#pragma once

#include "exir/emit/debug_info.h"
#include "tools/memory/loaded_memory.h"
#include "tools/memory/memory_map.h"
#include "tools/pte_summary.h"

namespace taper::tools {

struct MemoryReport {
  MethodMemory planned;
  MethodSummary summary;
  exir::DebugInfo origins;  // Empty if the program does not say where instructions come from.
  LoadedMemory loaded;
};

// `list_all`: all tensors with their places, and all that are alive at a peak.
void print_memory(const MemoryReport& report, const PteSummary& file, bool list_all);

}  // namespace taper::tools
