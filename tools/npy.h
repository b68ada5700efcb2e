// NumPy's .npy files: one array each, a short text header and then the elements.
//
// Read: versions 1 to 3; f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, b1, and bfloat16 as two raw bytes (V2,
// which is what numpy.save writes for it). Big-endian files are swapped and Fortran order is turned
// into C order, so the elements always arrive as a contiguous tensor has them.
// Written: version 1, little endian, C order.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "taper/scalar_type.h"

namespace taper::tools {

struct NpyArray {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> shape;
  std::string data;  // Elements in C order, little endian.
};

// Parses a file's bytes. `name` stands in messages. Throws InputError.
NpyArray parse_npy(std::string_view file, const std::string& name);
// Reads a file, or several. Throws InputError.
NpyArray read_npy(const std::string& path);
std::vector<NpyArray> read_all(const std::vector<std::string>& paths);
// The bytes of a file. REQUIRES: data.size() is the element count times the element size.
std::string npy_bytes(ScalarType dtype, const std::vector<int64_t>& shape, std::string_view data);

// "(2, 3)", "(4,)", "()": a shape as Python writes it.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace taper::tools
