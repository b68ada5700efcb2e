// Exercises an archive as the compiler's C API would, then the runtime with the result.

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "taper/compiler.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/exercise.h"

namespace taper::fuzz {

bool exercise_pt2(std::string_view file) {
  // Exactly as many bytes on the heap as there are, so that no byte behind them is read unnoticed.
  const std::vector<char> bytes(file.begin(), file.end());
  const taper_source source = {"forward", bytes.data(), bytes.size()};
  // Options depend on the file alone, so that a failure can be repeated.
  const std::span<const BackendHooks* const> backends = backend_hooks();
  const size_t draw = file.size() / 2 % (backends.size() + 1);
  const std::string backend =
      std::string("--backend=") + (draw == backends.size() ? "portable" : backends[draw]->name);
  const char* const options[] = {file.size() % 2 == 0 ? "--io=planned" : "--io=application",
                                 backend.c_str()};
  taper_compilation* made = nullptr;
  const taper_code code = taper_compile(options, 2, &source, 1, &made, nullptr);
  const std::unique_ptr<taper_compilation, void (*)(taper_compilation*)> owner(
      made, taper_free_compilation);
  if (code == TAPER_INTERNAL || taper_compilation_report(made)[0] != '{') std::abort();
  if (code != TAPER_OK) return false;
  size_t size = 0;
  const auto* program = static_cast<const char*>(taper_compiled_program(made, &size));
  return exercise_pte({program, size});
}

}  // namespace taper::fuzz
