// Counts fast cores. Phones have small cores beside large ones, and a graph waits for its slowest
// thread, so a thread on a small core slows down all of it. Linux states the capacity of each
// processor, and which of them the process may use; elsewhere all cores count.

#include "backends/xnnpack/runtime/fast_cores.h"

#include <cpuinfo.h>
#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace taper::xnnpack {

uint32_t count_fast(Span<const Core> cores) {
  uint32_t best = 0;
  for (const Core& core : cores) best = std::max(best, core.capacity);
  uint32_t count = 0;
  for (const Core& core : cores) count += core.capacity >= best - best / 4;
  return std::max(count, 1u);
}

#if defined(__linux__)

namespace {

constexpr size_t kMostCores = 256;

// Reads a small number from a system file; 0 if there is no such file.
uint32_t read_number(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[16] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  return size > 0 ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : 0;
}

uint32_t capacity_of(int processor) {
  char path[64];
  std::snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", processor);
  return read_number(path);
}

}  // namespace

uint32_t fast_cores() {
  cpu_set_t usable;
  if (!cpuinfo_initialize() || sched_getaffinity(0, sizeof(usable), &usable) != 0) return 1;
  Core cores[kMostCores];
  const cpuinfo_core* seen[kMostCores];
  size_t count = 0;
  for (uint32_t i = 0; i < cpuinfo_get_processors_count() && count < kMostCores; ++i) {
    const cpuinfo_processor& processor = *cpuinfo_get_processor(i);
    if (processor.linux_id >= CPU_SETSIZE || !CPU_ISSET(processor.linux_id, &usable)) continue;
    if (std::find(seen, seen + count, processor.core) != seen + count) continue;
    seen[count] = processor.core;
    cores[count++].capacity = capacity_of(processor.linux_id);
  }
  return count_fast({cores, count});
}

#else

uint32_t fast_cores() {
  return cpuinfo_initialize() ? std::max(cpuinfo_get_cores_count(), 1u) : 1;
}

#endif

}  // namespace taper::xnnpack
