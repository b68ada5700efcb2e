#include "exir/delegate/half_constants.h"

#include <bit>
#include <cstring>

#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

constexpr size_t kSmall = 1024;  // Bytes that are not worth it.

// Calls visit(number, half) for the elements of floats, until it returns false.
template <typename Visit>
bool for_each_half(const TensorData& floats, const Visit& visit) {
  for (size_t i = 0; i < floats.bytes / sizeof(float); ++i) {
    float number;
    std::memcpy(&number, floats.data + i * sizeof(number), sizeof(number));
    if (!visit(number, portable::float_to_half(number))) return false;
  }
  return true;
}

}  // namespace

TensorData as_halves(const TensorData& floats) {
  if (floats.bytes <= kSmall) return {};
  const bool fits = for_each_half(floats, [](float number, portable::Half half) {
    const float again = portable::half_to_float(half);
    return std::bit_cast<uint32_t>(number) == std::bit_cast<uint32_t>(again);
  });
  if (!fits) return {};
  std::vector<uint8_t> bytes;
  bytes.reserve(floats.bytes / 2);
  for_each_half(floats, [&](float, portable::Half half) {
    bytes.push_back(static_cast<uint8_t>(half.bits));
    bytes.push_back(static_cast<uint8_t>(half.bits >> 8));
    return true;
  });
  return own_bytes(std::move(bytes));
}

}  // namespace taper::exir
