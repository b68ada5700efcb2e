// The runtime's own look at one method, after FlatBuffers has verified the structure: every slot,
// index, memory range and jump target. What passes can be loaded without a further check of the
// file.

#pragma once

#include <cstdint>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/diagnostics.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// What a method may refer to outside itself.
struct FileContext {
  const wire::Program* program;
  uint64_t segment_base;  // Of the file.
  // How many list items and arguments may still be read. Tables in a flatbuffer may share vectors,
  // so without a limit a small file could ask for endless work; no honest file comes near it.
  uint64_t budget;
};

// Returns the first broken rule, and tells `diagnostics` in which value or instruction it is.
// REQUIRES: the segments of the file are verified.
Status verify_plan(FileContext& file, const wire::ExecutionPlan& plan,
                   const Diagnostics& diagnostics);

}  // namespace taper::internal
