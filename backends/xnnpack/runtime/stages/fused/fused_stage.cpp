// Divides a fused function among threads; see fused_stage.h.

#include "backends/xnnpack/runtime/stages/fused/fused_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"
#include "kernels_optimized/cores/norm.h"

namespace taper::xnnpack {
namespace {

// The least elements of a task of the pool, and the row size of functions that have no rows.
constexpr size_t kTaskElements = 4096;
constexpr int64_t kLinesOfATask = 512;  // For a softmax along another dimension than the last.

}  // namespace

Status FusedStage::reshape(Span<const XnnValue> values) {
  const Shape& shape = values[fusion_.inputs[0]].shape;
  if (fusion_.kind == Fusion::Kind::kSum && shape != values[fusion_.inputs[1]].shape) {
    return refuse("the shapes of a clamped sum differ, but were equal when the graph was loaded");
  }
  if (fusion_.kind == Fusion::Kind::kScale && shape != values[fusion_.output].shape) {
    return refuse("the channels of a batch norm are not those it had when the graph was loaded");
  }
  if (fusion_.channels != 0) {
    const Shape& image = values[fusion_.output].shape;
    if (image.dims[1] != fusion_.channels || area_of(image) != fusion_.area) {
      return refuse("the channels of a group norm are not those it had when the graph was loaded");
    }
  }
  count_ = static_cast<size_t>(element_count(shape));
  width_ = row_width(shape);
  if (fusion_.kind == Fusion::Kind::kSoftmax) {
    around_ = {};
    around_.size = shape.dims[fusion_.axis];
    for (uint32_t d = 0; d < fusion_.axis; ++d) around_.outer *= shape.dims[d];
    for (uint32_t d = fusion_.axis + 1; d < shape.rank; ++d) around_.inner *= shape.dims[d];
  }
  return {};
}

size_t FusedStage::row_width(const Shape& shape) const {
  const bool has_rows = fusion_.kind == Fusion::Kind::kNorm || fusion_.kind == Fusion::Kind::kRms ||
                        fusion_.kind == Fusion::Kind::kScale;
  if (!has_rows) return kTaskElements;
  if (fusion_.width != 0) return fusion_.width;
  size_t width = 1;
  for (uint32_t d = shape.rank - fusion_.row_dims; d < shape.rank; ++d) width *= shape.dims[d];
  return width;
}

Status FusedStage::bind(Span<void* const> places, void*) {
  for (size_t i = 0; i < 2; ++i) {
    if (fusion_.inputs[i] == kNone) continue;
    inputs_[i] = static_cast<const float*>(places[fusion_.inputs[i]]);
  }
  output_ = static_cast<float*>(places[fusion_.output]);
  return {};
}

void FusedStage::run_rows(void* stage, size_t begin, size_t count) {
  const auto& self = *static_cast<FusedStage*>(stage);
  const Fusion& fusion = self.fusion_;
  const size_t first = begin * self.width_;
  const size_t elements = std::min(count * self.width_, self.count_ - first);
  const float* in = self.inputs_[0] + first;
  float* out = self.output_ + first;
  switch (fusion.kind) {
    case Fusion::Kind::kNone:
    case Fusion::Kind::kSoftmax:
      return;
    case Fusion::Kind::kSum:
      return compute_elements(fusion, in, self.inputs_[1] + first, out,
                              static_cast<int64_t>(elements));
    case Fusion::Kind::kScale:
      return optimized::scale_rows(in, static_cast<int64_t>(count),
                                   static_cast<int64_t>(self.width_), fusion.weight, fusion.bias,
                                   fusion.min, fusion.max, out);
    case Fusion::Kind::kFunction:
      return compute_elements(fusion, in, nullptr, out, static_cast<int64_t>(elements));
    case Fusion::Kind::kNorm:
    case Fusion::Kind::kRms: {
      optimized::NormRows rows;
      rows.in = self.inputs_[0];
      rows.out = self.output_;
      rows.width = rows.entries = static_cast<int64_t>(self.width_);
      if (fusion.channels != 0) {
        rows.entries = fusion.channels;
        rows.repeat = fusion.area;
        rows.row_step = rows.width / rows.repeat;
      }
      rows.eps = static_cast<double>(fusion.eps);
      rows.weight = fusion.weight;
      rows.bias = fusion.bias;
      rows.is_centred = fusion.kind == Fusion::Kind::kNorm;
      const auto row = static_cast<int64_t>(begin);
      return optimized::normalise(rows, row, row + static_cast<int64_t>(count));
    }
  }
}

void FusedStage::run_lines(void* stage, size_t task) {
  const auto& self = *static_cast<FusedStage*>(stage);
  portable::AroundDim around = self.around_;
  const int64_t parts = (around.inner + kLinesOfATask - 1) / kLinesOfATask;
  const auto index = static_cast<int64_t>(task);
  const int64_t first = index % parts * kLinesOfATask;
  const int64_t offset = index / parts * around.size * around.inner;
  around.outer = 1;
  optimized::softmax_part(self.inputs_[0] + offset, around, first,
                          std::min(first + kLinesOfATask, around.inner), self.output_ + offset);
}

Status FusedStage::run() {
  if (fusion_.kind == Fusion::Kind::kSoftmax) {
    const int64_t parts = (around_.inner + kLinesOfATask - 1) / kLinesOfATask;
    pthreadpool_parallelize_1d(pool_, run_lines, this, static_cast<size_t>(around_.outer * parts),
                               0);
    return {};
  }
  const size_t rows = (count_ + width_ - 1) / width_;
  const size_t rows_per_task = std::max(size_t{1}, kTaskElements / width_);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, rows_per_task, 0);
  return {};
}

}  // namespace taper::xnnpack
