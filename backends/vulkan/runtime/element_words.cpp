#include "backends/vulkan/runtime/element_words.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels_portable/engine/half.h"

namespace taper::vulkan {
namespace {

template <typename T>
void widen(const void* elements, size_t count, uint32_t* words) {
  const T* from = static_cast<const T*>(elements);
  for (size_t i = 0; i < count; ++i) {
    words[i] = static_cast<uint32_t>(static_cast<int32_t>(from[i]));
  }
}

template <typename T>
void narrow(const uint32_t* words, size_t count, void* elements) {
  T* to = static_cast<T*>(elements);
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(static_cast<int32_t>(words[i]));
}

Status narrow_long(const void* elements, size_t count, uint32_t* words) {
  const int64_t* from = static_cast<const int64_t*>(elements);
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    fits &= from[i] == static_cast<int32_t>(from[i]);
    words[i] = static_cast<uint32_t>(from[i]);
  }
  TAPER_REQUIRE(fits, Error::kNotSupported, "an int64 element does not fit into 32 bits");
  return {};
}

// Data of constants need not be aligned.
Status narrow_double(const void* elements, size_t count, uint32_t* words) {
  bool fits = true;
  for (size_t i = 0; i < count; ++i) {
    double wide;
    std::memcpy(&wide, static_cast<const uint8_t*>(elements) + i * sizeof(wide), sizeof(wide));
    const bool is_large = std::fabs(wide) > static_cast<double>(std::numeric_limits<float>::max());
    const auto narrow = is_large && std::isfinite(wide) ? 0 : static_cast<float>(wide);
    fits &= wide != wide || static_cast<double>(narrow) == wide;
    words[i] = portable::float_bits(narrow);
  }
  TAPER_REQUIRE(fits, Error::kNotSupported, "a float64 element is not a float32");
  return {};
}

float half_at(const void* elements, size_t i) {
  portable::Half half;
  std::memcpy(&half, static_cast<const uint8_t*>(elements) + i * sizeof(half), sizeof(half));
  return portable::half_to_float(half);
}

}  // namespace

bool has_words(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kFloat:
    case ScalarType::kDouble:
    case ScalarType::kHalf:
    case ScalarType::kInt:
    case ScalarType::kLong:
    case ScalarType::kShort:
    case ScalarType::kChar:
    case ScalarType::kByte:
    case ScalarType::kBool:
      return true;
    default:
      return false;
  }
}

Status to_words(ScalarType dtype, const void* elements, size_t count, uint32_t* words) {
  if (count == 0) return {};
  switch (dtype) {
    case ScalarType::kLong:
      return narrow_long(elements, count, words);
    case ScalarType::kDouble:
      return narrow_double(elements, count, words);
    case ScalarType::kShort:
      widen<int16_t>(elements, count, words);
      break;
    case ScalarType::kHalf:
      for (size_t i = 0; i < count; ++i) words[i] = portable::float_bits(half_at(elements, i));
      break;
    case ScalarType::kChar:
      widen<int8_t>(elements, count, words);
      break;
    case ScalarType::kByte:
    case ScalarType::kBool:
      widen<uint8_t>(elements, count, words);
      break;
    default:
      std::memcpy(words, elements, count * 4);
      break;
  }
  return {};
}

void from_words(ScalarType dtype, const uint32_t* words, size_t count, void* elements) {
  if (count == 0) return;
  switch (dtype) {
    case ScalarType::kLong:
      narrow<int64_t>(words, count, elements);
      break;
    case ScalarType::kDouble:
      for (size_t i = 0; i < count; ++i) {
        static_cast<double*>(elements)[i] =
            static_cast<double>(portable::float_from_bits(words[i]));
      }
      break;
    case ScalarType::kShort:
      narrow<int16_t>(words, count, elements);
      break;
    case ScalarType::kHalf:
      for (size_t i = 0; i < count; ++i) {
        static_cast<portable::Half*>(elements)[i] =
            portable::float_to_half(portable::float_from_bits(words[i]));
      }
      break;
    case ScalarType::kChar:
      narrow<int8_t>(words, count, elements);
      break;
    case ScalarType::kByte:
    case ScalarType::kBool:
      narrow<uint8_t>(words, count, elements);
      break;
    default:
      std::memcpy(elements, words, count * 4);
      break;
  }
}

void widen_constants(PayloadGraph& graph) {
  for (PayloadValue& value : graph.values) {
    if (!value.is_half || !value.is_constant) continue;
    std::vector<float>& floats =
        graph.widened.emplace_back(static_cast<size_t>(value.dims.numel()));
    for (size_t i = 0; i < floats.size(); ++i) floats[i] = half_at(value.data.data(), i);
    value.data = {reinterpret_cast<const uint8_t*>(floats.data()), floats.size() * sizeof(float)};
  }
}

}  // namespace taper::vulkan
