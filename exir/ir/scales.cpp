// Arithmetic on constants of integers with scales; see scales.h.

#include "exir/ir/scales.h"

#include <algorithm>
#include <cstring>

namespace taper::exir {
namespace {

template <typename Integer>
void dequantise(const Scales& scales, size_t count, uint8_t* to) {
  for (size_t first = 0, item = 0; first < count; first += scales.span) {
    const float zero_point = scales.zero_points.empty() ? 0 : scales.zero_points[item];
    const float scale = scales.items[item];
    for (size_t i = first; i < std::min(count, first + scales.span); ++i) {
      const auto integer = static_cast<Integer>(scales.integers.data[i]);
      const float element = (static_cast<float>(integer) - zero_point) * scale;
      std::memcpy(to + i * sizeof(element), &element, sizeof(element));
    }
    if (++item == scales.items.size()) item = 0;
  }
}

size_t size_at(const TensorType& type, size_t dim) {
  return static_cast<size_t>(type.sizes[dim].as_int());
}

std::vector<uint8_t> transposed_bytes(const uint8_t* from, size_t rows, size_t columns) {
  std::vector<uint8_t> bytes(rows * columns);
  constexpr size_t kSquare = 64;  // In squares, which fit into the cache.
  for (size_t top = 0; top < rows; top += kSquare) {
    for (size_t left = 0; left < columns; left += kSquare) {
      for (size_t row = top; row < std::min(rows, top + kSquare); ++row) {
        for (size_t column = left; column < std::min(columns, left + kSquare); ++column) {
          bytes[column * rows + row] = from[row * columns + column];
        }
      }
    }
  }
  return bytes;
}

}  // namespace

TensorData elements_of(const Value& constant) {
  const bool has_data = constant.scales == nullptr || constant.data.data != nullptr;
  return has_data ? constant.data : elements_of(*constant.scales);
}

TensorData elements_of(const Scales& scales) {
  std::vector<uint8_t> bytes(scales.integers.bytes * sizeof(float));
  if (scales.dtype == ScalarType::kByte) {
    dequantise<uint8_t>(scales, scales.integers.bytes, bytes.data());
  } else {
    dequantise<int8_t>(scales, scales.integers.bytes, bytes.data());
  }
  return own_bytes(std::move(bytes));
}

Value* new_constant(Graph& graph, std::string_view hint, TensorType type,
                    std::shared_ptr<const Scales> scales) {
  TensorData data;
  data.bytes = scales->integers.bytes * sizeof(float);
  Value* constant = graph.new_constant(hint, std::move(type), std::move(data));
  constant->scales = std::move(scales);
  return constant;
}

int64_t bits_of(const TensorData& integers, ScalarType dtype) {
  // Signed integers are shifted so that the order is that of bytes.
  const int middle = dtype == ScalarType::kChar ? 128 : 0;
  int least = 255, most = 0;
  for (size_t i = 0; i < integers.bytes; ++i) {
    const int integer = integers.data[i] ^ middle;
    least = std::min(least, integer);
    most = std::max(most, integer);
  }
  for (const int bits : {2, 4}) {
    const int first = middle == 0 ? 0 : middle - (1 << (bits - 1));
    if (least >= first && most < first + (1 << bits)) return bits;
  }
  return 8;
}

bool is_symmetric(const Scales& scales) {
  return scales.zero_points.empty() && scales.dtype == ScalarType::kChar;
}

bool is_along(const Scales& scales, const TensorType& type, size_t dim) {
  if (scales.items.size() == 1) return true;
  size_t inner = 1;
  for (size_t d = dim + 1; d < type.rank(); ++d) inner *= size_at(type, d);
  return dim < type.rank() && scales.items.size() == size_at(type, dim) && scales.span == inner;
}

int64_t group_of(const Scales& scales, const TensorType& type) {
  if (type.rank() != 2) return 0;
  const size_t columns = size_at(type, 1);
  if (scales.items.size() == 1) return static_cast<int64_t>(columns);
  const bool has_own = scales.items.size() * scales.span == scales.integers.bytes;
  return has_own && columns % scales.span == 0 ? static_cast<int64_t>(scales.span) : 0;
}

std::shared_ptr<const Scales> transposed(const Scales& scales, const TensorType& type) {
  if (type.rank() != 2) return nullptr;
  const bool has_rows = is_along(scales, type, 0);
  if (!has_rows && !is_along(scales, type, 1)) return nullptr;
  const size_t rows = size_at(type, 0), columns = size_at(type, 1);
  auto result = std::make_shared<Scales>(scales);
  result->span = has_rows ? 1 : rows;
  result->integers = own_bytes(transposed_bytes(scales.integers.data, rows, columns));
  return result;
}

TensorData packed_rows(const Scales& scales, int64_t rows, int64_t columns, int64_t bits,
                       NibbleOrder order) {
  if (bits == 8) return scales.integers;
  const auto per_byte = static_cast<size_t>(8 / bits), width = static_cast<size_t>(columns);
  const size_t row_bytes = (width + per_byte - 1) / per_byte;
  const unsigned offset = scales.dtype == ScalarType::kByte ? 0 : 1U << (bits - 1);
  const unsigned mask = (1U << bits) - 1;
  const size_t flip = order == NibbleOrder::kHighFirst && bits == 4 ? 1 : 0;
  std::vector<uint8_t> packed(static_cast<size_t>(rows) * row_bytes);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const uint8_t* from = scales.integers.data + row * width;
    uint8_t* to = packed.data() + row * row_bytes;
    for (size_t i = 0; i < width; ++i) {
      const size_t place = i % per_byte ^ flip;
      to[i / per_byte] = static_cast<uint8_t>(
          to[i / per_byte] | ((from[i] + offset) & mask) << (place * static_cast<size_t>(bits)));
    }
  }
  return own_bytes(std::move(packed));
}

}  // namespace taper::exir
