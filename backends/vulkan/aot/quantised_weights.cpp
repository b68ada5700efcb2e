#include "backends/vulkan/aot/quantised_weights.h"

#include <cstring>

#include "exir/ir/scales.h"

namespace taper::vulkan {

using exir::Value;

std::optional<WeightPacking> packing_of(const Value* weight) {
  const exir::Scales* scales = weight->scales.get();
  if (weight->role != exir::ValueRole::kConstant || scales == nullptr ||
      !exir::is_symmetric(*scales) || exir::group_of(*scales, weight->type) == 0) {
    return std::nullopt;
  }
  WeightPacking packing;
  packing.rows = weight->type.sizes[0].as_int();
  packing.columns = weight->type.sizes[1].as_int();
  packing.bits = scales->bits == 8 ? 8 : 4;
  packing.group = exir::group_of(*scales, weight->type);
  return packing.rows > 0 && packing.columns > 0 ? std::optional(packing) : std::nullopt;
}

exir::TensorData packed_bytes(const Value* weight, const WeightPacking& packing) {
  const exir::TensorData& integers = weight->scales->integers;
  if (packing.bits == 8) return integers;
  const auto rows = static_cast<size_t>(packing.rows);
  const auto columns = static_cast<size_t>(packing.columns);
  const auto row_bytes = static_cast<size_t>(packing.row_bytes());
  std::vector<uint8_t> packed(rows * row_bytes, 0x88);
  for (size_t row = 0; row < rows; ++row) {
    const uint8_t* from = integers.data + row * columns;
    uint8_t* to = packed.data() + row * row_bytes;
    for (size_t i = 0; i < columns; ++i) {
      const unsigned bits = (from[i] + 8U) & 15U, shift = i % 2 * 4;
      to[i / 2] = static_cast<uint8_t>((to[i / 2] & ~(15U << shift)) | bits << shift);
    }
  }
  return exir::own_bytes(std::move(packed));
}

exir::TensorData packed_scales(const Value* weight, const WeightPacking& packing, bool by_column) {
  const std::vector<float>& items = weight->scales->items;
  const auto rows = static_cast<size_t>(packing.rows);
  const auto groups = static_cast<size_t>(packing.groups());
  std::vector<uint8_t> bytes(rows * groups * sizeof(float));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t group = 0; group < groups; ++group) {
      const float& scale = items[items.size() == 1 ? 0 : row * groups + group];
      const size_t at = by_column ? group * rows + row : row * groups + group;
      std::memcpy(&bytes[at * sizeof(float)], &scale, sizeof(scale));
    }
  }
  return exir::own_bytes(std::move(bytes));
}

}  // namespace taper::vulkan
