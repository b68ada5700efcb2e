// The arguments of a delegate call, checked against the payload.

#pragma once

#include "backends/vulkan/planner/payload_graph.h"
#include "taper/evalue.h"

namespace taper::vulkan {

// An argument has the dtype that the payload states, but int32 and int64 may stand for each other,
// and float32 for float16.

// Takes the sizes of an input and where its elements are, or a number; sets `changed` if plans must
// be made anew. Returns kInvalidType or kInvalidArgument where an argument is not what the payload
// says.
Status take_sizes(const EValue& arg, PayloadValue& input, bool& changed);

// Gives an output that is a number, or a tensor of one element, that number.
Status set_number(EValue& arg, int64_t number);

// Gives an output its sizes. REQUIRES: dims.numel() is not negative.
Status resize_output(EValue& arg, const PayloadValue& output, const Dims& dims);

}  // namespace taper::vulkan
