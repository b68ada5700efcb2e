// NumPy's .npy files: one array each, a short text header followed by the elements.
//
// Reading supports versions 1 to 3; f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8, b1, c8 c16, and bfloat16 as
// two raw bytes (V2, as numpy.save writes it). Big-endian elements and Fortran order are converted,
// so that elements are always in the order of a contiguous tensor.
// Writing uses version 1, little endian, C order. A .npz is a zip archive of such files.

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

// Parses a file's bytes. `name` is used in messages. Throws InputError.
NpyArray parse_npy(std::string_view file, const std::string& name);
// Reads one file. Throws InputError.
NpyArray read_npy(const std::string& path);
// Whether it is no file but a number, as read_all() takes it.
bool is_number(const std::string& path);

// Reads several; one that is no file but a number such as "5", "-0.5" or "true" is an array without
// dimensions, of int64, float64 or bool. Throws InputError.
std::vector<NpyArray> read_all(const std::vector<std::string>& paths);

struct NamedArray {
  std::string name;  // For messages: "data.npz:x.npy".
  NpyArray array;
  std::string member = {};  // In a .npz, without the suffix: "x".
};
// In the order of the .npz. Throws an InputError that begins with `what`, such as "samples", and
// the path.
std::vector<NamedArray> read_npz(const std::string& path, const std::string& what);

// Returns a file's bytes. REQUIRES: data.size() is the element count times the element size.
std::string npy_bytes(ScalarType dtype, const std::vector<int64_t>& shape, std::string_view data);

// Formats a shape as Python does: "(2, 3)", "(4,)", "()".
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace taper::tools
