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

bool has_packed_form(const exir::Node& node) {
  const bool is_linear = node.is("aten::linear"), is_table = node.is("aten::embedding");
  if (!is_linear && !is_table) return false;
  const auto packing = packing_of(node.args[is_linear ? 1 : 0].value());
  if (!packing) return false;
  if (is_linear) return packing->bits == 4 || packing->groups() == 1;
  return packing->bits == 4 && packing->columns % packing->group == 0;
}

// Of a transposed convolution weights are [in, out / groups, window...], and scales may be those of
// the second dimension.
std::optional<PackedWindows> packed_windows(const Value* weight, bool transposed, int64_t groups) {
  const exir::Scales* scales = weight->scales.get();
  if (weight->role != exir::ValueRole::kConstant || scales == nullptr ||
      !exir::is_symmetric(*scales) || weight->type.rank() < 3 || groups < 1 ||
      !exir::is_along(*scales, weight->type, transposed ? 1 : 0)) {
    return std::nullopt;
  }
  std::vector<size_t> sizes;
  size_t count = 1, window = 1;
  for (const exir::Sym& size : weight->type.sizes) {
    sizes.push_back(static_cast<size_t>(size.as_int()));
    count *= sizes.back();
    if (sizes.size() > 2) window *= sizes.back();
  }
  const size_t by = static_cast<size_t>(groups), channels = transposed ? sizes[1] : sizes[0];
  if (count == 0 || sizes[0] % by != 0) return std::nullopt;
  std::vector<uint8_t> bytes(scales->integers.data, scales->integers.data + count);
  const size_t group_in = transposed ? sizes[0] / by : sizes[1];
  const size_t out = transposed ? sizes[1] * by : sizes[0];
  for (size_t i = 0; transposed && i < count; ++i) {
    const size_t at = i % window, in = i / window % group_in, row = i / window / group_in;
    const size_t from_in = row / sizes[1] * group_in + in;
    bytes[i] = scales->integers.data[(from_in * sizes[1] + row % sizes[1]) * window + at];
  }
  std::vector<uint8_t> by_row(out * sizeof(float));
  for (size_t row = 0; row < out; ++row) {
    const float& scale = scales->items[scales->items.size() == 1 ? 0 : row % channels];
    std::memcpy(&by_row[row * sizeof(float)], &scale, sizeof(scale));
  }
  PackedWindows packed = {{static_cast<uint32_t>(out), static_cast<uint32_t>(group_in)}, {}, {}};
  for (size_t d = 2; d < sizes.size(); ++d) packed.sizes.push_back(static_cast<uint32_t>(sizes[d]));
  packed.bytes = transposed ? exir::own_bytes(std::move(bytes)) : scales->integers;
  packed.scales = exir::own_bytes(std::move(by_row));
  return packed;
}

bool stays_integers(const Value* constant) {
  constexpr size_t kSmall = 1024;  // What the call takes in the payload.
  const exir::Scales* scales = exir::bytes_of(*constant).get();
  return scales != nullptr && constant->type.dtype == ScalarType::kFloat &&
         scales->integers.bytes > kSmall && scales->items.size() <= INT32_MAX &&
         scales->span <= INT32_MAX && exir::rounds_of(*scales) != 0;
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
