// Formats a memory plan, with its lower bound, in one line.

#pragma once

#include <cstdio>
#include <string>

#include "exir/memory/plan.h"
#include "tools/text/terminal.h"

namespace taper::tools {

// "12.3 KB planned (30.1 KB without sharing), lower bound 12.3 KB, gap 0.0 %".
inline std::string plan_text(const exir::MemoryPlan& plan) {
  const auto bytes = [](uint64_t n) { return bytes_text(static_cast<double>(n)); };
  char gap[32];
  std::snprintf(gap, sizeof(gap), "%.1f %%", plan.gap_percent());
  return bytes(plan.arena_bytes) + " planned (" + bytes(plan.naive_bytes) +
         " without sharing), lower bound " + bytes(plan.lower_bound) + ", gap " + gap;
}

}  // namespace taper::tools
