// Asks the compiler half of each backend.

#include "tools/text/payload_text.h"

#include "backends/compilers.h"

namespace taper::tools {

std::string payload_text(std::string_view delegate_id, uint32_t segment, CompileSpecs specs,
                         const Program& program) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    if (delegate_id != each->identity.delegate_id || each->inspect == nullptr) continue;
    const Result<Span<const uint8_t>> payload = program.segment(segment);
    if (payload.ok()) return each->inspect({payload->data(), payload->size()}, specs);
  }
  return {};
}

}  // namespace taper::tools
