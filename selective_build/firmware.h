// A program as C and C++ sources for a device without files, heap or system: the file as a constant
// array, the kernels that it uses, memory of the exact size, and one function that runs it.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "selective_build/selection.h"

namespace taper::select {

struct FirmwareFiles {
  std::vector<std::pair<std::string, std::string>> files;  // Names and texts.
  std::vector<std::string> problems;  // Why there are none: sizes that change, several methods.
};

// `pte` is a verified program of one method whose sizes are fixed, `selection` what it needs.
FirmwareFiles firmware_files(std::string_view pte, const Selection& selection);

}  // namespace taper::select
