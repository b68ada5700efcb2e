// Reads the resident memory from Linux's /proc/self/status.

#include "tools/memory/resident_memory.h"

#include <fstream>
#include <string>

namespace taper::tools {

ResidentMemory resident_memory() {
  ResidentMemory memory;
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name;) {
    uint64_t* bytes = nullptr;
    if (name == "VmRSS:") bytes = &memory.now_bytes;
    if (name == "VmHWM:") bytes = &memory.peak_bytes;
    if (bytes != nullptr && file >> *bytes) *bytes *= 1024;
  }
  return memory;
}

bool restart_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace taper::tools
