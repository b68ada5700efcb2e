// Rules transpose, reshape and divide constants without regard to their scales. So the integers, or
// the bytes that stand for numbers of a table, are computed again from the floats, with the scales
// along each dimension in turn, and kept if they give exactly these floats.

#include "backends/xnnpack/aot/stored_integers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Scales;

float zero_point_of(const Scales& scales, size_t item) {
  return scales.zero_points.empty() ? 0 : scales.zero_points[item];
}

bool are_same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

// The integer of type T that gives an element, as a byte.
template <typename T>
std::optional<uint8_t> integer_of(float element, float scale, float zero_point) {
  const float nearest = std::nearbyint(element / scale + zero_point);
  if (!(nearest >= std::numeric_limits<T>::min() && nearest <= std::numeric_limits<T>::max())) {
    return std::nullopt;
  }
  if (!are_same((nearest - zero_point) * scale, element)) return std::nullopt;
  return static_cast<uint8_t>(static_cast<T>(nearest));
}

// The numbers of a table, in order, with the bytes that stand for them.
class CodeFinder {
 public:
  explicit CodeFinder(const std::vector<float>& table) {
    for (size_t code = 0; code < table.size(); ++code) {
      if (!std::isnan(table[code])) codes_.emplace(table[code], static_cast<uint8_t>(code));
    }
  }

  std::optional<uint8_t> find(float element, float scale) const {
    auto near = codes_.lower_bound(element / scale);
    for (int back = 0; back < 2 && near != codes_.begin(); ++back) --near;
    for (int tries = 0; tries < 4 && near != codes_.end(); ++tries, ++near) {
      if (are_same(near->first * scale, element)) return near->second;
    }
    return std::nullopt;
  }

 private:
  struct IsLess {  // -0 is less than 0.
    bool operator()(float a, float b) const {
      return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    }
  };
  std::map<float, uint8_t, IsLess> codes_;
};

// The bytes that give the floats if each run of `span` floats has the next scale; no data if there
// are none.
template <typename Find>
exir::TensorData bytes_of(const exir::TensorData& floats, const Scales& scales, size_t span,
                          const Find& find) {
  std::vector<uint8_t> integers(floats.bytes / sizeof(float));
  for (size_t i = 0, item = 0, left = span; i < integers.size(); ++i, --left) {
    if (left == 0) {
      left = span;
      item = item + 1 == scales.items.size() ? 0 : item + 1;
    }
    const float scale = scales.items[item], zero_point = zero_point_of(scales, item);
    float element;
    std::memcpy(&element, floats.data + i * sizeof(element), sizeof(element));
    const std::optional<uint8_t> found = find(element, scale, zero_point);
    if (!found) return {};
    integers[i] = *found;
  }
  return exir::own_bytes(std::move(integers));
}

exir::TensorData bytes_of(const exir::TensorData& floats, const Scales& scales, size_t span) {
  if (!scales.table.empty()) {
    const CodeFinder codes(scales.table);
    return bytes_of(floats, scales, span,
                    [&](float element, float scale, float) { return codes.find(element, scale); });
  }
  const bool is_unsigned = scales.dtype == ScalarType::kByte;
  return bytes_of(floats, scales, span, is_unsigned ? integer_of<uint8_t> : integer_of<int8_t>);
}

// Integers of four bits, two to a byte; rows are those of the last dimension.
exir::TensorData half_bytes(const ValueSpec& value, exir::TensorData integers, ScalarType dtype) {
  Scales of_rows;
  of_rows.integers = std::move(integers);
  of_rows.dtype = dtype;
  const int64_t columns = value.dims.back().as_int();
  const int64_t rows = static_cast<int64_t>(of_rows.integers.bytes) / columns;
  return exir::packed_rows(of_rows, rows, columns, 4, exir::NibbleOrder::kLowFirst);
}

// The integers of a value whose elements are in their order.
StoredIntegers stored(const ValueSpec& value, exir::TensorData integers, size_t span) {
  const ScalarType dtype = value.integers->dtype;
  const bool has_halves = value.integers->bits <= 4;
  return {has_halves ? half_bytes(value, std::move(integers), dtype) : std::move(integers),
          static_cast<uint32_t>(span),
          has_halves                   ? wire::DataType::QCINT4
          : dtype == ScalarType::kByte ? wire::DataType::QUINT8
                                       : wire::DataType::QINT8};
}

// Bytes whose integers have four bits become halves of bytes.
void store_halves(NodeList& list, Id id) {
  ValueSpec& value = list.values[id];
  const exir::TensorData& bytes = list.data(id);
  if (bytes.bytes <= kSmallBytes || value.dims.empty() ||
      exir::bits_of(bytes, ScalarType::kChar) > 4) {
    return;
  }
  exir::TensorData halves = half_bytes(value, bytes, ScalarType::kChar);
  if (halves.bytes < bytes.bytes) {
    value.stored = {std::move(halves), 1, wire::DataType::QCINT4};
  }
}

void store(NodeList& list, Id id) {
  ValueSpec& value = list.values[id];
  const Scales& scales = *value.integers;
  size_t count = 1;
  for (const exir::Sym& size : value.dims) count *= static_cast<size_t>(size.as_int());
  const size_t numbers = scales.items.size() + scales.zero_points.size() + scales.table.size();
  const bool pays = count * sizeof(float) > kSmallFloats && !value.dims.empty() &&
                    count + numbers * sizeof(float) < count * sizeof(float);
  if (!pays || scales.items.size() > UINT32_MAX || scales.span > UINT32_MAX) return;
  const auto keep = [&](exir::TensorData integers, size_t span) {
    value.stored = stored(value, std::move(integers), span);
  };
  if (!list.has_data(id)) return keep(scales.integers, scales.span);
  const exir::TensorData& floats = list.data(id);
  const auto is_kept = [&](size_t span) {
    exir::TensorData integers = bytes_of(floats, scales, span);
    if (integers.data == nullptr) return false;
    keep(std::move(integers), span);
    return true;
  };
  if (is_kept(scales.span)) return;
  size_t span = 1;
  for (size_t d = value.dims.size(); d-- > 0;) {
    if (is_kept(span)) return;
    span *= static_cast<size_t>(value.dims[d].as_int());
  }
}

}  // namespace

void store_integers(NodeList& list, const std::vector<bool>& live) {
  for (size_t i = 0; i < list.nodes.size(); ++i) {
    if (!live[i]) continue;
    for (const Id id : list.nodes[i].inputs) {
      const ValueSpec* value = id == kNone ? nullptr : &list.values[id];
      if (value == nullptr || value->constant == 0 || value->stored.bytes.data != nullptr) continue;
      const wire::DataType type = value->quantization.type;
      if (type == wire::DataType::FP32 && value->integers != nullptr) store(list, id);
      if (type == wire::DataType::QINT8 || type == wire::DataType::QCINT8) store_halves(list, id);
    }
  }
}

}  // namespace taper::xnnpack
