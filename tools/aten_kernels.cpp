// Opens the library, and has it open those of custom operators.

#include "tools/aten_kernels.h"

#include "aten/interface.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

constexpr char kName[] = "libtaper_aten.so";

aten::Kernels kernels_of(const AtenOptions& options) {
  const std::string path = options.path.empty() ? system::beside_program(kName) : options.path;
  const system::Library library = system::open_library(path);
  if (library.handle == nullptr) {
    throw InputError("PyTorch's operators: " + library.problem +
                     "; build it with -DTAPER_ATEN=ON, or name it: --aten=FILE");
  }
  const auto function = reinterpret_cast<aten::KernelsFunction>(
      system::find_function(library, aten::kKernelsFunction));
  if (function == nullptr) throw InputError("'" + path + "' is no libtaper_aten.so");
  std::vector<const char*> libraries;
  for (const std::string& each : options.libraries) libraries.push_back(each.c_str());
  aten::Kernels kernels;
  const char* problem = function(aten::kLayout, libraries, &kernels);
  if (problem != nullptr) throw InputError("'" + path + "': " + problem);
  return kernels;
}

}  // namespace

std::vector<Option> aten_options() {
  return {{"aten",
           "Run what has no kernel here by PyTorch's own operators, from libtaper_aten.so beside "
           "this program or FILE",
           "[FILE]"},
          {"aten-library", "Libraries that register custom operators with PyTorch; implies --aten",
           "A.so,B.so"}};
}

AtenOptions aten_options_of(const CommandLine& line) {
  const bool wanted = line.given("aten") || line.given("aten-library");
  const std::string file = line.text("aten");
  return {wanted, file == kNoValue ? "" : file, line.list("aten-library")};
}

KernelTable aten_kernels(const AtenOptions& options) {
  return options.wanted ? kernels_of(options).table : KernelTable();
}

std::string aten_declarations(const AtenOptions& options) {
  return options.libraries.empty() ? "" : kernels_of(options).declarations;
}

}  // namespace taper::tools
