// Opens the library and those of custom operators, in an order in which each finds PyTorch.

#include "tools/aten_kernels.h"

#include "aten/interface.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

constexpr char kName[] = "libtaper_aten.so";

KernelTable open_table(const AtenOptions& options) {
  const std::string path = options.path.empty() ? system::beside_program(kName) : options.path;
  const system::Library library = system::open_library(path);
  if (library.handle == nullptr) {
    throw InputError("PyTorch's operators: " + library.problem +
                     "; build it with -DTAPER_ATEN=ON, or name it: --aten=FILE");
  }
  for (const std::string& each : options.libraries) {
    const system::Library own = system::open_library(each);
    if (own.handle == nullptr) throw InputError("--aten-library: " + own.problem);
  }
  const auto kernels = reinterpret_cast<aten::KernelsFunction>(
      system::find_function(library, aten::kKernelsFunction));
  KernelTable table;
  const char* problem = kernels == nullptr ? "it is not a libtaper_aten.so"
                                           : kernels(aten::kLayout, &table);
  if (problem != nullptr) throw InputError("'" + path + "': " + problem);
  return table;
}

}  // namespace

std::vector<Option> aten_options() {
  return {{"aten",
           "Run what has no kernel here by PyTorch's own operators, from libtaper_aten.so beside "
           "this program or FILE",
           "[FILE]"},
          {"aten-library", "Libraries that register custom operators with PyTorch", "A.so,B.so"}};
}

AtenOptions aten_options_of(const CommandLine& line) {
  AtenOptions options = {line.given("aten"), line.text("aten"), line.list("aten-library")};
  if (!options.wanted && !options.libraries.empty()) {
    throw UsageError("--aten-library needs --aten");
  }
  return options;
}

KernelTable aten_kernels(const AtenOptions& options) {
  if (!options.wanted) return {};
  static const KernelTable table = open_table(options);
  return table;
}

}  // namespace taper::tools
