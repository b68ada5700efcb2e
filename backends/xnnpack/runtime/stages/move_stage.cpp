// Runs a reshape as one copy, or none: the order of elements does not change.

#include "backends/xnnpack/runtime/stages/move_stage.h"

#include <cstring>

#include "backends/xnnpack/runtime/payload/value_reader.h"

namespace taper::xnnpack {

Status MoveStage::reshape(Span<const XnnValue> values) {
  bytes_ = static_cast<size_t>(stored_bytes(values[input_].type, values[input_].shape));
  return {};
}

Status MoveStage::bind(Span<void* const> places, void*) {
  from_ = places[input_];
  to_ = places[output_];
  return {};
}

Status MoveStage::run() {
  if (from_ != to_) std::memcpy(to_, from_, bytes_);
  return {};
}

}  // namespace taper::xnnpack
