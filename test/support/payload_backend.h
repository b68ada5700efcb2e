// A backend for tests whose payload is text with one operation per line,
//
//   add 0 1 2      args[2] = args[0] + args[1]
//   mul 2 1 3      args[3] = args[2] * args[1]
//
// on float32 tensors of equal size. As a backend should, it refuses an invalid payload in init()
// and an invalid argument in execute().

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
  std::vector<std::string> seen_specs;  // "key=value" for the specs of every init().
  std::string seen_method;
};

// {"PayloadBackend", &backend}
Backend payload_backend(PayloadBackend& backend);

}  // namespace taper::test
