// Summarises a program's tables after the runtime has verified them.

#include "backends/compilers.h"
#include "taper/module.h"
#include "tools/atomic_file.h"
#include "tools/commands/inspect.h"
#include "tools/error.h"
#include "tools/program_runner.h"

namespace taper::tools {

namespace {

// The backend's description of the payload; empty if it has none.
std::string payload_text(const DelegateSummary& delegate, const Program& program) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    if (delegate.id != each->identity.delegate_id || each->inspect == nullptr) continue;
    if (!delegate.segment) return {};
    const Result<Span<const uint8_t>> payload = program.segment(*delegate.segment);
    if (payload.ok()) return each->inspect({payload->data(), payload->size()}, delegate.views);
  }
  return {};
}

}  // namespace

PteSummary inspect_pte(const std::string& path) {
  Module module(path);
  const Status status = module.load();
  if (!status.ok()) throw InputError(load_problem(module, status, path));
  const std::string file = read_file(path);  // The summary has views of it.
  PteSummary summary = summarise_pte(file, path);
  for (MethodSummary& method : summary.methods) {
    Result<MethodMeta> meta = module.method_meta(method.name);
    if (meta.ok()) method.method_bytes = meta->method_bytes();
    for (DelegateSummary& delegate : method.delegates) {
      delegate.text = payload_text(delegate, *module.program());
      delegate.views = CompileSpecs();
    }
  }
  return summary;
}

}  // namespace taper::tools
