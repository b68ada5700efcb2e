// A program's tables, after the runtime has verified them.

#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/inspect.h"
#include "tools/program_runner.h"

namespace taper::tools {

PteSummary inspect_pte(const std::string& path) {
  Module module(path);
  const Status status = module.load();
  if (!status.ok()) throw InputError(load_problem(module, status, path));
  PteSummary summary = summarise_pte(read_file(path), path);
  for (MethodSummary& method : summary.methods) {
    Result<MethodMeta> meta = module.method_meta(method.name);
    if (meta.ok()) method.method_bytes = meta->method_bytes();
  }
  return summary;
}

}  // namespace taper::tools
