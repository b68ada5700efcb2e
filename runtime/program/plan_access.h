// Reading the slots of a verified method.

#pragma once

#include <cstdint>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/evalue.h"
#include "taper/method_meta.h"

namespace taper::internal {

// Slot number `index`. REQUIRES: 0 <= index < the number of slots.
const wire::EValue& slot_at(const wire::ExecutionPlan& plan, int64_t index);

Tag tag_of(const wire::EValue& slot);

// The value of a slot that holds None, a number or a string; None for any other.
EValue plain_value(const wire::EValue& slot);

}  // namespace taper::internal
