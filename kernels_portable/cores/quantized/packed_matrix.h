// Matrices of integers with scales, as taper::packed_linear takes the weights of a linear layer:
//
//   weight       [n, bytes of a row]. With 8 bits int8 or uint8, an element a byte. With 4 bits two in
//                a byte, the first lower, each plus 8; with 2 bits four, the first lowest, each plus 2.
//   scales       [n, groups]: a row of k elements is divided into groups of equal length.
//   zero_points  [n, groups], int8 or float32, or none.
//
// An element is (integer - zero point) * scale. k is the last size of the input.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::portable {

// A view of the tensors above, for n rows of k elements.
struct PackedMatrix {
  const Tensor* weight = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* zero_points = nullptr;
  int64_t bits = 8;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t row_bytes() const { return weight->size(1); }
  int64_t groups() const { return scales->size(1); }
  int64_t group_length() const { return columns / groups(); }
  // What is added to an integer before it is stored.
  int64_t offset() const { return bits == 8 ? 0 : int64_t{1} << (bits - 1); }
  float scale(int64_t row, int64_t group) const;
  float zero_point(int64_t row, int64_t group) const;
  // The scales of rows [first, first + count), and what is to be subtracted from their stored
  // integers. REQUIRES: zero points, if any, that are finite.
  void read_scales(int64_t first, int64_t count, float* scales_to, float* zeros_to) const;
  void read_scales(int64_t first, int64_t count, float* to) const;  // The scales alone.
  // Elements [first, first + count) of a row, `stride` floats apart.
  void read(int64_t row, int64_t first, int64_t count, float* to, int64_t stride) const;
};

// The arguments of a call of taper::packed_linear, whose input is float32, or of
// taper::packed_linear_rows, whose input is int8 with a scale and a zero point for each row, or one
// for all rows.
struct PackedLinear {
  const Tensor& input;
  PackedMatrix matrix;
  const Tensor* bias;
  Tensor& out;
  const Tensor* input_scales = nullptr;
  const Tensor* input_zero_points = nullptr;

  int64_t rows() const { return input.numel() / matrix.columns; }
  float input_scale(int64_t row) const;
  int32_t input_zero_point(int64_t row) const;
  // Elements [first, first + count) of a row of the input.
  void read_input(int64_t row, int64_t first, int64_t count, float* to) const;
};
// Checks the tensors of `layer`, whose matrix lacks rows and columns, sets these and resizes the
// result.
Status prepare_packed_linear(PackedLinear& layer);

}  // namespace taper::portable
