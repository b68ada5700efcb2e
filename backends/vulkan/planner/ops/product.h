// Products of matrices, as gemm.comp, gemv.comp and matrix_units.comp compute them.

#pragma once

#include "backends/vulkan/planner/call.h"

namespace taper::vulkan {

// How shaders read the second matrix.
enum class SecondMatrix : uint32_t { kByColumn, kByRow, kImage, kTransposedImage };

// The windows of a convolution, which has three dimensions here: depth, height, width.
struct Windows {
  int64_t window[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, pad[3] = {}, dilation[3] = {1, 1, 1};
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
};

// out[z] = activation(a[z] * b[z] + bias), for `batch` matrices of m x k and k x n elements.
struct Product {
  Operand out, a, b;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0;  // Strides, in elements.
  // Matrix z is number z / inner, z % inner; strides of both, in elements.
  int64_t inner = 1, a_outer = 0, a_inner = 0, b_outer = 0, b_inner = 0;
  SecondMatrix second = SecondMatrix::kByColumn;
  bool a_is_packed = false, b_is_packed = false;  // By row, in float16 (packed.h).
  // By row, bytes of which each row has a scale; not both. Rows may be longer than k.
  bool a_has_bytes = false, b_has_bytes = false;
  Operand scales;
  FactorGrid grid;        // What the other factor stands for, if one has bytes.
  Windows windows;        // If `second` is an image.
  bool by_pixel = false;  // Whether k counts the channels of a pixel first, not those of a window.
  bool has_bias = false, bias_is_by_row = false;
  Operand bias;
  Epilogue epilogue;
};

void multiply(Call& call, const Product& product);

}  // namespace taper::vulkan
