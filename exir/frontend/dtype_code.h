// The numbers that PyTorch's files give to element types (torch/_export/serde/schema.py).

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
  kFloat8E4m3fnCode = 29,
  kFloat8E5m2Code = 30,
  kFloat8E4m3fnuzCode = 31,
  kFloat8E5m2fnuzCode = 32,
  kFloat8E8m0fnuCode = 33,
  kUInt32Code = 34,
  kUInt64Code = 35,
};

}  // namespace taper::exir
