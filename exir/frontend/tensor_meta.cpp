// Maps the file's dtype codes to ScalarType and derives dimension orders from strides.

#include "exir/frontend/tensor_meta.h"

#include <algorithm>
#include <numeric>

#include "exir/frontend/dtype_code.h"
#include "exir/frontend/refuse.h"
#include "exir/ops/float8.h"

namespace taper::exir {
namespace {

struct DtypeName {
  int64_t code;
  const char* name;
};

// Names of PyTorch's element types that have no ScalarType here, for messages.
constexpr DtypeName kForeignTypes[] = {
    {kUnknownCode, "unknown"},
    {kComplexHalfCode, "complex32"},
    {kComplexFloatCode, "complex64"},
    {kComplexDoubleCode, "complex128"},
};

using Order = std::vector<uint8_t>;

// Number is int64_t or Sym. The caller has checked that products of int64_t do not overflow.
template <typename Number>
bool is_dense_in(const Order& order, const std::vector<Number>& sizes,
                 const std::vector<Number>& strides) {
  Number expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    if (sizes[d] == Number(1)) continue;
    if (!(strides[d] == expected)) return false;
    expected = expected * sizes[d];
  }
  return true;
}

// Orders dimensions by decreasing stride; a dimension of size 1 follows its left neighbour.
template <typename Number>
Order order_by_stride(const std::vector<Number>& sizes, const std::vector<int64_t>& strides) {
  Order order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(sizes[d] == Number(1))) order.push_back(static_cast<uint8_t>(d));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t a, uint8_t b) { return strides[a] > strides[b]; });
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(sizes[d] == Number(1))) continue;
    const auto left = d == 0 ? order.begin() : std::find(order.begin(), order.end(), d - 1) + 1;
    order.insert(left, static_cast<uint8_t>(d));
  }
  return order;
}

template <typename Number>
std::optional<Order> find_order(const std::vector<Number>& sizes,
                                const std::vector<Number>& strides,
                                const std::vector<int64_t>& hints) {
  Order order(sizes.size());
  std::iota(order.begin(), order.end(), uint8_t{0});
  const bool empty = std::find(sizes.begin(), sizes.end(), Number(0)) != sizes.end();
  if (empty || is_dense_in(order, sizes, strides)) return order;
  if (order.size() == 4 || order.size() == 5) {
    Order channels_last = order;
    std::rotate(channels_last.begin() + 1, channels_last.begin() + 2, channels_last.end());
    if (is_dense_in(channels_last, sizes, strides)) return channels_last;
  }
  order = order_by_stride(sizes, hints);
  if (is_dense_in(order, sizes, strides)) return order;
  return std::nullopt;
}

}  // namespace

ScalarType import_dtype(int64_t code) {
  if (find_float8(code) != nullptr) return ScalarType::kByte;
  switch (code) {
    case kByteCode:
      return ScalarType::kByte;
    case kCharCode:
      return ScalarType::kChar;
    case kShortCode:
      return ScalarType::kShort;
    case kIntCode:
      return ScalarType::kInt;
    case kLongCode:
      return ScalarType::kLong;
    case kHalfCode:
      return ScalarType::kHalf;
    case kFloatCode:
      return ScalarType::kFloat;
    case kDoubleCode:
      return ScalarType::kDouble;
    case kBoolCode:
      return ScalarType::kBool;
    case kBFloat16Code:
      return ScalarType::kBFloat16;
    case kUInt16Code:
      return ScalarType::kUInt16;
    case kUInt32Code:
      return ScalarType::kUInt32;
    case kUInt64Code:
      return ScalarType::kUInt64;
    default:
      break;
  }
  std::string name = "number " + std::to_string(code);
  for (const DtypeName& known : kForeignTypes) {
    if (known.code == code) name = known.name;
  }
  Diagnostic out;
  out.id = "unknown-dtype";
  out.message = "has element type " + name + ", which is not supported";
  out.remedy = "convert the model to float32, float16 or bfloat16 before exporting";
  out.expected = "a bool, integer or floating type of 8 to 64 bits";
  out.actual = name;
  refuse(std::move(out));
}

std::optional<ScalarType> complex_part(int64_t code) {
  if (code == kComplexFloatCode) return ScalarType::kFloat;
  if (code == kComplexDoubleCode) return ScalarType::kDouble;
  return std::nullopt;
}

ScalarType import_part_dtype(int64_t code) {
  const std::optional<ScalarType> part = complex_part(code);
  return part ? *part : import_dtype(code);
}

int64_t doubled(int64_t stride) {
  int64_t out = 0;
  if (__builtin_mul_overflow(stride, 2, &out)) refuse("bad-value", "has an impossible stride");
  return out;
}

std::optional<Order> dense_order(const std::vector<int64_t>& sizes,
                                 const std::vector<int64_t>& strides) {
  return find_order(sizes, strides, strides);
}

std::optional<Order> dense_order(const std::vector<Sym>& sizes, const std::vector<Sym>& strides,
                                 const std::vector<int64_t>& hints) {
  return find_order(sizes, strides, hints);
}

}  // namespace taper::exir
