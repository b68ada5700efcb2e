// The name of a file that is not left behind, whoever makes it and however the program ends.

#pragma once

#include <string>

#include "tools/interrupt.h"
#include "tools/system.h"

namespace taper::tools {

struct TemporaryFile {
  const std::string path;
  const RemovedOnSignal removed_on_signal;

  // `stem` is made unique to the process.
  explicit TemporaryFile(const std::string& stem)
      : path(stem + ".tmp" + std::to_string(system::process_id())), removed_on_signal(path) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { system::remove_file(path); }
};

}  // namespace taper::tools
