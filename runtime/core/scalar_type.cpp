// The names of element types.

#include "taper/scalar_type.h"

namespace taper {

const char* to_string(ScalarType type) {
  switch (type) {
    case ScalarType::kByte:
      return "uint8";
    case ScalarType::kChar:
      return "int8";
    case ScalarType::kShort:
      return "int16";
    case ScalarType::kInt:
      return "int32";
    case ScalarType::kLong:
      return "int64";
    case ScalarType::kHalf:
      return "float16";
    case ScalarType::kFloat:
      return "float32";
    case ScalarType::kDouble:
      return "float64";
    case ScalarType::kComplexHalf:
      return "complex32";
    case ScalarType::kComplexFloat:
      return "complex64";
    case ScalarType::kComplexDouble:
      return "complex128";
    case ScalarType::kBool:
      return "bool";
    case ScalarType::kBFloat16:
      return "bfloat16";
    case ScalarType::kUInt16:
      return "uint16";
    case ScalarType::kUInt32:
      return "uint32";
    case ScalarType::kUInt64:
      return "uint64";
  }
  return "unknown";
}

}  // namespace taper
