// Arithmetic on constants of integers with scales; see scales.h.

#include "exir/ir/scales.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels_portable/engine/convert.h"

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

constexpr uint64_t kBytes = 0x0101010101010101;  // Times n: n in each byte of a word.

// Eight bytes, the first lowest; those after the first `count` are 0.
uint64_t load_word(const uint8_t* from, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, from, std::min(count, sizeof(word)));
  return word;
}

// Packs a row of 4-bit integers, eight at a time. `flip` is 8 for those with a sign.
void pack_half_bytes(const uint8_t* from, size_t count, uint64_t flip, NibbleOrder order,
                     uint8_t* to) {
  for (size_t i = 0; i < count; i += 8, to += 4) {
    const uint64_t fill = count - i >= 8 ? 0 : (~uint64_t{0} << (count - i) * 8);
    uint64_t word = (load_word(from + i, count - i) ^ (kBytes * flip)) & (kBytes * 15) & ~fill;
    // Pairs of bytes become the lower bytes of 16-bit words, which then move together.
    word = order == NibbleOrder::kLowFirst ? word | word >> 4 : word << 4 | word >> 8;
    word &= 0x00ff00ff00ff00ff;
    word = (word | word >> 8) & 0x0000ffff0000ffff;
    word |= word >> 16;
    std::memcpy(to, &word, std::min<size_t>(4, (count - i + 1) / 2));
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
  if (has_data) return constant.data;
  TensorData floats = elements_of(*constant.scales);
  const ScalarType dtype = constant.type.dtype;
  if (dtype == ScalarType::kFloat) return floats;
  const size_t count = floats.bytes / sizeof(float);
  std::vector<uint8_t> bytes(count * element_size(dtype));
  portable::storer<float>(dtype)(reinterpret_cast<const float*>(floats.data),
                                 static_cast<int64_t>(count), bytes.data(), 1);
  return own_bytes(std::move(bytes));
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
  data.bytes = scales->integers.bytes * element_size(type.dtype);
  Value* constant = graph.new_constant(hint, std::move(type), std::move(data));
  constant->scales = std::move(scales);
  return constant;
}

// Eight bytes at a time: each gets the least integer of 4 and of 2 bits subtracted, which leaves no
// higher bits of those that fit.
int64_t bits_of(const TensorData& integers, ScalarType dtype) {
  const bool is_signed = dtype == ScalarType::kChar;
  const auto moved = [&](uint64_t word, uint64_t by) {
    return is_signed ? ((word & (kBytes * 0x7f)) + kBytes * by) ^ (word & (kBytes * 0x80)) : word;
  };
  uint64_t four = 0, two = 0;
  for (size_t at = 0; at < integers.bytes; at += sizeof(uint64_t)) {
    const uint64_t word = load_word(integers.data + at, integers.bytes - at);
    four |= moved(word, 8);
    two |= moved(word, 2);
  }
  return (two & (kBytes * 0xfc)) == 0 ? 2 : (four & (kBytes * 0xf0)) == 0 ? 4 : 8;
}

bool is_symmetric(const Scales& scales) {
  return scales.zero_points.empty() && scales.dtype == ScalarType::kChar;
}

size_t rounds_of(const Scales& scales) {
  const size_t round = scales.items.size() * scales.span;
  return round != 0 && scales.integers.bytes % round == 0 ? scales.integers.bytes / round : 0;
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

std::shared_ptr<const Scales> reordered(const Scales& scales, const std::vector<size_t>& order) {
  const auto item_at = [&](size_t n) { return order[n] / scales.span % scales.items.size(); };
  size_t span = order.size();  // The greatest common divisor of all places where the scale changes.
  for (size_t n = 1; n < order.size(); ++n) {
    if (item_at(n) != item_at(n - 1)) span = std::gcd(span, n);
  }
  std::vector<size_t> items;
  for (size_t n = 0; n < order.size(); n += span) items.push_back(item_at(n));
  const auto repeats_after = [&](size_t count) {
    return items.size() % count == 0 &&
           std::equal(items.begin() + static_cast<ptrdiff_t>(count), items.end(), items.begin());
  };
  size_t count = 1;
  while (count < items.size() && !repeats_after(count)) ++count;
  auto result = std::make_shared<Scales>(scales);
  result->span = span;
  result->items.clear();
  result->zero_points.clear();
  for (size_t i = 0; i < std::min(count, items.size()); ++i) {
    result->items.push_back(scales.items[items[i]]);
    if (!scales.zero_points.empty()) result->zero_points.push_back(scales.zero_points[items[i]]);
  }
  std::vector<uint8_t> integers;
  integers.reserve(order.size());
  for (const size_t from : order) integers.push_back(scales.integers.data[from]);
  result->integers = own_bytes(std::move(integers));
  return result;
}

TensorData packed_rows(const Scales& scales, int64_t rows, int64_t columns, int64_t bits,
                       NibbleOrder order) {
  if (bits == 8) return scales.integers;
  const auto per_byte = static_cast<size_t>(8 / bits), width = static_cast<size_t>(columns);
  const size_t row_bytes = (width + per_byte - 1) / per_byte;
  const unsigned flip = scales.dtype == ScalarType::kByte ? 0 : 1U << (bits - 1);
  std::vector<uint8_t> packed(static_cast<size_t>(rows) * row_bytes);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const uint8_t* from = scales.integers.data + row * width;
    uint8_t* to = packed.data() + row * row_bytes;
    if (bits == 4) {
      pack_half_bytes(from, width, flip, order, to);
      continue;
    }
    for (size_t i = 0; i < width; ++i) {
      const unsigned integer = (from[i] ^ flip) & 3U;
      to[i / 4] = static_cast<uint8_t>(to[i / 4] | integer << i % 4 * 2);
    }
  }
  return own_bytes(std::move(packed));
}

CodedBytes coded_bytes(const Scales& scales) {
  const int64_t count = static_cast<int64_t>(scales.integers.bytes);
  const size_t fill = static_cast<size_t>(8 / scales.bits);
  const int64_t bits = scales.span % fill == 0 ? scales.bits : 8;
  CodedBytes coded = {packed_rows(scales, 1, count, bits, NibbleOrder::kLowFirst), 8 / bits, {}};
  const bool is_signed = scales.dtype == ScalarType::kChar;
  // packed_rows() adds what makes integers of few bits positive.
  const int added = is_signed && bits < 8 ? 1 << (bits - 1) : 0;
  const auto number_of = [&](unsigned code) {
    if (!scales.table.empty()) return code < scales.table.size() ? scales.table[code] : 0.0F;
    const int integer = is_signed && bits == 8 ? static_cast<int8_t>(code) : static_cast<int>(code);
    return static_cast<float>(integer - added);
  };
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (int64_t at = 0; at < 8; at += bits) {
      coded.table.push_back(number_of(byte >> at & ((1U << bits) - 1)));
    }
  }
  return coded;
}

}  // namespace taper::exir
