// Element types of tensors, with the numbers they have on the wire (and in PyTorch's c10).

#pragma once

#include <cstddef>
#include <cstdint>

namespace taper {

enum class ScalarType : int8_t {
  kByte = 0,            // uint8
  kChar = 1,            // int8
  kShort = 2,           // int16
  kInt = 3,             // int32
  kLong = 4,            // int64
  kHalf = 5,            // IEEE binary16
  kFloat = 6,           // binary32
  kDouble = 7,          // binary64
  kComplexHalf = 8,     // Two halves: the real and the imaginary part.
  kComplexFloat = 9,    // Two floats.
  kComplexDouble = 10,  // Two doubles.
  kBool = 11,           // one byte, 0 or 1
  kBFloat16 = 15,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};

// The size of an element in bytes; 0 for a number that is not a supported dtype.
constexpr size_t element_size(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kChar:
    case ScalarType::kBool:
      return 1;
    case ScalarType::kShort:
    case ScalarType::kHalf:
    case ScalarType::kBFloat16:
    case ScalarType::kUInt16:
      return 2;
    case ScalarType::kInt:
    case ScalarType::kFloat:
    case ScalarType::kUInt32:
    case ScalarType::kComplexHalf:
      return 4;
    case ScalarType::kLong:
    case ScalarType::kDouble:
    case ScalarType::kUInt64:
    case ScalarType::kComplexFloat:
      return 8;
    case ScalarType::kComplexDouble:
      return 16;
  }
  return 0;
}

constexpr bool is_valid(ScalarType type) { return element_size(type) != 0; }

constexpr bool is_floating(ScalarType type) {
  return type == ScalarType::kHalf || type == ScalarType::kFloat || type == ScalarType::kDouble ||
         type == ScalarType::kBFloat16;
}

constexpr bool is_complex(ScalarType type) {
  return type == ScalarType::kComplexHalf || type == ScalarType::kComplexFloat ||
         type == ScalarType::kComplexDouble;
}

// The dtype of the parts of a complex number; for every other dtype itself.
constexpr ScalarType part_type(ScalarType type) {
  if (type == ScalarType::kComplexHalf) return ScalarType::kHalf;
  if (type == ScalarType::kComplexFloat) return ScalarType::kFloat;
  return type == ScalarType::kComplexDouble ? ScalarType::kDouble : type;
}

// True for integers, but not for bool.
constexpr bool is_integral(ScalarType type) {
  return is_valid(type) && !is_floating(type) && !is_complex(type) && type != ScalarType::kBool;
}

// The dtype's PyTorch name: "float32", "int64", "bool", "complex64", ...; "unknown" otherwise.
const char* to_string(ScalarType type);

}  // namespace taper
