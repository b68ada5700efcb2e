// The verification of one method, after FlatBuffers has verified the structure: every slot, index,
// memory range and jump target. A method that passes can be loaded without further checks of the
// file.

#pragma once

#include <cstdint>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/diagnostics.h"
#include "taper/span.h"
#include "taper/status.h"

namespace taper::internal {

// The parts of the file that a method refers to.
struct FileContext {
  const wire::Program* program;
  uint64_t segment_base;
  // How many list items and arguments may still be read. Tables in a flatbuffer may share vectors,
  // so without a limit a small hostile file could cause endless work; no real file comes near it.
  uint64_t budget;
};

// Returns the first broken rule, and reports the value or instruction that breaks it to
// `diagnostics`. REQUIRES: the segments of the file are verified.
Status verify_plan(FileContext& file, const wire::ExecutionPlan& plan,
                   const Diagnostics& diagnostics);

}  // namespace taper::internal
