// One element type to another, one value at a time (convert) or a strided run at a time (loader,
// storer).
//
// Kernels compute in one of three types: float, double or int64_t. loader<C>(dtype) gives a
// function that reads elements of any dtype as C, storer<C>(dtype) one that writes them, so that a
// kernel has one loop per compute type and none per pair of dtypes.

#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels_portable/engine/half.h"
#include "taper/dtypes.h"

namespace taper::portable {

// The value as To, defined for every value: a float out of the range of int64_t becomes the nearest
// int64_t and NaN becomes 0; integers wrap to the width of To; bool is "not zero".
template <typename To, typename From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(half_to_float(value));
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return convert<To>(bfloat16_to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return float_to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return float_to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (value >= static_cast<From>(9223372036854775808.0)) return static_cast<To>(INT64_MAX);
    if (value <= static_cast<From>(-9223372036854775808.0)) return static_cast<To>(INT64_MIN);
    return value != value ? To{0} : static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Reads `count` elements that lie `stride` elements apart into `to`, as C.
template <typename C>
using LoadFunction = void (*)(const void* from, int64_t stride, int64_t count, C* to);

// Writes `count` values to elements that lie `stride` elements apart.
template <typename C>
using StoreFunction = void (*)(const C* from, int64_t count, void* to, int64_t stride);

// Defined for C = float, double and int64_t. Null if `type` is complex or no valid dtype.
template <typename C>
LoadFunction<C> loader(ScalarType type);
template <typename C>
StoreFunction<C> storer(ScalarType type);

// The dtype whose elements are C itself: for it no conversion is needed.
template <typename C>
constexpr ScalarType native_type() {
  if constexpr (std::is_same_v<C, float>) return ScalarType::kFloat;
  if constexpr (std::is_same_v<C, double>) return ScalarType::kDouble;
  return ScalarType::kLong;
}

// One element of any dtype, read and written as C.
template <typename C>
inline C load_one(const void* from, ScalarType type) {
  C value;
  loader<C>(type)(from, 1, 1, &value);
  return value;
}
template <typename C>
inline void store_one(C value, void* to, ScalarType type) {
  storer<C>(type)(&value, 1, to, 1);
}

// The address of element `index` of elements of `type`.
inline const void* element(const void* data, int64_t index, ScalarType type) {
  return static_cast<const char*>(data) + index * static_cast<int64_t>(element_size(type));
}
inline void* element(void* data, int64_t index, ScalarType type) {
  return static_cast<char*>(data) + index * static_cast<int64_t>(element_size(type));
}

// Calls `function` with a value of the C++ type of `type` (Half and BFloat16 for the 16-bit
// floats); it must return the same type for all of them. Use it sparingly: the code is instantiated
// for each of the 13 types that the build selects.
template <typename Function>
static inline auto with_type(ScalarType type, Function&& function) {
  note_dtype(type);
// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define TAPER_CASE(name, T)                   \
  if constexpr (is_selected(name)) {          \
    if (type == (name)) return function(T{}); \
  }
  // NOLINTEND(bugprone-macro-parentheses)
  TAPER_CASE(ScalarType::kByte, uint8_t)
  TAPER_CASE(ScalarType::kChar, int8_t)
  TAPER_CASE(ScalarType::kShort, int16_t)
  TAPER_CASE(ScalarType::kInt, int32_t)
  TAPER_CASE(ScalarType::kLong, int64_t)
  TAPER_CASE(ScalarType::kHalf, Half)
  TAPER_CASE(ScalarType::kFloat, float)
  TAPER_CASE(ScalarType::kDouble, double)
  TAPER_CASE(ScalarType::kBool, bool)
  TAPER_CASE(ScalarType::kBFloat16, BFloat16)
  TAPER_CASE(ScalarType::kUInt16, uint16_t)
  TAPER_CASE(ScalarType::kUInt32, uint32_t)
  TAPER_CASE(ScalarType::kUInt64, uint64_t)
#undef TAPER_CASE
  return function(uint8_t{});
}

}  // namespace taper::portable
