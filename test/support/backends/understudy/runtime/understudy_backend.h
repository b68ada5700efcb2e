// A backend for tests that runs the portable kernels: the smallest that has all that one needs.
//
// Threads: as BackendInterface says; handles share nothing. Memory: init() takes what it needs from
// the heap, execute() nothing.

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
