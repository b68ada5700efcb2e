// Rows of floats, each made to have the mean 0 and the mean square 1: what layer, group and
// root-mean-square norm stand on.

#pragma once

#include <cstdint>

namespace taper::optimized {

// Rows of `width` elements, one after the other; `out` may be `in`. Weight and bias may be null;
// each entry holds for `repeat` elements in a row, and row r begins with entry
// (r * row_step) % entries.
struct NormRows {
  const float* in = nullptr;
  float* out = nullptr;
  // What each row had, and was multiplied with; may be null.
  float* mean = nullptr;
  float* rstd = nullptr;
  int64_t count = 0;
  int64_t width = 0;
  double eps = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  int64_t entries = 1;
  int64_t row_step = 0;
  int64_t repeat = 1;
  bool is_centred = true;  // Else the mean stays and counts as 0.
};

// Rows [first, last). REQUIRES: has_vectors() (kernels_optimized/gemm.h). Threads: touches only
// what `rows` names of these.
void normalise(const NormRows& rows, int64_t first, int64_t last);

}  // namespace taper::optimized
