// A program as C and C++ sources for a device without files, heap or operating system: the file as
// a constant array, the kernels that it uses, memory of the exact size, and a function for each
// method.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "selective_build/selection.h"

namespace taper::select {

struct FirmwareFiles {
  std::vector<std::pair<std::string, std::string>> files;  // Names and texts.
  std::vector<std::string> problems;                       // Why there are no files.
};

// Makes the sources. `pte` is a verified program, `selection` the kernels that it needs. `own` are
// the operators whose kernels the application provides in a table of its own, model_own_kernels().
FirmwareFiles firmware_files(std::string_view pte, const Selection& selection,
                             const std::vector<std::string>& own);

}  // namespace taper::select
