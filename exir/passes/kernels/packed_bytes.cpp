// Bits of elements are put together one at a time; see packed_bytes.h.

#include "exir/passes/kernels/packed_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exir/ir/scales.h"

namespace taper::exir {
namespace {

uint32_t bits_of_float(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

template <typename T, typename Convert>
TensorData converted(const std::vector<float>& numbers, const Convert& convert) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T item = convert(numbers[i]);
    std::memcpy(&bytes[i * sizeof(T)], &item, sizeof(T));
  }
  return own_bytes(std::move(bytes));
}

// The least number of bits of which `count` elements fill whole bytes.
int64_t bits_that_fill(const Scales& scales, int64_t count) {
  for (const int64_t bits : {2, 4}) {
    if (scales.bits <= bits && count * bits % 8 == 0) return bits;
  }
  return 8;
}

}  // namespace

int64_t bits_in_groups(const Value& weight) {
  const int64_t group = group_of(*weight.scales, weight.type);
  const bool is_divided = group != weight.type.sizes[1].as_int();
  return is_divided ? bits_that_fill(*weight.scales, group) : weight.scales->bits;
}

int64_t bits_in_rows(const Value& weight) {
  return bits_that_fill(*weight.scales, weight.type.sizes[1].as_int());
}

int64_t bits_in_runs(const Scales& scales) {
  return bits_that_fill(scales, static_cast<int64_t>(scales.span));
}

std::vector<float> packed_zero_points(const Scales& scales, int64_t bits) {
  const bool gains_sign = scales.dtype == ScalarType::kByte && bits < 8;
  if (!gains_sign) return scales.zero_points;
  std::vector<float> points = scales.zero_points;
  if (points.empty()) points.resize(scales.items.size());
  for (float& point : points) point -= static_cast<float>(1 << (bits - 1));
  return points;
}

std::vector<Sym> sizes_of_scales(const Value& weight, bool is_table) {
  const Sym rows = weight.type.sizes[0];
  const int64_t group = group_of(*weight.scales, weight.type);
  const int64_t groups = weight.type.sizes[1].as_int() / std::max<int64_t>(1, group);
  if (is_table && groups == 1) return {rows};
  return {rows, Sym(groups)};
}

std::vector<float> repeated(const std::vector<float>& numbers, const std::vector<Sym>& sizes) {
  if (numbers.size() != 1) return numbers;
  size_t count = 1;
  for (const Sym& size : sizes) count *= static_cast<size_t>(size.as_int());
  return std::vector<float>(count, numbers[0]);
}

bool fit_bfloat16(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](float number) { return (bits_of_float(number) & 0xffffU) == 0; });
}

bool fit_bytes(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float number) {
    return number >= -128 && number <= 127 && number == std::nearbyint(number);
  });
}

bool fit_longs(const std::vector<float>& numbers) {
  constexpr float kEnd = 9223372036854775808.0F;  // 2^63
  return std::all_of(numbers.begin(), numbers.end(), [](float number) {
    return number >= -kEnd && number < kEnd && number == std::nearbyint(number);
  });
}

TensorData as_floats(const std::vector<float>& numbers) {
  return converted<float>(numbers, [](float number) { return number; });
}
TensorData as_bfloat16(const std::vector<float>& numbers) {
  return converted<uint16_t>(
      numbers, [](float number) { return static_cast<uint16_t>(bits_of_float(number) >> 16); });
}
TensorData as_bytes(const std::vector<float>& numbers) {
  return converted<int8_t>(numbers, [](float number) { return static_cast<int8_t>(number); });
}
TensorData as_longs(const std::vector<float>& numbers) {
  return converted<int64_t>(numbers, [](float number) { return static_cast<int64_t>(number); });
}

}  // namespace taper::exir
