// Where the parts of a payload lie: a header, the graph as FlatBuffers, and the constants.

#pragma once

#include "backends/xnnpack/schema_generated.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::xnnpack {

struct Payload {
  const wire::XNNGraph* graph = nullptr;  // Verified.
  Span<const uint8_t> description;        // Its bytes.
  Span<const uint8_t> constants;
  bool is_taper = false;  // It says kTaperIdentifier (payload_format.h).
};

// Points into `bytes`.
Result<Payload> open_payload(Span<const uint8_t> bytes);

}  // namespace taper::xnnpack
