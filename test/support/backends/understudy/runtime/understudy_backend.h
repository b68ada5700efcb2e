// A minimal but complete backend for tests, which runs the portable kernels.
//
// Threads: as for BackendInterface; handles share nothing. Memory: init() allocates from the heap,
// execute() does not.

#pragma once

#include <cstdint>

#include "taper/backend.h"

namespace taper::understudy {

class UnderstudyBackend final : public BackendInterface {
 public:
  // `max_bytes` bounds the tensors of one payload.
  explicit UnderstudyBackend(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  bool is_available() const override { return true; }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

 private:
  const uint64_t max_bytes_;
};

}  // namespace taper::understudy
