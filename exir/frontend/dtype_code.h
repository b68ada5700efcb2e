// The numbers that PyTorch's files give to element types (torch/_export/serde/schema.py). Those of
// 8-bit floats are in exir/ops/float8.h.

#pragma once

#include <cstdint>

namespace taper::exir {

enum DtypeCode : int64_t {
  kUnknownCode = 0,
  kByteCode = 1,
  kCharCode = 2,
  kShortCode = 3,
  kIntCode = 4,
  kLongCode = 5,
  kHalfCode = 6,
  kFloatCode = 7,
  kDoubleCode = 8,
  kComplexHalfCode = 9,
  kComplexFloatCode = 10,
  kComplexDoubleCode = 11,
  kBoolCode = 12,
  kBFloat16Code = 13,
  kUInt16Code = 28,
  kUInt32Code = 34,
  kUInt64Code = 35,
};

}  // namespace taper::exir
