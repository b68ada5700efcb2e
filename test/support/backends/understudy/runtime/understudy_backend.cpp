// Implements the backend; each handle is an UnderstudyGraph.

#include "test/support/backends/understudy/runtime/understudy_backend.h"

#include <memory>
#include <new>

#include "test/support/backends/understudy/descriptor.h"
#include "test/support/backends/understudy/runtime/understudy_graph.h"

namespace taper::understudy {
namespace {

// Bytes of scratch memory for kernels; 0 if there is an invalid compile spec.
size_t scratch_bytes(CompileSpecs specs) {
  size_t kib = kScratchKib;
  for (size_t i = 0; i < specs.size(); ++i) {
    const CompileSpec spec = specs[i];
    if (spec.key != kScratchKey || spec.value.size() != 4) return 0;
    kib = 0;
    for (size_t byte = 4; byte-- > 0;) kib = kib << 8 | spec.value[byte];
  }
  return kib <= kMaxScratchKib ? kib << 10 : 0;
}

}  // namespace

Result<void*> UnderstudyBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                      CompileSpecs specs) {
  const size_t scratch = scratch_bytes(specs);
  TAPER_REQUIRE(scratch != 0, Error::kDelegateInvalidCompatibility,
                "a compile spec is not one of the understudy's");
  std::unique_ptr<UnderstudyGraph> graph(new (std::nothrow) UnderstudyGraph());
  TAPER_REQUIRE(graph != nullptr, Error::kDelegateMemoryAllocationFailed,
                "out of memory for the payload");
  TAPER_TRY(graph->build(payload, context, max_bytes_, scratch));
  return static_cast<void*>(graph.release());
}

Status UnderstudyBackend::execute(BackendExecutionContext&, void* handle,
                                  Span<EValue* const> args) {
  return static_cast<UnderstudyGraph*>(handle)->execute(args);
}

void UnderstudyBackend::destroy(void* handle) { delete static_cast<UnderstudyGraph*>(handle); }

}  // namespace taper::understudy
