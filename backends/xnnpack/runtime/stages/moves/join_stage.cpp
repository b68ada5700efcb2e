// Copies short pieces without calls; see join_stage.h.

#include "backends/xnnpack/runtime/stages/moves/join_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/payload/value_reader.h"
#include "kernels_optimized/engine/copy_piece.h"

namespace taper::xnnpack {
namespace {

// A smaller result is copied in less time than another stage takes.
constexpr uint64_t kLeastBytes = 65536;
// The bytes of a task of the pool.
constexpr size_t kTaskBytes = 32768;

// The bytes of what follows one another in memory: the dimensions from the axis on.
size_t width_of(const XnnValue& value, uint32_t axis) {
  uint64_t bytes = value.type == wire::DataType::FP32 ? sizeof(float) : 1;
  for (uint32_t d = axis; d < value.shape.rank; ++d) bytes *= value.shape.dims[d];
  return static_cast<size_t>(bytes);
}

}  // namespace

bool JoinStage::is_better(const XnnNode& node, Span<const XnnValue> values) {
  if (!is_concatenation(node.content_type)) return false;
  const XnnValue& result = values[node.output];
  if (result.type != wire::DataType::FP32 && result.type != wire::DataType::QINT8) return false;
  for (const uint32_t id : node.inputs) {
    if (id == kNone) continue;
    const XnnValue& value = values[id];
    if (value.type != result.type || value.data != nullptr) return false;
    if (value.scale != result.scale || value.zero_point != result.zero_point) return false;
  }
  const uint32_t axis = node.as<wire::Concatenate>().axis();
  const uint64_t bytes = stored_bytes(result.type, result.shape);
  return bytes >= kLeastBytes && bytes > width_of(result, axis);
}

Status JoinStage::reshape(Span<const XnnValue> values) {
  const uint32_t axis = node_.as<wire::Concatenate>().axis();
  const XnnValue& result = values[node_.output];
  rows_ = 1;
  for (uint32_t d = 0; d < axis; ++d) rows_ *= result.shape.dims[d];
  row_bytes_ = width_of(result, axis);
  for (count_ = 0; count_ < kMostConcatenated && node_.inputs[count_] != kNone; ++count_) {
    widths_[count_] = width_of(values[node_.inputs[count_]], axis);
  }
  return {};
}

Status JoinStage::bind(Span<void* const> places, void*) {
  for (size_t i = 0; i < count_; ++i) {
    from_[i] = static_cast<const uint8_t*>(places[node_.inputs[i]]);
  }
  to_ = static_cast<uint8_t*>(places[node_.output]);
  return {};
}

void JoinStage::run_rows(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<JoinStage*>(stage);
  uint8_t* to = self.to_ + first * self.row_bytes_;
  const uint8_t* from[kMostConcatenated];
  for (size_t i = 0; i < self.count_; ++i) from[i] = self.from_[i] + first * self.widths_[i];
  const auto rows = static_cast<int64_t>(count);
  if (self.count_ == 2 && self.widths_[0] == self.widths_[1] &&
      optimized::join_halves(from[0], from[1], self.widths_[0], to, rows)) {
    return;
  }
  for (size_t i = 0; i < self.count_; ++i) {
    optimized::copy_pieces(from[i], self.widths_[i], to, self.row_bytes_, rows);
    to += self.widths_[i];
  }
}

Status JoinStage::run() {
  const size_t rows_per_task = std::max(size_t{1}, kTaskBytes / std::max(row_bytes_, size_t{1}));
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows_, rows_per_task, 0);
  return {};
}

}  // namespace taper::xnnpack
