// What the stages for layers of int8 share: which layers these are, and XNNPACK's arithmetic of
// scales and bounds, on which the last bit depends.

#pragma once

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {

// Whether image and result are int8, the filter is a constant of int8 without a zero point, and the
// bias, if there is one, has the integers that XNNPACK adds to its sums.
bool is_in_bytes(const XnnNode& node, Span<const XnnValue> values);

// Of a layer that is_in_bytes(): the factor between the sums of a channel and steps of the result.
float factor_of(const XnnNode& node, Span<const XnnValue> values, int64_t channel);
// The filter, and the bias or null.
const int8_t* filter_of(const XnnNode& node, Span<const XnnValue> values);
const int32_t* bias_of(const XnnNode& node, Span<const XnnValue> values);
// A bound of the result in its steps, as XNNPACK rounds it.
int8_t quantized_bound(float bound, const XnnValue& result);

}  // namespace taper::xnnpack
