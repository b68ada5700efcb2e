// XNNPACK for the C API: one backend that all models share, made when it is first asked for.

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "taper/c_tables.h"
#include "taper/taper.h"

extern "C" const taper_backends* taper_xnnpack_backends(void) {
  static taper::XnnpackBackend* const backend = new taper::XnnpackBackend();
  static const taper::Backend table[] = {{taper::kXnnpackBackendId, backend}};
  static const taper_backends backends = {table};
  return &backends;
}
