// PyTorch's own operators as kernels, from libtaper_aten.so (aten/README.md), which is opened when
// a command asks for it.

#pragma once

#include <string>
#include <vector>

#include "taper/kernel.h"
#include "tools/options.h"

namespace taper::tools {

struct AtenOptions {
  bool wanted = false;
  std::string path;                    // Of libtaper_aten.so; empty: beside the program.
  std::vector<std::string> libraries;  // Which register custom operators with PyTorch.
};

// The options of a command that runs programs.
std::vector<Option> aten_options();
AtenOptions aten_options_of(const CommandLine& line);

// The table; empty if it is not wanted. It and the libraries stay until the process ends; a later
// call knows what was registered since. Throws InputError.
KernelTable aten_kernels(const AtenOptions& options);

// Declarations of the custom operators in the libraries, for the compiler (exir/ops/declare.h).
std::string aten_declarations(const AtenOptions& options);

}  // namespace taper::tools
