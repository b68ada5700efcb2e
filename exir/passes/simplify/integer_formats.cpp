// Unpacks elements to a byte each; see integer_formats.h.
//
// An Int4Tensor has two elements in a byte, the first lower, and scales and zero points
// [groups, rows]. A GGUF block begins or ends with float16 scales: those of groups are multiples of
// them, and for q4_k and q5_k so are the numbers that are subtracted from the products.

#include "exir/passes/simplify/integer_formats.h"

#include <cmath>
#include <cstring>

#include "exir/ir/scales.h"
#include "exir/passes/simplify/integer_constants.h"
#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

constexpr char kInt4[] = "torchao::dequantize_int4_tensor";
constexpr char kGguf[] = "torchao::dequantize_gguf";
constexpr size_t kBlock = 256;  // Elements of a GGUF block.

using Made = std::shared_ptr<Scales>;

bool is_matrix_of_bytes(const Value* value) {
  return value->type.rank() == 2 && value->type.dtype == ScalarType::kByte &&
         value->type.is_contiguous() && value->type.is_static();
}

Made finish(Made made, std::vector<uint8_t> elements) {
  made->integers = own_bytes(std::move(elements));
  made->bits = bits_of(made->integers, made->dtype);
  return made;
}

// [groups, rows] as [rows, groups].
std::vector<float> by_row(const std::vector<float>& numbers, size_t rows, size_t groups) {
  std::vector<float> turned(numbers.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t group = 0; group < groups; ++group) {
      turned[row * groups + group] = numbers[group * rows + row];
    }
  }
  return turned;
}

Made int4_tensor(const Node& node) {
  const Value *packed = node.arg(0).value(), *scales = node.arg(1).value();
  const Value* points = node.arg(2).value();
  const int64_t group = node.arg(3).to_int();
  const auto rows = static_cast<size_t>(packed->type.sizes[0].as_int());
  const size_t columns = 2 * static_cast<size_t>(packed->type.sizes[1].as_int());
  if (group < 1 || columns % static_cast<size_t>(group) != 0) return nullptr;
  const size_t groups = columns / static_cast<size_t>(group);
  const auto fits = [&](const Value* value) {
    return value->type.is_contiguous() && is_floating(value->type.dtype) &&
           value->type.sizes ==
               std::vector<Sym>{Sym(static_cast<int64_t>(groups)), Sym(static_cast<int64_t>(rows))};
  };
  if (!fits(scales) || !fits(points)) return nullptr;
  auto made = std::make_shared<Scales>();
  made->dtype = ScalarType::kByte;
  made->span = static_cast<size_t>(group);
  made->items = by_row(floats_of(*scales), rows, groups);
  made->zero_points = by_row(floats_of(*points), rows, groups);
  std::vector<uint8_t> elements(rows * columns);
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = packed->data.data[i / 2] >> (i % 2 * 4) & 15;
  }
  return finish(std::move(made), std::move(elements));
}

float half_at(const uint8_t* from) {
  portable::Half half;
  std::memcpy(&half, from, sizeof(half));
  return portable::half_to_float(half);
}

// A block of 144 bytes, or of 176 with a fifth bit: two float16, eight scales and eight minima of
// six bits, then bits. Elements come in pairs of 32 lower and 32 upper halves of bytes.
void unpack_k4_or_k5(const uint8_t* block, bool has_fifth, uint8_t* elements, float* scales,
                     float* points) {
  const float d = half_at(block), least = half_at(block + 2);
  const uint8_t* s = block + 4;
  for (size_t j = 0; j < 8; ++j) {
    const unsigned scale = j < 4 ? s[j] & 63U : (s[j + 4] & 15U) | (s[j - 4] >> 6U) << 4U;
    const unsigned min = j < 4 ? s[j + 4] & 63U : s[j + 4] >> 4U | (s[j] >> 6U) << 4U;
    scales[j] = d * static_cast<float>(scale);
    const float offset = least * static_cast<float>(min);
    points[j] = offset == 0 ? 0 : offset / scales[j];
  }
  const uint8_t* fifth = block + 16;
  const uint8_t* low = has_fifth ? fifth + 32 : fifth;
  for (size_t i = 0; i < kBlock; ++i) {
    const size_t pair = i / 64, in = i % 32, half = i / 32 % 2;
    unsigned element = low[pair * 32 + in] >> (half * 4) & 15U;
    if (has_fifth) element |= (fifth[in] >> (i / 32) & 1U) << 4U;
    elements[i] = static_cast<uint8_t>(element);
  }
}

// A block of 210 bytes: lower halves, upper two bits, sixteen int8 scales, a float16.
void unpack_k6(const uint8_t* block, uint8_t* elements, float* scales) {
  const uint8_t *low = block, *high = block + 128, *s = block + 192;
  const float d = half_at(block + 208);
  for (size_t j = 0; j < 16; ++j) scales[j] = d * static_cast<float>(static_cast<int8_t>(s[j]));
  for (size_t i = 0; i < kBlock; ++i) {
    const size_t part = i / 128, quarter = i % 128 / 32, in = i % 32;
    const unsigned lower = low[part * 64 + quarter % 2 * 32 + in] >> (quarter / 2 * 4) & 15U;
    const unsigned upper = high[part * 32 + in] >> (quarter * 2) & 3U;
    elements[i] = static_cast<uint8_t>(static_cast<int>(lower | upper << 4U) - 32);
  }
}

Made gguf_blocks(const Node& node) {
  const Value* blob = node.arg(0).value();
  const std::string& type = node.arg(1).text();
  const size_t block = type == "q4_k" ? 144 : type == "q5_k" ? 176 : type == "q6_k" ? 210 : 0;
  const auto row_bytes = static_cast<size_t>(blob->type.sizes[1].as_int());
  if (block == 0 || row_bytes == 0 || row_bytes % block != 0) return nullptr;
  const size_t count = blob->data.bytes / block;
  const bool is_k6 = block == 210;
  auto made = std::make_shared<Scales>();
  made->dtype = is_k6 ? ScalarType::kChar : ScalarType::kByte;
  made->span = is_k6 ? 16 : 32;
  const size_t each = kBlock / made->span;
  made->items.resize(count * each);
  if (!is_k6) made->zero_points.resize(count * each);
  std::vector<uint8_t> elements(count * kBlock);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* from = blob->data.data + i * block;
    uint8_t* to = &elements[i * kBlock];
    if (is_k6) {
      unpack_k6(from, to, &made->items[i * each]);
    } else {
      unpack_k4_or_k5(from, block == 176, to, &made->items[i * each], &made->zero_points[i * each]);
    }
  }
  for (const float point : made->zero_points) {
    if (!std::isfinite(point)) return nullptr;  // A minimum of a group whose scale is 0.
  }
  return finish(std::move(made), std::move(elements));
}

}  // namespace

bool has_integer_format(const Node& node) {
  return (node.is(kInt4) || node.is(kGguf)) && node.outputs[0]->type.dtype == ScalarType::kFloat &&
         is_matrix_of_bytes(node.arg(0).value());
}

std::shared_ptr<Scales> integers_of_format(const Node& node) {
  return node.is(kInt4) ? int4_tensor(node) : gguf_blocks(node);
}

}  // namespace taper::exir
