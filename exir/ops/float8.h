// 8-bit floats, which are bytes in a graph: the front end reads tensors of these dtypes as their
// codes, and PyTorch's casts as taper::decode_float8 and taper::encode_float8, whose argument
// `format` is the number that PyTorch's files give to the dtype.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace taper::exir {

enum Float8Code : int64_t {
  kFloat8E4m3fnCode = 29,
  kFloat8E5m2Code = 30,
  kFloat8E4m3fnuzCode = 31,
  kFloat8E5m2fnuzCode = 32,
  kFloat8E8m0fnuCode = 33,
};

struct Float8Format {
  int64_t code;
  int mantissa_bits, bias;
  bool has_sign;
  bool has_negative_zero;  // Otherwise its bits are the only NaN.
  bool has_infinity;
};

// Null if the number is that of another dtype.
const Float8Format* find_float8(int64_t code);

// The numbers of the 256 codes.
std::vector<float> float8_numbers(const Float8Format& format);

// The numbers of the 16 codes of float4_e2m1fn.
std::vector<float> float4_numbers();

// Whether an operator only copies elements of its tensors, as a view, a concatenation or a write
// does, so that it does the same with codes.
bool only_moves_elements(std::string_view target);

}  // namespace taper::exir
