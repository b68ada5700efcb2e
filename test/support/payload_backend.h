// A backend for tests that runs its own payload: a text with one operation on a line,
//
//   add 0 1 2      args[2] = args[0] + args[1]
//   mul 2 1 3      args[3] = args[2] * args[1]
//
// over float32 tensors of equal size. It refuses what it cannot run, as a backend should: a bad
// payload in init(), a bad argument in execute().

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "taper/backend.h"

namespace taper::test {

class PayloadBackend final : public BackendInterface {
 public:
  bool is_available() const override { return available; }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

  bool available = true;
  int live_handles = 0;
  std::vector<std::string> seen_specs;  // "key=value" of every init().
  std::string seen_method;
};

// {"PayloadBackend", &backend}
Backend payload_backend(PayloadBackend& backend);

}  // namespace taper::test
