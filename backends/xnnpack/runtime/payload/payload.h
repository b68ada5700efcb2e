// The parts of a payload: a header, the graph as FlatBuffers, and the constants.

#pragma once

#include "backends/xnnpack/schema_generated.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::xnnpack {

struct Payload {
  const wire::XNNGraph* graph = nullptr;  // Verified.
  Span<const uint8_t> description;        // The bytes of the graph.
  Span<const uint8_t> constants;
  bool is_taper = false;  // The identifier is kTaperIdentifier (payload_format.h).
};

// The result points into `bytes`.
Result<Payload> open_payload(Span<const uint8_t> bytes);

}  // namespace taper::xnnpack
