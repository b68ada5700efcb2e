// Runs it as one copy, or none: the order of elements does not change. See move_stage.h.

#include "backends/xnnpack/runtime/stages/moves/move_stage.h"

#include <cstring>

#include "backends/xnnpack/runtime/payload/value_reader.h"

namespace taper::xnnpack {

bool MoveStage::is_range(const XnnNode& node, Span<const XnnValue> values) {
  if (node.content_type != wire::NodeContent::Slice) return false;
  const XnnValue& from = values[node.inputs[0]];
  const Shape &in = from.shape, &out = values[node.output].shape;
  if (from.type != wire::DataType::FP32 || in.rank != out.rank) return false;
  uint32_t d = 0;
  while (d < in.rank && in.dims[d] == 1) ++d;
  for (++d; d < in.rank; ++d) {
    if (out.dims[d] != in.dims[d]) return false;
  }
  return true;
}

size_t MoveStage::begin_of(const XnnNode& node, Span<const XnnValue> values) {
  if (node.content_type != wire::NodeContent::Slice) return 0;
  const Shape& in = values[node.inputs[0]].shape;
  size_t begin = 0;
  for (uint32_t d = 0; d < in.rank; ++d) {
    begin = begin * in.dims[d] + node.as<wire::Slice>().offsets()->Get(d);
  }
  return begin * sizeof(float);
}

Status MoveStage::reshape(Span<const XnnValue> values) {
  if (node_.content_type == wire::NodeContent::Slice && !is_range(node_, values)) {
    return refuse(
        "the elements of a slice do not follow one another, but did in the largest input");
  }
  const XnnValue& result = values[node_.output];
  begin_ = begin_of(node_, values);
  bytes_ = static_cast<size_t>(stored_bytes(result.type, result.shape));
  return {};
}

Status MoveStage::bind(Span<void* const> places, void*) {
  from_ = static_cast<const uint8_t*>(places[node_.inputs[0]]) + begin_;
  to_ = places[node_.output];
  return {};
}

Status MoveStage::run() {
  if (from_ != to_) std::memcpy(to_, from_, bytes_);
  return {};
}

}  // namespace taper::xnnpack
