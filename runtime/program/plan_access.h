// Reading the slots of a verified method.

#pragma once

#include <cstdint>

#include "schema/flatbuffers.h"
#include "schema/program_generated.h"
#include "taper/evalue.h"
#include "taper/method_meta.h"

namespace taper::internal {

// REQUIRES: the index is one of a slot.
const wire::EValue& slot_at(const wire::ExecutionPlan& plan, int64_t index);

Tag tag_of(const wire::EValue& slot);

// The value of a slot that holds None, a number or a string; None for any other.
EValue plain_value(const wire::EValue& slot);

}  // namespace taper::internal
