// Summarises a program's tables after the runtime has verified them.

#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/commands/inspect.h"
#include "tools/error.h"
#include "tools/program_runner.h"
#include "tools/text/payload_text.h"

namespace taper::tools {

PteSummary inspect_pte(const std::string& path) {
  Module module(path);
  const Status status = module.load();
  if (!status.ok()) throw InputError(load_problem(module, status, path));
  const Program& program = *module.program();
  const auto describe = [&](const DelegateSummary& delegate, CompileSpecs specs) {
    return delegate.segment ? payload_text(delegate.id, *delegate.segment, specs, program)
                            : std::string();
  };
  PteSummary summary = summarise_pte(read_file(path), path, describe);
  for (MethodSummary& method : summary.methods) {
    Result<MethodMeta> meta = module.method_meta(method.name);
    if (meta.ok()) method.method_bytes = meta->method_bytes();
  }
  return summary;
}

}  // namespace taper::tools
